//! The reasons for which a call of a tool is answered with an error.
//!
//! Each kind of tool has a type with a variant for everything that a model or a person would do something else about.
//! `Display` is the whole text that the model reads, with the causes that it is told; it becomes an [`Answer`] in one place,
//! which is `From<ToolCallError>`.

mod file_read;
mod run_preparation;
mod skill_use;

use std::io;

use metier_workspace::interactive::InteractiveError;
use thiserror::Error;

pub use file_read::{FileReadError, FileReadFault, UnreadableAdvice};
pub use run_preparation::RunPreparationError;
pub use skill_use::SkillUseError;

use super::Answer;
use crate::foreign::ForeignRefusal;
use crate::host::HostRefusal;
use crate::stop::TurnStopped;

/// The reason for which a call of a tool is answered with an error.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ToolCallError {
    /// The arguments are wrong.
    #[error(transparent)]
    Arguments(#[from] ToolArgumentsError),
    /// A skill cannot be used as it was asked for.
    #[error(transparent)]
    Skill(#[from] SkillUseError),
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileReadError),
    /// A command cannot be run.
    #[error(transparent)]
    Run(#[from] RunPreparationError),
    /// A command may not run on the host.
    #[error(transparent)]
    Host(#[from] HostRefusal),
    /// A tool of another server may not be called.
    #[error(transparent)]
    Foreign(#[from] ForeignRefusal),
    /// A program that was left running cannot be started or talked to.
    #[error(transparent)]
    Program(#[from] InteractiveError),
    /// Several programs were left running, or none, and the call names none.
    #[error("`session_id` is missing; the action `list` shows all")]
    NoProgramNamed,
    /// The session began with a tool that the program no longer has.
    #[error(
        "`{tool}` was not called: this session began with it, and the program does not have it any more; go on without it"
    )]
    Withdrawn {
        /// The tool.
        tool: String,
    },
    /// The system does not give what a command needs to be started.
    #[error("a command cannot be started")]
    NotStarted(#[source] io::Error),
    /// The turn was stopped before the call was made.
    #[error(transparent)]
    Stopped(#[from] TurnStopped),
}

/// The fault of the arguments of a call.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ToolArgumentsError {
    /// They are not JSON: they were cut off, or the model wrote something else.
    #[error("the arguments of {tool} are not JSON: {source}; call it again")]
    NotJson {
        /// The tool.
        tool: String,
        /// The fault of the text.
        source: serde_json::Error,
    },
    /// They are JSON, and not an object.
    #[error("the arguments of {tool} are not an object")]
    NotObject {
        /// The tool.
        tool: String,
    },
    /// One of them is missing, unknown or of the wrong type.
    #[error("the arguments of {tool} are wrong{}: {source}", at(path))]
    Mismatch {
        /// The tool.
        tool: String,
        /// The path to the fault, such as `inputs[0].from`; `.` for the whole.
        path: String,
        /// The fault.
        source: serde_json::Error,
    },
    /// A field is missing that the tool knows by two names.
    #[error("the arguments of {tool} are wrong: missing field `{field}`")]
    Missing {
        /// The tool.
        tool: String,
        /// The field, as this tool has it.
        field: &'static str,
    },
}

/// The place of a fault, unless it is the whole.
fn at(path: &str) -> String {
    if path == "." { String::new() } else { format!(" at `{path}`") }
}

impl From<ToolCallError> for Answer {
    fn from(error: ToolCallError) -> Self {
        Self::error(error.to_string())
    }
}
