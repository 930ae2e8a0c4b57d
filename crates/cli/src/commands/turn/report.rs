//! What a person sees after a turn: the files, and how it ended.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use metier_agent::{Ending, Outcome, ToolResult, dispatch};
use metier_session::{Content, Event};
use metier_workspace::request::OutputFile;
use serde_json::Value;

use super::calls::details;
use crate::commands::files::{FileRow, table};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{plain, plain_block, style, styled};

/// How and where a task was done.
pub(in crate::commands) struct Done<'a> {
    /// The session.
    pub session: &'a str,
    /// The folder of its workspace, if that is still there.
    pub folder: Option<&'a Path>,
    /// The model that was asked.
    pub model: &'a str,
    /// How long it took.
    pub took: Duration,
}

/// What came of a command that a person gave to a tool.
pub(in crate::commands) struct Commanded {
    /// What it printed, or what the tool said.
    pub text: String,
    /// How it went.
    pub went: Went,
}

/// How a command went that a person gave to a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Went {
    /// It did what it should.
    Well,
    /// It ran and failed.
    Badly,
    /// It did not run.
    Refused,
}

impl Commanded {
    /// Prints what came of it; says whether that is good.
    pub(in crate::commands) fn tell(&self, context: &Context) -> bool {
        match self.went {
            Went::Refused => context.output.failure(&Failure::new(&self.text)),
            Went::Well | Went::Badly => context.output.print(&self.text),
        }
        self.went == Went::Well
    }
}

/// What came of a command, if the turn was one.
pub(in crate::commands) fn commanded(outcome: &Outcome) -> Option<Commanded> {
    let update = outcome.events.iter().find_map(|event| match &event.content {
        Content::StateUpdate(update) if update.cause == dispatch::CAUSE => Some(update),
        _ => None,
    })?;
    let result = ToolResult::of_update(update).unwrap_or_default();
    let failed = match &result {
        ToolResult::Run(output) => output.exit_code != Some(0),
        ToolResult::Program(progress) => progress.exit_code.is_some_and(|code| code != 0),
        _ => false,
    };
    let went = match update.extra.get(dispatch::IS_ERROR) == Some(&Value::Bool(true)) {
        true => Went::Refused,
        false if failed => Went::Badly,
        false => Went::Well,
    };
    let text = details(update.text.as_deref().unwrap_or_default(), &result);
    Some(Commanded { text: plain_block(text.trim_end()), went })
}

/// Says how a task went.
pub(in crate::commands) fn print(context: &Context, done: &Done<'_>, outcome: &Outcome) {
    let out = &context.output;
    files(context, done.folder, outcome);
    let (model, session) = (plain(done.model), plain(done.session));
    let rest = format!("· {:.2} s · {model} · session {session}", done.took.as_secs_f64());
    out.say(&format!("{} {}", ending(outcome), styled(style::DIM, rest)));
    if out.is_quiet() {
        why_without_answer(context, outcome);
    }
    match hint(&outcome.ending, Some(done.session)) {
        Some(hint) if out.is_quiet() => out.row(style::DIM, "hint: ", &hint),
        Some(hint) => out.note(style::DIM, "hint: ", &hint),
        None => {}
    }
}

/// Says why there is no answer, quiet or not. Who stopped a turn knows.
pub(in crate::commands) fn why_without_answer(context: &Context, outcome: &Outcome) {
    if !matches!(outcome.ending, Ending::Answered | Ending::Stopped) {
        context.output.error(&ending(outcome));
    }
}

/// How a turn ended, in a word or a few.
pub(in crate::commands) fn ending(outcome: &Outcome) -> String {
    let (style, ending) = match &outcome.ending {
        Ending::Answered => (style::GOOD, "answered".to_owned()),
        Ending::Stopped => (style::WARN, "stopped".to_owned()),
        ending => (style::BAD, ending.to_string()),
    };
    styled(style, plain(&ending))
}

/// Shows the files that a turn made, and where.
pub(in crate::commands) fn files(context: &Context, folder: Option<&Path>, outcome: &Outcome) {
    let out = &context.output;
    let made = made_in(&outcome.events);
    if !made.is_empty() {
        let rows = made.values().map(|file| FileRow {
            reference: &file.reference,
            size_bytes: file.size_bytes,
            mime_type: &file.mime_type,
        });
        out.say(table(rows).render(out.width()).trim_end());
        if let Some(folder) = folder {
            out.note(style::DIM, "in ", &folder.display().to_string());
        }
    }
}

/// What to do about a turn without an answer: in a conversation, or later in a session.
pub(crate) fn hint(ending: &Ending, session: Option<&str>) -> Option<String> {
    let there = session.map(|id| format!(" with `--session {id}`")).unwrap_or_default();
    let (advice, otherwise) = match ending {
        Ending::Silent | Ending::UnknownTools | Ending::Looping { .. } => {
            ("ask again", ", or name another model with `--model`")
        }
        Ending::Refused | Ending::Filtered => {
            ("put the task in other words", ", or name another model with `--model`")
        }
        Ending::CutOff => ("ask it to go on", ""),
        Ending::OutOfRequests => ("ask it to go on", ", or raise `agent.max_requests`"),
        Ending::OutOfTokens => ("ask it to go on", ", or raise `agent.max_tokens`"),
        _ => return None,
    };
    Some(format!("{advice}{there}{otherwise}"))
}

/// The files that commands made in a turn, as each was last.
fn made_in(events: &[Event]) -> BTreeMap<String, OutputFile> {
    let runs = events.iter().filter_map(|event| match ToolResult::of_event(event)? {
        ToolResult::Run(output) => Some(output.output_files),
        _ => None,
    });
    runs.flatten().map(|file| (file.reference.clone(), file)).collect()
}
