//! `metier approvals`: what may run on the host without a question.

mod change;
mod check;
mod list;

use metier_approval::{quote, shown_text};

use crate::args::{ApprovalsArgs, ApprovalsCommand};
use crate::context::Context;
use crate::failure::Failure;

/// Does what was asked with approvals.
pub(super) fn run(arguments: &ApprovalsArgs, context: &Context) -> Result<u8, Failure> {
    match &arguments.command {
        ApprovalsCommand::List { agent, json } => list::list(context, agent.as_deref(), *json),
        ApprovalsCommand::Add(wanted) => change::add(context, wanted),
        ApprovalsCommand::Revoke { ids, json } => change::revoke(context, ids, *json),
        ApprovalsCommand::Check(question) => check::check(context, question),
    }
}

/// Words as they are written for a shell.
fn joined(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

/// A command on one line for people: nothing in it is hidden but secrets.
fn safe(command: &str) -> String {
    match shown_text(command) {
        Ok(shown) => shown.lines.join("\\n"),
        Err(error) => error.to_string(),
    }
}
