//! The command line of what asks a model, and of what is left of that.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::args::{ExecutorName, SourceArgs};

/// `metier run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// What to do, in your words
    pub task: String,
    /// Files that belong to it
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Print the events of the turn as they happen, one line of JSON each
    #[arg(long)]
    pub json: bool,
    /// Who does it, and how.
    #[command(flatten)]
    pub agent: AgentArgs,
}

/// `metier chat`.
#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// Who answers, and how.
    #[command(flatten)]
    pub agent: AgentArgs,
}

/// Who is asked, in which session, and with what.
#[derive(Debug, Default, Args)]
pub(crate) struct AgentArgs {
    /// The model to ask, as provider/name
    #[arg(long, value_name = "P/N")]
    pub model: Option<String>,
    /// The session to go on with, or the id of a new one; one is made up if none is given
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Who runs commands of the model; on the host each is judged first, and you may be asked
    #[arg(long, value_name = "E")]
    pub executor: Option<ExecutorName>,
    /// The tools the model is given
    #[arg(long, value_name = "SET", value_parser = ["full", "knowledge", "single", "files"])]
    pub tools: Option<String>,
    /// How long a loaded skill stays loaded
    #[arg(long, value_name = "MODE", value_parser = ["turn", "once", "session"])]
    pub load_mode: Option<String>,
    /// Show all that tools answered, not only a line for each call
    #[arg(long)]
    pub details: bool,
    /// A program that may run on the host without asking, or program and regular expression for its arguments;
    /// or a tool of another server, as mcp:SERVER/TOOL
    #[arg(long, value_name = "PATTERN")]
    pub yes_to: Vec<String>,
    /// Where the text of a loaded skill goes
    #[arg(long, value_name = "PLACE", value_parser = ["tool_result", "system"])]
    pub placement: Option<String>,
    /// Where to look.
    #[command(flatten)]
    pub sources: SourceArgs,
}

/// `metier sessions`.
#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: SessionsCommand,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// The commands of `metier sessions`.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions, those that were used last first
    List,
    /// Show what happened in a session
    Show {
        /// The session
        #[arg(value_name = "ID")]
        session: String,
        /// Show all that tools were asked and answered
        #[arg(long)]
        details: bool,
    },
    /// Remove a session with its workspace and artifacts
    Rm {
        /// The session
        #[arg(value_name = "ID")]
        session: String,
    },
    /// Print a session whole, as lines of JSON
    Export {
        /// The session
        #[arg(value_name = "ID")]
        session: String,
    },
}

/// `metier usage`.
#[derive(Debug, Args)]
pub(crate) struct UsageArgs {
    /// Only this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
