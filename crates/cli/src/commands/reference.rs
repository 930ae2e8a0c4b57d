//! The reference as Markdown: the command line here, the settings and the rules where they are.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory};

use crate::args::{Cli, ReferencePage};
use crate::commands::rules;
use crate::failure::OK;
use crate::output::Output;
use crate::settings;

/// Prints a page.
pub(crate) fn print(page: ReferencePage, output: Output) -> u8 {
    output.print(&match page {
        ReferencePage::Commands => command_line(),
        ReferencePage::Config => settings::page(),
        ReferencePage::Rules => rules::page(),
    });
    OK
}

fn command_line() -> String {
    let mut text = String::from(
        "# Command line\n\nMade by `cargo xtask docs` from the program itself.\n\n\
         Exit codes: 0 is success, 1 says no (an error was found, a thing is not there), \
         2 means that the question was not understood.\n",
    );
    let mut command = Cli::command();
    command.build();
    describe(&command, "metier", &mut text);
    text
}

fn describe(command: &Command, path: &str, text: &mut String) {
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    let _infallible = write!(text, "\n## `{path}`\n\n{about}.\n\n```text\n{usage}\n```\n");
    let arguments: Vec<&Arg> = command
        .get_arguments()
        .filter(|it| !it.is_hide_set() && it.get_id() != "help" && it.get_id() != "version")
        .collect();
    if !arguments.is_empty() {
        text.push_str("\n| argument | meaning |\n|---|---|\n");
        for argument in arguments {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let _infallible =
                writeln!(text, "| `{}` | {}{} |", name_of(argument), help, values_of(argument));
        }
    }
    for inner in command.get_subcommands().filter(|it| !it.is_hide_set() && it.get_name() != "help")
    {
        describe(inner, &format!("{path} {}", inner.get_name()), text);
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
    if names.is_empty() || !is_told { String::new() } else { format!(": {}", names.join(", ")) }
}
