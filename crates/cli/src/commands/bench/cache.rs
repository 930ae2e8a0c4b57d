//! `metier bench prompt-cache`: how much of its requests a provider's cache has, by where text of skills is put.

use anstyle::Style;
use metier_agent::LoadMode;
use metier_agent::conversation::Placement;
use metier_agent::measure::{Cost, Meter};
use metier_skill::tokens::ENCODING;
use serde::Serialize;

use super::cases::{self, Case};
use super::laboratory::{Laboratory, Setup};
use super::live::{self, Live, Trial};
use super::newest::{self, Shown};
use super::page::{Bar, Page, Section};
use super::{Report, grouped, number, percent, prepare, share};
use crate::args::BenchArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Align, Column, Table, counted, plain, style, styled, wrapped};

/// The layouts, with what each does.
const SYSTEM: &str = "system";
const NEWEST: &str = "newest_result";
const NEWEST_LOADED: &str = "newest_result_loaded";
pub(super) const OURS: &str = "tool_result";
const LAYOUTS: [(&str, &str); 4] = [
    (SYSTEM, "in the system text, as long as the skill is loaded"),
    (
        NEWEST,
        "at the newest result that names the skill, also of skills no longer loaded (trpc-agent-go)",
    ),
    (NEWEST_LOADED, "the same, only of skills that are loaded"),
    (OURS, "at the result that loaded it, where it stays (metier)"),
];
/// What is counted.
const COUNTED: &str = "Uncached is what stands after the first byte in which a request differs from the one \
    before it, tools, system text and messages in this order; of the first request it is everything. Unseen is \
    what no earlier request of the session began with: all that is uncached at a provider that forgets nothing. The \
    smallest block that a provider keeps, and for how long, is not looked at.";

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub(super) struct CacheReport {
    tokenizer: &'static str,
    cases: Vec<Measured>,
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<Live>,
}

/// A case in every layout.
#[derive(Clone, Debug, Serialize)]
struct Measured {
    name: &'static str,
    title: &'static str,
    skills: Vec<String>,
    turns: usize,
    /// How often our own requests lost text that they had, as the session says.
    breaks: usize,
    /// The layouts that nothing is below.
    lowest: Vec<&'static str>,
    layouts: Vec<InLayout>,
}

/// A case in one layout.
#[derive(Clone, Debug, Serialize)]
struct InLayout {
    layout: &'static str,
    #[serde(flatten)]
    cost: Cost,
    /// Uncached of all tokens.
    share: f64,
    /// Uncached against that of `system`.
    of_system: f64,
}

/// Measures every case in every layout.
pub(super) fn measure(arguments: &BenchArgs, context: &Context) -> Result<CacheReport, Failure> {
    let laboratory = prepare(arguments, context)?;
    let cases = cases::cases(&cases::known(&laboratory, arguments, context)?);
    let measured = cases.iter().map(|case| one(&laboratory, case)).collect::<Result<_, _>>()?;
    let live = arguments.model.as_ref().map(|model| {
        let trials: Vec<Trial<'_>> = cases.iter().flat_map(trials).collect();
        live::perform(&laboratory, model, &trials, Live::progress(context, arguments.json))
    });
    Ok(CacheReport { tokenizer: ENCODING, cases: measured, live: live.transpose()? })
}

fn one(laboratory: &Laboratory, case: &Case) -> Result<Measured, Failure> {
    let rehearse = |placement| laboratory.rehearse(&case.turns, setup(placement));
    let system = rehearse(Placement::System)?;
    let ours = rehearse(Placement::ToolResult)?;
    let newest = |shown| {
        let requests = newest::requests(&system, shown).map_err(|error| Failure::of(&error))?;
        Ok::<_, Failure>(Meter::total(&requests))
    };
    let costs = [
        (SYSTEM, Meter::total(&system.requests)),
        (NEWEST, newest(Shown::Ever)?),
        (NEWEST_LOADED, newest(Shown::Loaded)?),
        (OURS, Meter::total(&ours.requests)),
    ];
    let lowest = costs.iter().map(|(_, cost)| cost.uncached_tokens).min().unwrap_or_default();
    let is_lowest = |(_, cost): &&(&str, Cost)| cost.uncached_tokens == lowest;
    Ok(Measured {
        name: case.name,
        title: case.title,
        skills: case.skills.clone(),
        turns: case.turns.len(),
        breaks: ours.events.iter().filter(|event| event.breaks.is_some()).count(),
        lowest: costs.iter().filter(is_lowest).map(|(layout, _)| *layout).collect(),
        layouts: costs.map(|(layout, cost)| in_layout(layout, cost, &costs[0].1)).into(),
    })
}

fn in_layout(layout: &'static str, cost: Cost, system: &Cost) -> InLayout {
    InLayout {
        layout,
        cost,
        share: share(cost.uncached_tokens, cost.prompt_tokens),
        of_system: share(cost.uncached_tokens, system.uncached_tokens),
    }
}

/// What a real model can be asked: layouts that the agent itself has.
fn trials(case: &Case) -> impl Iterator<Item = Trial<'_>> {
    let layouts = [(SYSTEM, Placement::System), (OURS, Placement::ToolResult)];
    layouts.into_iter().map(|(layout, placement)| Trial {
        case: case.name,
        title: case.title,
        layout,
        turns: &case.turns,
        setup: setup(placement),
    })
}

fn setup(placement: Placement) -> Setup {
    Setup { mode: LoadMode::Turn, placement }
}

impl CacheReport {
    /// In how many cases nothing is below ours, and in how many of them ours is not alone.
    fn verdict(&self) -> String {
        let ours = self.cases.iter().filter(|case| case.lowest.contains(&OURS));
        let alone = ours.clone().filter(|case| case.lowest.len() == 1).count();
        let (ours, all) = (ours.count(), counted(self.cases.len(), "case"));
        let shared = if ours > alone {
            format!(", in {} of them as low as another", ours - alone)
        } else {
            String::new()
        };
        let unseen = self.cases.iter().filter(|case| case.has_fewest_unseen()).count();
        format!(
            "of all layouts {OURS} has the fewest uncached tokens in {ours} of {all}{shared}, and the fewest unseen ones \
             in {unseen}"
        )
    }

    /// What that costs: text that stays makes prompts longer.
    fn price(&self) -> String {
        let times = |case: &Measured| {
            let prompt = |layout| {
                let found = case.layouts.iter().find(|it| it.layout == layout);
                found.map_or(0, |it| it.cost.prompt_tokens)
            };
            share(prompt(OURS), prompt(SYSTEM))
        };
        let most = self.cases.iter().map(|case| (times(case), case.title));
        let most = most.max_by(|one, other| one.0.total_cmp(&other.0));
        let (times, title) = most.unwrap_or_default();
        format!(
            "text that stays makes prompts longer: those of {OURS} have up to {times:.1} times the tokens of {SYSTEM} ({title})"
        )
    }
}

impl Report for CacheReport {
    fn print(&self, context: &Context) {
        let text = |heading, fills| Column { heading, align: Align::Left, fills };
        let numbers =
            ["REQUESTS", "PROMPT", "UNCACHED", "SHARE", "OF SYSTEM", "UNSEEN"].map(number);
        let mut table =
            Table::new(&[&[text("CASE", true), text("LAYOUT", false)], &numbers[..]].concat());
        for case in &self.cases {
            for (at, layout) in case.layouts.iter().enumerate() {
                let title = if at == 0 { case.title.to_owned() } else { String::new() };
                let is_lowest = case.lowest.contains(&layout.layout);
                let uncached = if is_lowest { style::GOOD } else { Style::new() };
                let [requests, prompt, fresh, share, of_system, unseen] = layout.cells();
                table.row(vec![
                    (style::NAME, title),
                    (
                        if layout.layout == OURS { style::HEADING } else { Style::new() },
                        layout.layout.to_owned(),
                    ),
                    (style::DIM, requests),
                    (style::DIM, prompt),
                    (uncached, fresh),
                    (style::DIM, share),
                    (uncached, of_system),
                    (style::DIM, unseen),
                ]);
            }
        }
        let output = context.output;
        output.print(&table.render(output.width()));
        output.say("");
        for case in &self.cases {
            let line = format!("{}: {}", case.title, plain(&case.about()));
            output.say(&styled(style::DIM, line));
        }
        output.say("\nwhere the text of skills is:");
        for (layout, meaning) in LAYOUTS {
            output.say(&styled(style::DIM, format!("{layout:<20}  {meaning}")));
        }
        output.say(&format!("\n{}; tokens counted with {}", self.verdict(), self.tokenizer));
        output.say(&self.price());
        output.say(&styled(style::DIM, format!("\n{}", wrapped(COUNTED, output.width()))));
        if let Some(live) = &self.live {
            live.print(context);
        }
    }

    fn page(&self) -> Page {
        let mut sections: Vec<Section> = self.cases.iter().map(Measured::section).collect();
        sections.extend(self.live.as_ref().map(Section::live));
        let layouts = LAYOUTS.map(|(layout, meaning)| format!("{layout}: {meaning}."));
        let tokenizer = format!("Tokens are counted with {}.", self.tokenizer);
        Page {
            title: "Where the text of skills is, and what a cache has of it".to_owned(),
            lead: format!("{}; {}.", self.verdict(), self.price()),
            sections,
            notes: layouts.into_iter().chain([COUNTED.to_owned(), tokenizer]).collect(),
        }
    }
}

impl Measured {
    fn has_fewest_unseen(&self) -> bool {
        let ours = self.layouts.iter().find(|it| it.layout == OURS);
        let fewest = self.layouts.iter().map(|it| it.cost.unseen_tokens).min();
        ours.map(|it| it.cost.unseen_tokens) == fewest
    }

    /// What took part in it.
    fn about(&self) -> String {
        let skills = self.skills.join(", ");
        match self.breaks {
            0 => skills,
            count => format!("{skills} ({} of {OURS} to make room)", counted(count, "break")),
        }
    }

    fn section(&self) -> Section {
        let bar = |it: &InLayout| Bar {
            label: it.layout.to_owned(),
            value: it.cost.uncached_tokens,
            is_ours: it.layout == OURS,
        };
        let row = |it: &InLayout| [it.layout.to_owned()].into_iter().chain(it.cells()).collect();
        Section {
            heading: self.title.to_owned(),
            note: format!("{}: {}", counted(self.turns, "turn"), self.about()),
            chart: "uncached tokens".to_owned(),
            bars: self.layouts.iter().map(bar).collect(),
            columns: ["layout", "requests", "prompt", "uncached", "share", "of system", "unseen"]
                .map(str::to_owned)
                .into(),
            rows: self.layouts.iter().map(row).collect(),
        }
    }
}

impl InLayout {
    fn cells(&self) -> [String; 6] {
        let Cost { requests, prompt_tokens, uncached_tokens, unseen_tokens } = self.cost;
        let [requests, prompt, uncached, unseen] =
            [requests, prompt_tokens, uncached_tokens, unseen_tokens].map(grouped);
        [requests, prompt, uncached, percent(self.share), percent(self.of_system), unseen]
    }
}
