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
    /// Write a page with charts to this file too
    #[arg(long, value_name = "FILE", global = true)]
    pub html: Option<PathBuf>,
    /// Do the same with this model too, as provider/name; its provider is paid for it
    #[arg(long, value_name = "P/N", global = true)]
    pub model: Option<String>,
    /// Where to look.
    #[command(flatten)]
    pub sources: SourceArgs,
}

/// The commands of `metier bench`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub(crate) enum BenchCommand {
    /// Measure how much of its requests a provider's cache has, by where the text of skills is put
    PromptCache,
    /// Measure what loading skills when they are needed saves against having all of them in the prompt
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
    /// Show how long loaded skills stay in requests, and where, in each mode; needs no model
    LoadModes {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}
