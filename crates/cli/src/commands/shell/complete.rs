//! `metier __complete`: what may come next on a command line, for the scripts of `metier completions`.
//!
//! The tree of commands says where the cursor is and gives commands, options and fixed values; names of things that
//! are here are found by [`Known`]. Whatever goes wrong, there is less to offer, and nobody hears of it.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use clap::{Arg, Command, ValueHint};
use clap_complete::engine::{self, ArgValueCompleter, CompletionCandidate};

use super::escape::{self, Line};
use super::names::{Known, Subject};
use crate::args::{self, CompleteArgs, ShellName};
use crate::failure::OK;
use crate::output::{Output, is_plain};
use metier_app::Environment;

/// Stands for the files that a shell knows. No name has this sign.
const FILES: &str = "\tfiles";
/// As much of a description as a list has room for.
const MAX_HELP: usize = 72;
/// More than anybody reads.
const MAX_CANDIDATES: usize = 1000;

/// Prints what may come next, a line each.
pub(in crate::commands) fn complete(
    asked: &CompleteArgs,
    environment: &Environment,
    output: Output,
) -> u8 {
    let line = bash_line(asked);
    let words = match &line {
        Some(line) => line.words.iter().map(OsString::from).collect(),
        None => asked.before.iter().chain([&asked.current]).cloned().collect(),
    };
    let mut text = String::new();
    for Candidate { value, help } in candidates(words, environment, output) {
        let written = match &line {
            _ if value == FILES => Some(value),
            Some(line) => line.replacement(&value, &asked.current.to_string_lossy()),
            None => Some(escape::line(asked.shell, &value, &help)),
        };
        text.extend(written.map(|written| written + "\n"));
    }
    output.print(&text);
    OK
}

/// What may come next.
struct Candidate {
    value: String,
    help: String,
}

fn bash_line(asked: &CompleteArgs) -> Option<Line> {
    let is_bash = asked.shell == ShellName::Bash;
    let line = asked.before.first().filter(|_| is_bash)?;
    Some(Line::read(&line.to_string_lossy()))
}

fn candidates(words: Vec<OsString>, environment: &Environment, output: Output) -> Vec<Candidate> {
    let known = Arc::new(Known::new(environment.clone(), output, words.clone()));
    let mut command = with_names(args::tree(), &[], &known);
    let current = words.last().cloned().unwrap_or_default();
    let last = words.len().saturating_sub(1);
    let found = engine::complete(&mut command, words, last, None).unwrap_or_default();
    let is_option = |it: &CompletionCandidate| it.get_value().as_encoded_bytes().starts_with(b"-");
    // Somebody who begins no option wants none, as long as there is something else.
    let begins_option = current.as_encoded_bytes().starts_with(b"-");
    let wants_options = begins_option || found.iter().all(is_option);
    let found = found.iter().filter(|it| wants_options || !is_option(it));
    let found = found.filter_map(|it| {
        let value = it.get_value().to_str()?;
        if begins_option && value == FILES {
            return None;
        }
        let value = if value.ends_with(FILES) { FILES } else { value };
        let help = it.get_help().map(ToString::to_string).unwrap_or_default();
        let help: String = help.lines().next().unwrap_or_default().chars().take(MAX_HELP).collect();
        let help = help.trim_end().to_owned();
        (value == FILES || is_plain(value)).then(|| Candidate { value: value.to_owned(), help })
    });
    found.take(MAX_CANDIDATES).collect()
}

/// A command whose arguments know the names of things that are here.
fn with_names(command: Command, path: &[&str], known: &Arc<Known>) -> Command {
    let command = command.mut_args(|arg| {
        // What a page of help leaves to another is an option all the same.
        let is_left_out = arg.is_global_set() && arg.is_hide_set();
        let arg = if is_left_out { arg.hide(false) } else { arg };
        match (subject(path, &arg), is_path(&arg)) {
            (Some(subject), _) => {
                let known = Arc::clone(known);
                arg.add(ArgValueCompleter::new(move |current: &OsStr| {
                    named(known.names(subject), current)
                }))
            }
            (None, true) => {
                arg.add(ArgValueCompleter::new(|_: &OsStr| vec![CompletionCandidate::new(FILES)]))
            }
            (None, false) => arg,
        }
    });
    command.mut_subcommands(|inner| {
        let name = inner.get_name().to_owned();
        with_names(inner, &[path, &[name.as_str()]].concat(), known)
    })
}

fn named(names: Vec<(String, String)>, current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let fitting = names.into_iter().filter(|(name, _)| name.starts_with(&*current));
    let candidate =
        |(name, help): (String, String)| CompletionCandidate::new(name).help(Some(help.into()));
    fitting.map(candidate).collect()
}

/// What an argument names.
fn subject(path: &[&str], arg: &Arg) -> Option<Subject> {
    Some(match (path, arg.get_id().as_str()) {
        (["exec"], "skill") | (_, "only") => Subject::Skill,
        (["skills", "info" | "explain" | "docs" | "trust" | "install-deps"], "name") => {
            Subject::Skill
        }
        (["skills", "docs"], "doc") => Subject::Doc,
        (["skills", "lint"], "explain") => Subject::Code,
        (["artifacts", _], "name") => Subject::Artifact,
        (["approvals", "revoke"], "ids") => Subject::Approval,
        (["read"], "reference") => Subject::Reference,
        (["config", ..], "key") => Subject::Setting,
        (_, "session") => Subject::Session,
        (_, "agent") => Subject::Agent,
        _ => return None,
    })
}

fn is_path(arg: &Arg) -> bool {
    let hint = arg.get_value_hint();
    matches!(hint, ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath)
        || arg.get_id() == "inputs"
}
