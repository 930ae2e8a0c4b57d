//! Arguments of `metier mcp`.

use clap::{Args, Subcommand};

use super::{ExecutorName, SourceArgs};

/// `metier mcp`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub command: Option<McpCommand>,
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// What is done beside serving.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// List other servers whose tools and skills are used
    Servers {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// What is served, and how.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where commands run
    #[arg(long, value_name = "NAME")]
    pub executor: Option<ExecutorName>,
    /// The session whose workspace and artifacts are used; else a new one
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    #[command(flatten)]
    pub sources: SourceArgs,
}
