//! The reference as Markdown: the command line here, the settings and the rules where they are.

use std::fmt::Write as _;

use clap::{Arg, Command};

use crate::args::{self, Note, ReferencePage};
use crate::commands::rules;
use crate::failure::OK;
use crate::output::Output;

/// Prints a page.
pub(crate) fn print(page: ReferencePage, output: Output) -> u8 {
    output.print(&match page {
        ReferencePage::Commands => command_line(),
        ReferencePage::Config => metier_config::reference_page(),
        ReferencePage::Rules => rules::page(),
    });
    OK
}

fn command_line() -> String {
    let mut text = String::from(
        "# Command line\n\nMade by `cargo xtask docs` from the program itself.\n\n\
         Every command takes the options of `metier` itself.\n",
    );
    let mut command = args::tree();
    command.build();
    describe(&command, "metier", &mut text);
    text
}

fn describe(command: &Command, path: &str, text: &mut String) {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    let _infallible = write!(text, "\n## `{path}`\n\n{about}.\n\n```text\n{usage}\n```\n");
    let is_told = |it: &&Arg| {
        let is_for_all = it.get_help_heading() == Some(args::GLOBAL) && path != "metier";
        !it.is_hide_set() && !is_for_all && it.get_id() != "help" && it.get_id() != "version"
    };
    let arguments: Vec<&Arg> = command.get_arguments().filter(is_told).collect();
    if !arguments.is_empty() {
        text.push_str("\n| argument | meaning |\n|---|---|\n");
        for argument in arguments {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let _infallible =
                writeln!(text, "| `{}` | {}{} |", name_of(argument), help, values_of(argument));
        }
    }
    if let Some(told) = args::told_above(command) {
        let _infallible = write!(text, "\n{told}\n");
    }
    if let Some(note) = args::note(path.strip_prefix("metier").unwrap_or_default().trim_start()) {
        add_note(&note, text);
    }
    if let Some(remark) = args::remark(path.strip_prefix("metier ").unwrap_or_default()) {
        let _infallible = write!(text, "\n{remark}\n");
    }
    for inner in args::groups(command).into_iter().flat_map(|(_, commands)| commands) {
        describe(inner, &format!("{path} {}", inner.get_name()), text);
    }
}

fn add_note(note: &Note, text: &mut String) {
    if !note.examples.is_empty() {
        text.push_str("\n```sh\n");
        for (line, what) in note.examples {
            let what = if what.is_empty() { String::new() } else { format!("  # {what}") };
            let _infallible = writeln!(text, "{line}{what}");
        }
        text.push_str("```\n");
    }
    if !note.codes.is_empty() {
        text.push_str("\n| exit code | meaning |\n|---|---|\n");
        for (code, meaning) in note.codes {
            let _infallible = writeln!(text, "| {code} | {meaning} |");
        }
    }
}

fn name_of(argument: &Arg) -> String {
    let value = argument
        .get_value_names()
        .filter(|_| argument.get_action().takes_values())
        .map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    match (argument.get_long(), value) {
        (Some(long), Some(value)) => format!("--{long} {value}"),
        (Some(long), None) => format!("--{long}"),
        (None, Some(value)) => value,
        (None, None) => argument.get_id().to_string().to_uppercase(),
    }
}

fn values_of(argument: &Arg) -> String {
    let values = argument.get_possible_values();
    let names: Vec<String> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
    let is_told = argument.get_action().takes_values() && !argument.is_hide_possible_values_set();
    let values = if names.is_empty() || !is_told {
        String::new()
    } else {
        format!(": {}", names.join(", "))
    };
    match argument.get_default_values() {
        [default] if argument.get_action().takes_values() => {
            format!("{values} (default `{}`)", default.to_string_lossy())
        }
        _ => values,
    }
}
