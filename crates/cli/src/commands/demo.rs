//! `metier demo load-modes`: where the text of skills is in requests, and for how long.
//!
//! Two small skills and a scripted model, three turns, with the real agent in every mode and placement. What is
//! shown is looked up in the requests that the agent made.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use metier_agent::LoadMode;
use metier_agent::conversation::Placement;
use metier_agent::measure::{Cost, Meter};
use metier_model::{Message, Request};
use metier_session::{Content, Event, replay};
use serde::Serialize;
use serde_json::json;

use super::bench::laboratory::{Call, Laboratory, Setup, Take, Turn};
use crate::args::{DemoArgs, DemoCommand, SourceArgs};
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::{Align, Column, Table, style, styled};
use metier_app::Environment;

/// The skills, each with a text that is found again.
const SKILLS: [(&str, &str); 2] =
    [("tea", "Steep it for three minutes."), ("maps", "North is up.")];
const MODES: [(LoadMode, &str, &str); 3] = [
    (LoadMode::Turn, "TURN", "until you say the next thing"),
    (LoadMode::Once, "ONCE", "for the next request only"),
    (LoadMode::Session, "SESSION", "until the session ends"),
];
const PLACEMENTS: [(Placement, &str); 2] = [
    (Placement::ToolResult, "the text stays at the result of the call that loaded it"),
    (Placement::System, "the text is in the system message as long as the skill is loaded"),
];

/// What a mode and a placement send.
#[derive(Debug, Serialize)]
struct Shown {
    mode: LoadMode,
    placement: Placement,
    requests: Vec<Sent>,
    /// The state after each turn.
    state: Vec<BTreeMap<String, String>>,
    cost: Cost,
}

/// A request.
#[derive(Debug, Serialize)]
struct Sent {
    /// The turn, from 1.
    turn: usize,
    /// The request of that turn, from 1.
    request: usize,
    /// The skills whose text it has, and where.
    text: BTreeMap<&'static str, Vec<Spot>>,
}

/// Where a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Spot {
    /// In the system message.
    System,
    /// At the result of a call, from 1.
    Result(usize),
    /// In another message, from 1.
    Message(usize),
}

/// Shows something.
pub(super) fn run(arguments: &DemoArgs, context: &Context) -> Result<u8, Failure> {
    let DemoCommand::LoadModes { json } = arguments.command;
    let working = context.output.working("trying each mode");
    let shown = load_modes(context)?;
    drop(working);
    if json {
        context.output.json(&shown);
    } else {
        print(&shown, context);
    }
    Ok(OK)
}

/// The same conversation in every mode and placement.
fn load_modes(context: &Context) -> Result<Vec<Shown>, Failure> {
    let folder = tempfile::tempdir().map_err(|error| Failure::of_temporary_folder(&error))?;
    let laboratory = laboratory(context, folder.path())?;
    let setups = PLACEMENTS.iter().flat_map(|(placement, _)| {
        MODES.iter().map(|(mode, _, _)| Setup { mode: *mode, placement: *placement })
    });
    let shown = setups.map(|setup| Ok(shown(setup, &laboratory.rehearse(&turns(), setup)?)));
    shown.collect()
}

/// The two skills and no others, with settings that nobody touched.
fn laboratory(context: &Context, folder: &Path) -> Result<Laboratory, Failure> {
    let skills = folder.join("skills");
    for (name, text) in SKILLS {
        let skill = skills.join(name);
        fs::create_dir_all(&skill).map_err(|error| Failure::of_temporary_folder(&error))?;
        let header = format!("---\nname: {name}\ndescription: Knows all about {name}.\n---\n");
        fs::write(skill.join("SKILL.md"), format!("{header}\n{text}\n"))
            .map_err(|error| Failure::of_temporary_folder(&error))?;
    }
    let path = context.app.environment.variables.get("PATH").cloned().unwrap_or_default();
    let variables = [("PATH".to_owned(), path)].into();
    let environment = Environment { variables, ..Environment::new(folder.join("state"), folder) };
    let sources = SourceArgs {
        skills_dirs: vec![skills],
        no_default_sources: true,
        agent: "default".to_owned(),
        ..SourceArgs::default()
    };
    Laboratory::new(&Context::new(environment, context.output)?, &sources)
}

/// A skill, then another, then none.
fn turns() -> [Turn; 3] {
    let load =
        |(name, _): (&str, &str)| Call { tool: "skill_load", arguments: json!({ "skill": name }) };
    let list = |(name, _): (&str, &str)| Call {
        tool: "skill_list_docs",
        arguments: json!({ "skill": name }),
    };
    let turn = |words: &str, calls| Turn { words: words.to_owned(), calls, ..Turn::default() };
    let [tea, maps] = SKILLS;
    [
        turn("How long does tea take?", vec![load(tea), list(tea)]),
        turn("Where is north?", vec![load(maps)]),
        turn("Thank you.", Vec::new()),
    ]
}

fn shown(setup: Setup, take: &Take) -> Shown {
    let mut requests: Vec<Sent> = Vec::new();
    for request in &take.requests {
        let turn = request.messages.iter().filter(|it| matches!(it, Message::User(_))).count();
        let number = requests.iter().filter(|it| it.turn == turn).count() + 1;
        let spots = SKILLS.iter().map(|(name, text)| (*name, spots(request, text)));
        let text = spots.filter(|(_, spots)| !spots.is_empty()).collect();
        requests.push(Sent { turn, request: number, text });
    }
    let cost = Meter::total(&take.requests);
    Shown {
        mode: setup.mode,
        placement: setup.placement,
        requests,
        state: states(&take.events),
        cost,
    }
}

/// Everywhere that a text is in a request.
fn spots(request: &Request, text: &str) -> Vec<Spot> {
    let mut spots = Vec::new();
    if request.system.contains(text) {
        spots.push(Spot::System);
    }
    let mut results = 0;
    for (at, message) in request.messages.iter().enumerate() {
        match message {
            Message::ToolResult { text: result, .. } => {
                results += 1;
                if result.contains(text) {
                    spots.push(Spot::Result(results));
                }
            }
            Message::System(other) if other.contains(text) => spots.push(Spot::Message(at + 1)),
            _ => {}
        }
    }
    spots
}

/// The state at the end of each turn.
fn states(events: &[Event]) -> Vec<BTreeMap<String, String>> {
    let is_user = |event: &Event| matches!(event.content, Content::User(_));
    let mut ends: Vec<usize> =
        events.iter().enumerate().filter(|(_, it)| is_user(it)).map(|(at, _)| at).skip(1).collect();
    ends.push(events.len());
    let state = |end: usize| {
        let state = replay(&events[..end]);
        state.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    ends.into_iter().map(state).collect()
}

fn print(shown: &[Shown], context: &Context) {
    let output = context.output;
    output
        .say("Three turns: the model loads `tea`, then `maps`, then nothing. Where is their text?");
    for (placement, meaning) in PLACEMENTS {
        let of: Vec<&Shown> = shown.iter().filter(|it| it.placement == placement).collect();
        let heading = styled(style::HEADING, format!("{}: {meaning}", word(&placement)));
        output.print(&format!("{heading}\n{}\n", places(&of).render(output.width())));
    }
    let modes: Vec<&Shown> =
        shown.iter().filter(|it| it.placement == Placement::ToolResult).collect();
    output.print(&format!(
        "{}\n{}",
        styled(style::HEADING, "state after each turn"),
        state_lines(&modes)
    ));
    for (mode, _, meaning) in MODES {
        output
            .say(&styled(style::DIM, format!("{:<8} a skill stays loaded {meaning}", word(&mode))));
    }
    let kept = "text that is not loaded any more stays at its result for the cache, up to `skills.retain_tokens`";
    output.say(&styled(style::DIM, kept));
    output.say(&styled(
        style::DIM,
        "uncached: tokens after the first difference from the request before",
    ));
}

/// Where text is, a request a row and a mode a column.
fn places(shown: &[&Shown]) -> Table {
    let column = |heading| Column { heading, align: Align::Left, fills: false };
    let modes = MODES.iter().map(|(_, heading, _)| *heading);
    let columns: Vec<Column> = ["REQUEST"].into_iter().chain(modes).map(column).collect();
    let mut table = Table::new(&columns);
    let mut row = |name: String, cell: &dyn Fn(&Shown) -> String| {
        let mut cells = vec![(style::NAME, name)];
        cells.extend(shown.iter().map(|it| (anstyle::Style::new(), cell(it))));
        table.row(cells);
    };
    for at in 0..shown.first().map_or(0, |it| it.requests.len()) {
        let sent = &shown[0].requests[at];
        let name = format!("turn {}, request {}", sent.turn, sent.request);
        row(name, &|it| it.requests.get(at).map(Sent::places).unwrap_or_default());
    }
    row("tokens".to_owned(), &|it| it.cost.prompt_tokens.to_string());
    row("uncached".to_owned(), &|it| it.cost.uncached_tokens.to_string());
    table
}

fn state_lines(shown: &[&Shown]) -> String {
    let mut text = String::new();
    for turn in 0..turns().len() {
        for it in shown {
            let state = it.state[turn].iter().map(|(name, value)| format!("{name} = {value}"));
            let state: Vec<String> = state.collect();
            let state = if state.is_empty() {
                "–".to_owned()
            } else {
                state.join("\n                  ")
            };
            text.push_str(&format!("turn {}  {:<8}  {state}\n", turn + 1, word(&it.mode)));
        }
    }
    text
}

impl Sent {
    fn places(&self) -> String {
        let place = |spot: &Spot| match spot {
            Spot::System => "system".to_owned(),
            Spot::Result(number) => format!("result {number}"),
            Spot::Message(number) => format!("message {number}"),
        };
        let skill = |(name, spots): (&&str, &Vec<Spot>)| {
            format!("{name}: {}", spots.iter().map(place).collect::<Vec<_>>().join(" and "))
        };
        let text: Vec<String> = self.text.iter().map(skill).collect();
        if text.is_empty() { "–".to_owned() } else { text.join(", ") }
    }
}

/// A choice as settings write it.
fn word(choice: &impl Serialize) -> String {
    let word = serde_json::to_value(choice).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}
