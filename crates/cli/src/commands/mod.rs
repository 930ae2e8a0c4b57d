//! The commands. Each takes what it needs and returns an exit code.

mod approvals;
mod artifacts;
mod bench;
mod chat;
mod config;
mod demo;
mod exec;
mod files;
mod format;
mod mcp;
mod read;
mod reference;
mod rules;
mod run;
mod sessions;
mod setup;
mod shell;
mod shown;
mod skills;
mod trust;
mod turn;
mod upkeep;

pub(crate) use mcp::TokenText;
#[cfg(test)]
pub(crate) use turn::report::hint;

use crate::args::{Command, ConfigCommand, LintFormat, SkillsArgs, SkillsCommand};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::Output;
use metier_app::Environment;

/// Runs a command that needs no settings; `None` if this one does.
pub(crate) fn without_settings(
    command: &Command,
    environment: &Environment,
    output: Output,
) -> Option<Result<u8, Failure>> {
    Some(match command {
        Command::Validate { path } => Ok(format::validate(path, output)),
        Command::ReadProperties { path } => format::read_properties(path, output),
        Command::ToPrompt { paths } => Ok(format::to_prompt(paths, output)),
        Command::Reference { page } => Ok(reference::print(*page, output)),
        Command::Config { command } => {
            return config::without_config(command, environment, output);
        }
        Command::Skills(SkillsArgs {
            command: SkillsCommand::Lint { explain: Some(codes), json, format, .. },
            ..
        }) => rules::print(codes, *json || *format == LintFormat::Json, output),
        Command::Completions { shell } => Ok(shell::completions(*shell, output)),
        Command::Complete(asked) => Ok(shell::complete(asked, environment, output)),
        Command::Man { dir } => shell::manual(dir.as_deref(), output),
        _ => return None,
    })
}

/// Reads the file with tokens that a command accepts, if it names one.
///
/// # Errors
///
/// When it cannot be read, or others can read it.
pub(crate) fn token_text(command: &Command) -> Result<Option<TokenText>, Failure> {
    match command {
        Command::Mcp(arguments) => TokenText::of(arguments),
        _ => Ok(None),
    }
}

/// Runs a command.
pub(crate) fn run(command: Command, context: &Context) -> Result<u8, Failure> {
    match command {
        Command::Skills(arguments) => skills::run(arguments, context),
        Command::Trust(arguments) => trust::run(&arguments, context),
        Command::Run(arguments) => run::run(&arguments, context),
        Command::Chat(arguments) => chat::run(&arguments, context),
        Command::Sessions(arguments) => sessions::run(&arguments, context),
        Command::Usage(arguments) => sessions::usage(&arguments, context),
        Command::Bench(arguments) => bench::run(&arguments, context),
        Command::Demo(arguments) => demo::run(&arguments, context),
        Command::Approvals(arguments) => approvals::run(&arguments, context),
        Command::Exec(arguments) => exec::run(&arguments, context),
        Command::Mcp(arguments) => mcp::run(&arguments, context),
        Command::Read(arguments) => read::run(&arguments, context),
        Command::Artifacts(arguments) => artifacts::run(&arguments, context),
        Command::Gc { json } => upkeep::gc(context, json),
        Command::Doctor { json } => upkeep::examine(context, json),
        Command::Setup(arguments) => setup::run(&arguments, context),
        Command::Config { command: ConfigCommand::Show { json, all } } => {
            Ok(config::show(context, json, all))
        }
        other => without_settings(&other, &context.app.environment, context.output)
            .unwrap_or(Ok(crate::failure::USAGE)),
    }
}
