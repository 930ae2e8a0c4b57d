//! The command line of approvals.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::SourceArgs;

/// `metier approvals`.
#[derive(Debug, Args)]
pub(crate) struct ApprovalsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ApprovalsCommand,
}

/// The commands of `metier approvals`.
#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// List what runs without a question, and how often it did
    List {
        /// Only what holds for this agent
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Let a program, or a tool of another server, run without a question
    Add(AddArgs),
    /// Take back what was allowed
    Revoke {
        /// Ids of what to take back, from `metier approvals list`
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Say whether a command would be allowed, and by whom; nothing runs
    Check(CheckArgs),
}

/// `metier approvals add`.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// A program: its name, or a path with *, ** and ?; or mcp:SERVER/TOOL
    pub pattern: String,
    /// Only with arguments that match, as a whole, when written for a shell
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    pub args: Option<String>,
    /// With any arguments, also those that make the program run others
    #[arg(long, conflicts_with = "args")]
    pub any_arguments: bool,
    /// Only in this folder and below
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Only for this agent
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `metier approvals check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Judge it as if it ran in this folder; else here
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The command: one quoted text for a shell, or separate words
    #[arg(last = true, required = true)]
    pub command: Vec<String>,
    /// Where to look.
    #[command(flatten)]
    pub sources: SourceArgs,
}
