//! The command line of what asks a model, and of what is left of that.

use std::path::PathBuf;

use clap::Args;

use crate::args::{ExecutorName, SourceArgs};

/// `metier run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// What to do, in your words
    pub task: String,
    /// Files that belong to it
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The model to ask, as provider/name
    #[arg(long, value_name = "P/N")]
    pub model: Option<String>,
    /// The session to go on with; a new one if none is given
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Print the events of the session as they happen, one line of JSON each
    #[arg(long)]
    pub json: bool,
    /// Who runs commands of skills
    #[arg(long, value_name = "E")]
    pub executor: Option<ExecutorName>,
    /// The tools the model is given
    #[arg(long, value_name = "SET", value_parser = ["full", "knowledge", "single", "files"])]
    pub tools: Option<String>,
    /// How long a loaded skill stays loaded
    #[arg(long, value_name = "MODE", value_parser = ["turn", "once", "session"])]
    pub load_mode: Option<String>,
    /// Where the text of a loaded skill goes
    #[arg(long, value_name = "PLACE", value_parser = ["tool_result", "system"])]
    pub placement: Option<String>,
    /// Where to look.
    #[command(flatten)]
    pub sources: SourceArgs,
}
