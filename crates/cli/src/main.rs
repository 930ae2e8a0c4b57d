//! The binary `metier`: arguments, then settings, then a command. The only place that prints.

mod agents;
mod approvals;
mod archives;
mod args;
mod ask;
mod bundled;
mod commands;
mod context;
mod environment;
mod failure;
mod grants;
mod library;
mod mcp;
mod models;
mod output;
mod overseer;
mod remote;
mod rewrite;
mod roots;
mod runs;
mod sessions;
mod settings;
mod sheet;
mod telemetry;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::context::Context;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::telemetry::Tracing;

fn main() -> ExitCode {
    metier_sandbox::helper();
    let cli = Cli::parse();
    let environment = match Environment::read() {
        Ok(environment) => environment,
        Err(error) => {
            Output::new(cli.color, cli.quiet, None).failure(&Failure::of(&error));
            return failure::FAILED.into();
        }
    };
    let output = Output::new(cli.color, cli.quiet, environment.variable("COLUMNS"));
    let tracing = Tracing::begin(&cli.command, &environment, output);
    let code = match tracing.trace(|| run(cli, environment, output)) {
        Ok(code) => code,
        Err(failure) => {
            output.failure(&failure);
            failure.code
        }
    };
    tracing.end();
    code.into()
}

fn run(cli: Cli, environment: Environment, output: Output) -> Result<u8, Failure> {
    if let Some(code) = commands::without_settings(&cli.command, output) {
        return code;
    }
    let context = Context::new(environment, output)?;
    commands::run(cli.command, &context)
}
