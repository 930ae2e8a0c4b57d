//! A command line that cannot be read, in our words: what is wrong with it, and where to look.

use std::error::Error as _;
use std::ffi::OsString;

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::tree;
use crate::failure::Failure;

/// What is wrong with a command line; none if clap had better say it.
pub(crate) fn mistake(error: &Error, words: &[OsString]) -> Option<Failure> {
    let of = |kind: ContextKind| texts(error.get(kind));
    let first = |kind: ContextKind| of(kind).into_iter().next();
    let argument = || first(ContextKind::InvalidArg).map(|it| format!("`{it}`"));
    let mut remedy = None;
    let message = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            remedy = meant(&of(ContextKind::SuggestedSubcommand));
            format!("there is no command `{}`", first(ContextKind::InvalidSubcommand)?)
        }
        ErrorKind::MissingSubcommand => "a command is missing".to_owned(),
        ErrorKind::UnknownArgument => {
            let name = first(ContextKind::InvalidArg)?;
            remedy = meant(&of(ContextKind::SuggestedArg));
            remedy =
                remedy.or_else(|| first(ContextKind::Suggested).map(|it| it.replace('\'', "`")));
            if name.starts_with('-') {
                format!("there is no option `{name}` here")
            } else {
                format!("nothing is known of `{name}` here")
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
        _ => return None,
    };
    let is_command =
        matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::MissingSubcommand);
    let what = if is_command { "lists the commands" } else { "shows what it takes" };
    let page = format!("`{} --help` {what}", command(words));
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

/// The command that is meant, as far as it can be told.
fn command(words: &[OsString]) -> String {
    let mut command = tree();
    let mut path = command.get_name().to_owned();
    for word in words.iter().skip(1).take_while(|it| *it != "--").filter_map(|it| it.to_str()) {
        if let Some(inner) = command.find_subcommand(word).cloned() {
            path.push_str(&format!(" {word}"));
            command = inner;
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = tree().try_get_matches_from(&words).expect_err("it is wrong");
        match mistake(&error, &words) {
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
          `chat --agent` exists; `metier chat --help` shows what it takes
        nothing is known of `ls` here
          `metier approvals check --help` shows what it takes
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
}
