//! The command line of what measures and what shows.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::SourceArgs;

/// `metier bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// What to measure.
    #[command(subcommand)]
    pub command: BenchCommand,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Also write a page with charts to this file
    #[arg(long, value_name = "FILE", global = true)]
    pub html: Option<PathBuf>,
    /// Also measure with this model (PROVIDER/NAME), which costs money
    #[arg(long, value_name = "MODEL", global = true)]
    pub model: Option<String>,
    /// Where to look.
    #[command(flatten)]
    pub sources: SourceArgs,
}

/// The commands of `metier bench`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum BenchCommand {
    /// Measure how much of each request a provider's cache already has
    PromptCache,
    /// Measure what loading skills on demand saves
    TokenReport,
}

/// `metier demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// What to show.
    #[command(subcommand)]
    pub command: DemoCommand,
}

/// The commands of `metier demo`.
#[derive(Debug, Subcommand)]
pub(crate) enum DemoCommand {
    /// Show where the text of a loaded skill is in requests, and how long
    LoadModes {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
