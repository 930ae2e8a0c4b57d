//! The repository's own tool: `cargo xtask <task>`.
//!
//! It holds what a person or a machine runs *about* the project and what is
//! never shipped: the check of who may use whom ([`arrows`]), the files that
//! are generated from the code ([`docs`], [`record`]), the site they become ([`site`]), what is
//! published ([`dist`]), and the one command that tests everything ([`mod@test`]). What the project itself does is none of its business:
//! it talks to the rest only through `cargo` and the built binary.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer's tool starts programs, reads the environment and prints; it is not shipped"
)]

mod arrows;
mod dist;
mod docs;
mod engines;
mod node;
mod pages;
mod project;
mod provision;
mod record;
mod site;
mod skills;
mod test;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::project::Project;

/// Checks, generated files and the test command of the repository
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Check that the crates depend on each other only as the architecture allows
    Arrows,
    /// Build the program as it is published: an archive, a Debian package, its parts, digests
    Dist(dist::Options),
    /// Write the reference pages in `docs/` from the binary's own words, and build `docs/` as a site
    Docs(docs::Options),
    /// Look at web pages in a browser: accessibility, small windows, no colour, no mouse, paper
    Pages(pages::Options),
    /// Record the session that the README shows, from the program as it is
    Record(record::Options),
    /// Run every check and test, then print what passed, failed and was skipped
    Test(test::Options),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let project = Project::from_environment();
    let done = match arguments.task {
        Task::Arrows => arrows::run(&project).map(|()| ExitCode::SUCCESS),
        Task::Dist(options) => dist::run(&project, &options).map(|()| ExitCode::SUCCESS),
        Task::Docs(options) => docs::run(&project, &options).map(|()| ExitCode::SUCCESS),
        Task::Pages(options) => pages::run(project, &options),
        Task::Record(options) => record::run(&project, &options).map(|()| ExitCode::SUCCESS),
        Task::Test(options) => test::run(project, &options),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
