//! `metier bench token-report`: what loading skills when they are needed saves.
//!
//! The same task three times: with skills loaded by the model, with the bodies of all skills in the prompt from the
//! start, and with all their docs as well. A model that has everything need not load anything, so it takes fewer
//! requests; that counts for it.

use anstyle::Style;
use metier_agent::conversation::Placement;
use metier_agent::measure::{Cost, Meter};
use metier_agent::{LoadMode, LoadRequest};
use metier_skill::tokens::ENCODING;
use serde::Serialize;

use super::cases::{self, Known};
use super::laboratory::{Setup, Turn};
use super::live::{self, Live, Trial};
use super::page::{Bar, Page, Section};
use super::{Report, grouped, number, percent, prepare, rounded, share};
use crate::args::BenchArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Align, Column, Table, counted, plain, style, styled};

pub(super) const PROGRESSIVE: &str = "progressive";
const BODIES: &str = "all_bodies";
const EVERYTHING: &str = "all_bodies_and_docs";
/// The task, for programs and for people.
const TASK: (&str, &str) = ("one-task", "one task");

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub(super) struct TokenReport {
    tokenizer: &'static str,
    /// Skills there are.
    skills: usize,
    /// Docs there are, licences apart.
    docs: usize,
    /// Skills that the task needs.
    used: Vec<String>,
    prompts: Vec<Prompt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<Live>,
}

/// The task in one way.
#[derive(Clone, Debug, Serialize)]
struct Prompt {
    prompt: &'static str,
    #[serde(flatten)]
    cost: Cost,
    /// Tokens of the last request.
    last_request_tokens: usize,
    /// What progressive loading saves of the prompt tokens of this one; below zero it takes more.
    saving: f64,
}

/// A way to do the task.
struct Way {
    prompt: &'static str,
    turns: Vec<Turn>,
    setup: Setup,
}

/// Measures the task in every way.
pub(super) fn measure(arguments: &BenchArgs, context: &Context) -> Result<TokenReport, Failure> {
    let laboratory = prepare(arguments, context)?;
    let known = cases::known(&laboratory, arguments, context)?;
    let used = cases::pair(&known).map_or_else(|| vec![&known[0]], Vec::from);
    let ways = ways(&known, &used);
    let mut prompts = Vec::new();
    for way in &ways {
        let take = laboratory.rehearse(&way.turns, way.setup)?;
        let last = Meter::total(take.requests.last()).prompt_tokens;
        prompts.push((way.prompt, Meter::total(&take.requests), last));
    }
    let live = arguments.model.as_ref().map(|model| {
        let trials: Vec<Trial<'_>> = ways.iter().map(trial).collect();
        live::perform(&laboratory, model, &trials, Live::progress(context, arguments.json))
    });
    let progressive = prompts[0].1.prompt_tokens;
    let prompt = |(prompt, cost, last_request_tokens): (_, Cost, _)| {
        let saving = 1.0 - share(progressive, cost.prompt_tokens);
        Prompt { prompt, cost, last_request_tokens, saving: rounded(saving) }
    };
    Ok(TokenReport {
        tokenizer: ENCODING,
        skills: known.len(),
        docs: known.iter().map(|it| it.docs.len()).sum(),
        used: used.iter().map(|it| it.name.clone()).collect(),
        prompts: prompts.into_iter().map(prompt).collect(),
        live: live.transpose()?,
    })
}

fn ways(known: &[Known], used: &[&Known]) -> [Way; 3] {
    let progressive = cases::task(used);
    let all = |include_all_docs| {
        let load = |it: &Known| LoadRequest {
            skill: it.name.clone(),
            include_all_docs,
            ..LoadRequest::default()
        };
        let loads = known.iter().map(load).collect();
        Turn { words: progressive.words.clone(), loads, calls: vec![cases::run(&used[0].name)] }
    };
    let setup = |placement| Setup { mode: LoadMode::Turn, placement };
    [
        Way {
            prompt: PROGRESSIVE,
            turns: vec![progressive.clone()],
            setup: setup(Placement::ToolResult),
        },
        Way { prompt: BODIES, turns: vec![all(false)], setup: setup(Placement::System) },
        Way { prompt: EVERYTHING, turns: vec![all(true)], setup: setup(Placement::System) },
    ]
}

fn trial(way: &Way) -> Trial<'_> {
    let (case, title) = TASK;
    Trial { case, title, layout: way.prompt, turns: &way.turns, setup: way.setup }
}

impl TokenReport {
    fn library(&self) -> String {
        let (skills, docs) = (counted(self.skills, "skill"), counted(self.docs, "doc"));
        format!("{skills} with {docs}; the task needs {}", self.used.join(" and "))
    }

    fn verdict(&self) -> String {
        let against = |prompt: &Prompt, name: &str| match prompt.saving {
            saving if saving < 0.0 => format!("takes {} more tokens than {name}", percent(-saving)),
            saving => format!("saves {} of the tokens of {name}", percent(saving)),
        };
        let [_, bodies, everything] = &self.prompts[..] else { return String::new() };
        let (bodies, everything) =
            (against(bodies, "all bodies"), against(everything, "all bodies and docs"));
        format!("loading skills when they are needed {bodies}, and {everything}")
    }
}

impl Report for TokenReport {
    fn print(&self, context: &Context) {
        let text = Column { heading: "PROMPT", align: Align::Left, fills: false };
        let numbers = ["REQUESTS", "TOKENS", "LAST REQUEST", "SAVED"].map(number);
        let mut table = Table::new(&[&[text], &numbers[..]].concat());
        for prompt in &self.prompts {
            let [requests, tokens, last, saved] = prompt.cells();
            table.row(vec![
                (style::NAME, prompt.prompt.to_owned()),
                (style::DIM, requests),
                (Style::new(), tokens),
                (style::DIM, last),
                (style::GOOD, saved),
            ]);
        }
        let output = context.output;
        output.print(&table.render(output.width()));
        output.say(&styled(style::DIM, format!("\n{}", plain(&self.library()))));
        output.say(&format!("{}; tokens counted with {}", self.verdict(), self.tokenizer));
        if let Some(live) = &self.live {
            live.print(context);
        }
    }

    fn page(&self) -> Page {
        let bar = |it: &Prompt| Bar {
            label: it.prompt.to_owned(),
            value: it.cost.prompt_tokens,
            is_ours: it.prompt == PROGRESSIVE,
        };
        let row = |it: &Prompt| [it.prompt.to_owned()].into_iter().chain(it.cells()).collect();
        let section = Section {
            heading: "One task".to_owned(),
            note: self.library(),
            chart: "prompt tokens of all requests".to_owned(),
            bars: self.prompts.iter().map(bar).collect(),
            columns: ["prompt", "requests", "tokens", "last request", "saved"]
                .map(str::to_owned)
                .into(),
            rows: self.prompts.iter().map(row).collect(),
        };
        Page {
            title: "What loading skills when they are needed saves".to_owned(),
            lead: format!("{}.", self.verdict()),
            sections: [section].into_iter().chain(self.live.as_ref().map(Section::live)).collect(),
            notes: vec![
                "The task is the same. A model that has everything in its prompt loads nothing and takes fewer requests."
                    .to_owned(),
                "Saved is the share of a prompt's tokens that loading on demand does not need.".to_owned(),
                format!("Tokens are counted with {}.", self.tokenizer),
            ],
        }
    }
}

impl Prompt {
    fn cells(&self) -> [String; 4] {
        let saved =
            if self.prompt == PROGRESSIVE { "–".to_owned() } else { percent(self.saving) };
        let [requests, tokens, last] =
            [self.cost.requests, self.cost.prompt_tokens, self.last_request_tokens].map(grouped);
        [requests, tokens, last, saved]
    }
}
