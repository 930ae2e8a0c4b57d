//! A command line that cannot be read, in our words: what is wrong with it, and where to look.

use std::error::Error as _;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

use super::tree;
use crate::failure::Failure;

/// What is wrong with a command line; none if clap had better say it.
pub(crate) fn mistake(error: &Error, words: &[OsString]) -> Option<Failure> {
    let of = |kind: ContextKind| texts(error.get(kind));
    let first = |kind: ContextKind| of(kind).into_iter().next();
    let argument = || first(ContextKind::InvalidArg).map(|it| format!("`{it}`"));
    let (path, command) = command(words);
    let mut remedy = None;
    let message = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let name = first(ContextKind::InvalidSubcommand)?;
            remedy = meant(&of(ContextKind::SuggestedSubcommand)).or_else(|| task(&name));
            format!("there is no command `{name}`")
        }
        ErrorKind::MissingSubcommand => "a command is missing".to_owned(),
        ErrorKind::UnknownArgument => {
            let name = first(ContextKind::InvalidArg)?;
            remedy = meant(&of(ContextKind::SuggestedArg));
            remedy = remedy.or_else(|| first(ContextKind::Suggested).map(|it| advice(&it)));
            if name.starts_with('-') {
                format!("there is no option `{name}` here")
            } else {
                let takes_command = command.get_positionals().any(Arg::is_last_set);
                let dashes = || format!("put `--` before the command: `{path} … -- {name}`");
                remedy = remedy.or_else(|| takes_command.then(dashes));
                format!("`{name}` is one argument too many")
            }
        }
        ErrorKind::MissingRequiredArgument => {
            remedy = usage(error).map(|usage| format!("write `{usage}`"));
            format!("{} missing", listed(&of(ContextKind::InvalidArg))?)
        }
        ErrorKind::InvalidValue => {
            let values = of(ContextKind::ValidValue);
            let one_of =
                (!values.is_empty()).then(|| format!("it is one of {}", values.join(", ")));
            remedy = meant(&of(ContextKind::SuggestedValue)).or(one_of);
            match first(ContextKind::InvalidValue).filter(|it| !it.is_empty()) {
                Some(value) => format!("`{value}` is no value of {}", argument()?),
                None => format!("{} needs a value", argument()?),
            }
        }
        ErrorKind::ValueValidation => {
            let (value, why) = (first(ContextKind::InvalidValue)?, error.source()?);
            format!("`{value}` is no value of {}: {why}", argument()?)
        }
        ErrorKind::ArgumentConflict => {
            let others: Vec<String> =
                of(ContextKind::PriorArg).iter().map(|it| format!("`{it}`")).collect();
            match argument()? {
                name if others == [name.clone()] => format!("{name} is there twice"),
                name => format!("{name} does not go together with {}", others.join(", ")),
            }
        }
        ErrorKind::TooManyValues => {
            let value = first(ContextKind::InvalidValue)?;
            format!("{} does not take the value `{value}`", argument()?)
        }
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            format!("{} needs another number of values", argument()?)
        }
        ErrorKind::InvalidUtf8 => {
            let bad = words.iter().find(|it| it.to_str().is_none())?.to_string_lossy();
            format!("`{bad}` is not text in UTF-8")
        }
        _ => return None,
    };
    let is_command =
        matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::MissingSubcommand);
    let what = if is_command { "lists the commands" } else { "shows what it takes" };
    let page = format!("`{path} --help` {what}");
    let hint = match remedy {
        Some(question) if question.ends_with('?') => format!("{question} {page}"),
        Some(remedy) => format!("{remedy}; {page}"),
        None => page,
    };
    Some(Failure::usage(message).hint(hint))
}

fn texts(value: Option<&ContextValue>) -> Vec<String> {
    match value {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        Some(ContextValue::StyledStr(text)) => vec![text.to_string()],
        Some(ContextValue::StyledStrs(texts)) => texts.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}

fn meant(names: &[String]) -> Option<String> {
    let names: Vec<String> = names.iter().map(|it| format!("`{it}`")).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}

/// What was meant by several words where a command is expected.
fn task(words: &str) -> Option<String> {
    let is_plain = !words.contains(['"', '\\', '$', '`', '!']);
    let shown = if is_plain { words } else { "TASK" };
    words.contains(' ').then(|| format!("`metier run \"{shown}\"` lets a model do it"))
}

/// What clap advises, in our words.
fn advice(text: &str) -> String {
    match text.strip_suffix("' exists").and_then(|it| it.strip_prefix('\'')) {
        Some(line) => format!("write it after the command: `metier {line}`"),
        None => text.replace('\'', "`"),
    }
}

/// Names with the verb that they take.
fn listed(names: &[String]) -> Option<String> {
    let quoted: Vec<String> = names.iter().map(|it| format!("`{it}`")).collect();
    match &quoted[..] {
        [] => None,
        [name] => Some(format!("{name} is")),
        names => Some(format!("{} are", names.join(" and "))),
    }
}

fn usage(error: &Error) -> Option<String> {
    let usage = texts(error.get(ContextKind::Usage)).into_iter().next()?;
    Some(usage.lines().next()?.strip_prefix("Usage: ")?.to_owned())
}

/// The command that is meant, as far as it can be told, and what it takes.
fn command(words: &[OsString]) -> (String, Command) {
    let mut command = tree();
    let mut path = command.get_name().to_owned();
    for word in words.iter().skip(1).take_while(|it| *it != "--").filter_map(|it| it.to_str()) {
        if let Some(inner) = command.find_subcommand(word).cloned() {
            path.push_str(&format!(" {word}"));
            command = inner;
        }
    }
    (path, command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> String {
        of(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    fn of(words: &[OsString]) -> String {
        let error = tree().try_get_matches_from(words).expect_err("it is wrong");
        match mistake(&error, words) {
            Some(failure) => {
                format!("{failure}\n  {}", failure.remedy().unwrap_or_default())
            }
            None => format!("clap: {:?}", error.kind()),
        }
    }

    #[test]
    fn mistakes_are_told_in_our_words() {
        insta::assert_snapshot!(
            [
                "metier frobnicate",
                "metier skils list",
                "metier skills lst",
                "metier -q",
                "metier skills list --al",
                "metier --agent x chat",
                "metier approvals check ls",
                "metier exec csv-stats ls",
                "metier skills info pdf docx",
                "metier doctor --quiet=yes",
                "metier skills info",
                "metier exec",
                "metier skills lint --format xml",
                "metier skills lint --format",
                "metier mcp install claude",
                "metier exec x --timeout abc -- ls",
                "metier chat --agent Bad",
                "metier trust --list x",
                "metier run a --model b --model c",
                "metier --color sometimes doctor",
            ]
            .map(said)
            .join("\n"),
            @"
        there is no command `frobnicate`
          `metier --help` lists the commands
        there is no command `skils`
          did you mean `skills`? `metier --help` lists the commands
        there is no command `lst`
          did you mean `lint` or `list`? `metier skills --help` lists the commands
        a command is missing
          `metier --help` lists the commands
        there is no option `--al` here
          did you mean `--all`? `metier skills list --help` shows what it takes
        there is no option `--agent` here
          write it after the command: `metier chat --agent`; `metier chat --help` shows what it takes
        `ls` is one argument too many
          put `--` before the command: `metier approvals check … -- ls`; `metier approvals check --help` shows what it takes
        `ls` is one argument too many
          put `--` before the command: `metier exec … -- ls`; `metier exec --help` shows what it takes
        `docx` is one argument too many
          `metier skills info --help` shows what it takes
        `--quiet` does not take the value `yes`
          `metier doctor --help` shows what it takes
        `<NAME>` is missing
          write `metier skills info <NAME>`; `metier skills info --help` shows what it takes
        `<SKILL>` and `<COMMAND>...` are missing
          write `metier exec <SKILL> -- <COMMAND>...`; `metier exec --help` shows what it takes
        `xml` is no value of `--format <FORMAT>`
          it is one of human, json, sarif; `metier skills lint --help` shows what it takes
        `--format <FORMAT>` needs a value
          it is one of human, json, sarif; `metier skills lint --help` shows what it takes
        `claude` is no value of `[CLIENT]`
          did you mean `claude-code`? `metier mcp install --help` shows what it takes
        `abc` is no value of `--timeout <SECONDS>`: write a number of seconds
          `metier exec --help` shows what it takes
        `Bad` is no value of `--agent <ID>`: use lowercase letters, digits and hyphens, and begin with no hyphen
          `metier chat --help` shows what it takes
        `--list` does not go together with `[PATH]`
          `metier trust --help` shows what it takes
        `--model <MODEL>` is there twice
          `metier run --help` shows what it takes
        `sometimes` is no value of `--color <WHEN>`
          it is one of auto, always, never; `metier doctor --help` shows what it takes
        "
        );
    }

    #[test]
    fn a_task_without_a_command_is_taken_for_one() {
        let said = |text: &str| of(&["metier".into(), text.into()]);
        insta::assert_snapshot!(said("draw a chart"), @r#"
        there is no command `draw a chart`
          `metier run "draw a chart"` lets a model do it; `metier --help` lists the commands
        "#);
        insta::assert_snapshot!(said("what is $HOME?"), @r#"
        there is no command `what is $HOME?`
          `metier run "TASK"` lets a model do it; `metier --help` lists the commands
        "#);
    }

    #[test]
    fn an_argument_that_is_not_text_is_named() {
        let name = std::os::unix::ffi::OsStringExt::from_vec(b"pd\xff".to_vec());
        let words = ["metier".into(), "skills".into(), "info".into(), name];
        insta::assert_snapshot!(of(&words), @"
        `pd�` is not text in UTF-8
          `metier skills info --help` shows what it takes
        ");
    }
}
