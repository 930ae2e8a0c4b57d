//! The reference of the command line, the settings and the rules, as Markdown.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory};

use metier_skill::diagnostic::{Code, Level};

use crate::args::{Cli, ReferencePage};
use crate::failure::OK;
use crate::output::Output;
use crate::settings::{KEYS, Kind, Narrowing, variable_name};

/// Prints a page.
pub(crate) fn print(page: ReferencePage, output: Output) -> u8 {
    output.print(&match page {
        ReferencePage::Commands => command_line(),
        ReferencePage::Config => settings(),
        ReferencePage::Rules => rules(),
    });
    OK
}

fn rules() -> String {
    let mut text = String::from(
        "# Rules\n\nMade by `cargo xtask docs` from the program itself.\n\n\
         What `metier skills lint` and `metier skills list` look for. The strict column is the severity under \
         `lint --strict`, the other one everywhere else. A code never changes its meaning.\n\n\
         | code | rule | strict | otherwise |\n|---|---|---|---|\n",
    );
    for code in Code::ALL {
        let (strict, lenient) = (code.severity(Level::Strict), code.severity(Level::Lenient));
        let _infallible = writeln!(text, "| {code} | {} | {strict} | {lenient} |", code.summary());
    }
    text
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

fn settings() -> String {
    let mut text = String::from(
        "# Settings\n\nMade by `cargo xtask docs` from the program itself.\n\n\
         Settings are read from `config.toml` in the state directory (`METIER_HOME`, else `~/.metier`), then \
         from environment variables, and last from `.metier/config.toml` of the project, from the root of the \
         repository down to the working directory. A project can only narrow. So can `/etc/metier/config.toml`, for \
         everybody who uses the machine.\n\n\
         | setting | variable | default | in a project | meaning |\n|---|---|---|---|---|\n",
    );
    for key in KEYS {
        let variable =
            variable_name(key).map_or_else(|| "–".to_owned(), |name| format!("`{name}`"));
        let name = key.name.replace('*', "NAME");
        let _infallible = writeln!(
            text,
            "| `{name}` ({}) | {variable} | `{}` | {} | {} |",
            kind_name(key.kind),
            key.default,
            narrowing_name(key.narrowing),
            key.help
        );
    }
    text.push_str(
        "\nFurther variables: `METIER_HOME` (state directory), `METIER_PROFILE` (workspace of the default agent), \
         `SKILLS_ROOT` (one more of `skills.extra_dirs`), `SKILLS_CACHE_DIR` (where archives are unpacked), \
         `NO_COLOR`, `COLUMNS`.\n",
    );
    text
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Switch => "switch",
        Kind::Count => "number",
        Kind::Text => "text",
        Kind::Secret => "secret",
        Kind::List | Kind::Globs => "list",
        Kind::Words => "word or list",
        Kind::Choice(_) => "word",
    }
}

fn narrowing_name(narrowing: Narrowing) -> &'static str {
    match narrowing {
        Narrowing::Never => "ignored",
        Narrowing::Off => "may switch off",
        Narrowing::Smaller => "may lower",
        Narrowing::Tighter => "may tighten",
        Narrowing::Longer => "may add",
        Narrowing::Also => "must hold too",
    }
}
