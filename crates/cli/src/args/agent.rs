//! The command line of what asks a model, and of what is left of that.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use metier_app::AgentChoices;
use metier_app::models::OfflineWording;
use metier_config::{AgentToolSet, ExecutorKind, SkillLoadMode, SkillPlacement};

use crate::args::{SourceArgs, word};
use crate::failure::advice;

/// The heading of what most people leave alone.
const DETAILS: &str = "How skills reach the model";

/// `metier run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// What to do, in your own words
    pub task: String,
    /// Files to bring along
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Print events as they happen, one line of JSON each
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
    /// Ask this model: PROVIDER/NAME, or offline
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Go on with this session, or begin one with this id
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Where commands run; on the host you are asked first
    #[arg(long, value_name = "WHERE", value_parser = word::<ExecutorKind>())]
    pub executor: Option<ExecutorKind>,
    /// Which tools the model gets
    #[arg(long, value_name = "SET", help_heading = DETAILS, value_parser = word::<AgentToolSet>())]
    pub tools: Option<AgentToolSet>,
    /// How long a loaded skill stays loaded
    #[arg(long, value_name = "MODE", help_heading = DETAILS, value_parser = word::<SkillLoadMode>())]
    pub load_mode: Option<SkillLoadMode>,
    /// Show all that tools answer
    #[arg(long)]
    pub details: bool,
    /// Do not ask about this: PROGRAM, "PROGRAM REGEX" or mcp:SERVER/TOOL
    #[arg(long, value_name = "PATTERN")]
    pub yes_to: Vec<String>,
    /// Where the text of a loaded skill goes
    #[arg(long, value_name = "PLACE", help_heading = DETAILS, value_parser = word::<SkillPlacement>())]
    pub placement: Option<SkillPlacement>,
    /// Where to look.
    #[command(flatten)]
    pub sources: SourceArgs,
}

impl AgentArgs {
    /// Returns the choices that these arguments make.
    pub(crate) fn choices(&self) -> AgentChoices {
        AgentChoices {
            model: self.model.clone(),
            executor: self.executor,
            tools: self.tools,
            load_mode: self.load_mode,
            placement: self.placement,
            preapproved: self.yes_to.clone(),
            sources: self.sources.selection(),
            offline: offline_wording(),
        }
    }
}

/// Returns the words of the offline planner for a person at a command line.
pub(crate) fn offline_wording() -> OfflineWording {
    let advice = "choose a model with `--model PROVIDER/NAME`".to_owned();
    OfflineWording { advice, skill_advice: advice::words }
}

/// `metier sessions`.
#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: SessionsCommand,
}

/// The commands of `metier sessions`.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions, the one used last first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what was said and done in a session
    Show {
        /// Id of the session
        #[arg(value_name = "ID")]
        session: String,
        /// Show all that tools were asked and answered
        #[arg(long)]
        details: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a session with its workspace and artifacts
    Rm {
        /// Id of the session
        #[arg(value_name = "ID")]
        session: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a whole session as lines of JSON
    Export {
        /// Id of the session
        #[arg(value_name = "ID")]
        session: String,
    },
}

/// `metier usage`.
#[derive(Debug, Args)]
pub(crate) struct UsageArgs {
    /// Count only this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
