//! The binary `metier`: arguments, then settings, then a command. The only place that prints.

mod args;
mod ask;
mod commands;
mod context;
mod coverage;
mod environment;
mod failure;
mod interrupt;
mod masking;
mod output;
mod prompter;
mod reporter;
mod telemetry;
mod wait;

use std::ffi::OsString;
use std::process::ExitCode;

use metier_app::Environment;

use crate::args::{Cli, Command};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Output, Terminal};
use crate::telemetry::Tracing;

fn main() -> ExitCode {
    metier_sandbox::helper();
    let environment = environment::read();
    let terminal = environment.as_ref().map(Terminal::of).unwrap_or_default();
    let cli = match read(&environment::words(), environment.as_ref().ok(), terminal) {
        Ok(cli) => cli,
        Err(code) => return code.into(),
    };
    let output = Output::new(cli.color, cli.quiet, terminal);
    let environment = match environment {
        Ok(environment) => environment,
        Err(error) => {
            output.failure(&Failure::of_working_directory(&error));
            return failure::FAILED.into();
        }
    };
    if let Some(name) = environment::unreadable() {
        let failure = Failure::usage(format!("the variable {name} is not text in UTF-8"));
        output.failure(&failure.hint("set it to a value in UTF-8, or unset it"));
        return failure::USAGE.into();
    }
    let settings = environment.settings_file();
    let tracing = Tracing::begin(&cli.command, &environment, output);
    let code = match tracing.trace(|| run(cli, environment, output)) {
        Ok(code) => code,
        Err(failure) => {
            let failure = failure.naming(&settings);
            output.failure(&failure);
            failure.code()
        }
    };
    tracing.end();
    code.into()
}

/// Reads the command line; else answers it at once, with help or with what is wrong, and gives the exit code.
fn read(
    words: &[OsString],
    environment: Option<&Environment>,
    terminal: Terminal,
) -> Result<Cli, u8> {
    let color = args::color_of(words);
    let output = Output::new(color, false, terminal);
    if words.len() <= 1 {
        output.print(&args::overview());
        return Err(failure::OK);
    }
    args::parse(words, output.help_look()).map_err(|error| {
        if !error.use_stderr() {
            // Nobody may be looking any more.
            let _closed = error.print();
            return failure::OK;
        }
        // It quotes words that may be keys.
        environment.inspect(|environment| masking::begin_for_usage_error(environment));
        match args::mistake(&error, words) {
            Some(failure) => output.failure(&failure),
            None => output.insist(error.render().ansi().to_string().trim_end()),
        }
        failure::USAGE
    })
}

fn run(cli: Cli, environment: Environment, output: Output) -> Result<u8, Failure> {
    if let Some(code) = commands::without_settings(&cli.command, &environment, output) {
        return code;
    }
    let token_text = commands::token_text(&cli.command)?;
    let context = Context::with_tokens(environment, output, token_text)?;
    // The doctor says it on its page.
    if !matches!(cli.command, Command::Doctor { .. }) {
        context.warn_of_exposed_files();
    }
    commands::run(cli.command, &context)
}
