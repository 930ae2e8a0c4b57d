//! What a person sees while a task is done: a line for each thing that happened, and one at the bottom
//! of the terminal for what is going on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use anstyle::Style;
use metier_agent::agent::Watcher;
use metier_agent::tools::specs::name;
use metier_agent::{Progress as Step, agent};
use metier_session::content::{Call, ToolResponse};
use metier_session::{Content, Event};
use serde_json::Value;

use crate::context::Context;
use crate::output::{Output, Status, plain_block, style, styled};

/// Most characters of a command that a line shows.
const MAX_COMMAND: usize = 200;

/// Shows what happens.
#[derive(Debug)]
pub(super) struct Progress {
    output: Output,
    model: String,
    status: Status,
    /// Calls that have not been answered, by id.
    calls: Mutex<HashMap<String, Call>>,
}

/// A line about something that happened.
struct Line {
    style: Style,
    word: &'static str,
    text: String,
}

impl Progress {
    /// Gets ready for a task to begin.
    pub(super) fn begin(context: &Context, model: &str) -> Self {
        Self {
            output: context.output,
            model: model.to_owned(),
            status: Status::begin(context.output, context.environment.variable("TERM")),
            calls: Mutex::new(HashMap::new()),
        }
    }

    /// What is told of everything that happens.
    pub(super) fn watcher(self: &Arc<Self>) -> Watcher {
        let this = Arc::clone(self);
        Arc::new(move |step: &agent::Progress<'_>| this.show(step))
    }

    /// Leaves the terminal as it was.
    pub(super) fn end(&self) {
        self.status.end();
    }

    fn show(&self, step: &Step<'_>) {
        match step {
            Step::Asking => self.status.set(&format!("asking {}", self.model)),
            Step::Started(call) => {
                self.status.set(&doing(call));
                let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
                calls.insert(call.id.clone(), (*call).clone());
            }
            Step::Retrying(cause) => {
                self.say(&Line { style: style::WARN, word: "again: ", text: (*cause).to_owned() });
            }
            Step::Appended(event) => self.appended(event),
            _ => {}
        }
    }

    fn appended(&self, event: &Event) {
        match &event.content {
            // The last words are the answer.
            Content::Assistant(message) if message.calls().next().is_some() => {
                let words = message.text();
                // With a bar, so that none of its lines looks like one of metier's.
                for line in plain_block(words.trim()).lines() {
                    self.status.above(|| self.output.say(&styled(style::DIM, format!("│ {line}"))));
                }
            }
            Content::ToolResponse(response) => {
                let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(call) = calls.remove(&response.call) {
                    drop(calls);
                    happened(&call, response).iter().for_each(|line| self.say(line));
                }
            }
            Content::Summary(_) => {
                let text = "older turns, to make room".to_owned();
                self.say(&Line { style: style::DIM, word: "summarised ", text });
            }
            _ => {}
        }
    }

    fn say(&self, line: &Line) {
        self.status.above(|| self.output.note(line.style, line.word, &line.text));
    }
}

/// What a call does, while it does.
fn doing(call: &Call) -> String {
    let arguments = arguments_of(call);
    match call.name.as_str() {
        name::LOAD | name::SKILL => format!("loading {}", skill_of(&arguments)),
        name::RUN | name::EXEC => format!("running {}", command_of(&arguments)),
        other => other.to_owned(),
    }
}

/// What came of a call.
fn happened(call: &Call, response: &ToolResponse) -> Vec<Line> {
    let arguments = arguments_of(call);
    let line = |style, word, text: &str| vec![Line { style, word, text: text.to_owned() }];
    if response.is_error {
        let first = response.text.lines().next().unwrap_or_default();
        return line(style::WARN, "refused ", &format!("{}: {first}", call.name));
    }
    let text = |field: &str| arguments.get(field).and_then(Value::as_str).unwrap_or_default();
    match call.name.as_str() {
        name::RUN | name::EXEC => ran(&arguments, &response.structured),
        name::SELECT_DOCS | name::LIST_DOCS => line(style::DIM, "docs ", text("skill")),
        name::SEARCH => line(style::DIM, "searched ", text("query")),
        name::READ_FILE | name::READ => {
            let file = Some(text("file_name")).filter(|it| !it.is_empty());
            line(style::DIM, "read ", file.unwrap_or(text("path")))
        }
        name::LOAD | name::SKILL => line(style::GOOD, "loaded ", &skill_of(&arguments)),
        // A skill that was called as if it were a tool.
        other => line(style::GOOD, "loaded ", other),
    }
}

/// How a command went: one line if well, else also what it complained about.
fn ran(arguments: &Value, result: &Value) -> Vec<Line> {
    let number = |field: &str| result.get(field).and_then(Value::as_i64);
    let is = |field: &str| result.get(field).and_then(Value::as_bool).unwrap_or_default();
    let (style, ending) = match (number("exit_code"), number("signal")) {
        _ if is("timed_out") => (style::BAD, "time was up".to_owned()),
        _ if is("cancelled") => (style::WARN, "cancelled".to_owned()),
        (Some(0), _) => (style::GOOD, "exit 0".to_owned()),
        (Some(code), _) => (style::BAD, format!("exit {code}")),
        (_, Some(signal)) => (style::BAD, format!("ended by signal {signal}")),
        _ => (style::BAD, "ended".to_owned()),
    };
    let milliseconds = number("duration_ms").and_then(|it| u32::try_from(it).ok());
    let seconds = f64::from(milliseconds.unwrap_or_default()) / 1000.0;
    let text = format!("{} · {ending} · {seconds:.2} s", command_of(arguments));
    let mut lines = vec![Line { style, word: "ran ", text }];
    let complaint = result.get("stderr").and_then(Value::as_str).unwrap_or_default();
    if ending != "exit 0"
        && let Some(last) = complaint.lines().rfind(|line| !line.trim().is_empty())
    {
        lines.push(Line { style: style::DIM, word: "  ", text: last.trim().to_owned() });
    }
    lines
}

fn arguments_of(call: &Call) -> Value {
    serde_json::from_str(&call.arguments).unwrap_or_default()
}

fn skill_of(arguments: &Value) -> String {
    let named = arguments.get("skill").or_else(|| arguments.get("skill_name"));
    named.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A command with its skill, on one line and not too long.
fn command_of(arguments: &Value) -> String {
    let command = arguments.get("command").and_then(Value::as_str).unwrap_or_default();
    let mut command = command.trim().split('\n').collect::<Vec<_>>().join(" ⏎ ");
    if let Some((end, _)) = command.char_indices().nth(MAX_COMMAND) {
        command.truncate(end);
        command.push('…');
    }
    match skill_of(arguments) {
        skill if skill.is_empty() => command,
        skill => format!("{skill}: {command}"),
    }
}
