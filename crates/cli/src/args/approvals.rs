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
    /// List what may run on the host, or be called of other servers, without a question, and how often it did
    List {
        /// Only what holds for this agent
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Let a program run on the host, or a tool of another server be called, without a question
    Add(AddArgs),
    /// Take back what was allowed
    Revoke {
        /// What to take back, as `metier approvals list` names it
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Say whether a command might run on the host, and run nothing; the exit code is 0 for yes, 3 if a person
    /// would be asked, 4 for no
    Check(CheckArgs),
}

/// `metier approvals add`.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The program: a name, or a path with `*`, `**` and `?`; or a tool, as `mcp:SERVER/TOOL`
    pub pattern: String,
    /// What its arguments must be: a regular expression for all of them, written as for a shell
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    pub args: Option<String>,
    /// Only in this folder, and below
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
    /// Where it would run; here if nothing is given
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The command, after `--`: one text for a shell, or words
    #[arg(last = true, required = true)]
    pub command: Vec<String>,
    /// Where to look.
    #[command(flatten)]
    pub sources: SourceArgs,
}
