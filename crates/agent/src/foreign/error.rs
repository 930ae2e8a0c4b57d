//! The reasons for which a tool of another server is not called.

use std::error::Error;

use metier_approval::TooLong;
use thiserror::Error;

use super::gate::ForeignPermit;
use crate::causes::with_causes;
use crate::host::{ApproverError, DENIED};
use crate::stop::TurnStopped;

/// The reason for which a server does not say what a tool is. Its text has its causes.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ToolDefinitionError {
    /// There is no such server among those that are used.
    #[error("the server `{server}` is not used")]
    UnknownServer {
        /// The name that was asked for.
        server: String,
    },
    /// The server has no such tool, or it is hidden.
    #[error("the server `{server}` has no tool `{tool}`")]
    UnknownTool {
        /// The server.
        server: String,
        /// The tool that was asked for.
        tool: String,
    },
    /// The server cannot be asked.
    #[error("{}", with_causes(&**.0))]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

impl ToolDefinitionError {
    /// The error of an implementation, in words for a person.
    pub fn new(source: impl Error + Send + Sync + 'static) -> Self {
        Self::Failed(Box::new(source))
    }
}

/// The reason for which a tool of another server is not called.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ForeignRefusal {
    /// The policy does not allow it.
    #[error("this was not called: {reason}")]
    Denied {
        /// The reason, as the verdict has it.
        reason: String,
    },
    /// A person said no.
    #[error("{DENIED}")]
    ByUser,
    /// A person would have to decide about it, and its arguments are longer than one can check.
    #[error("this was not called: its arguments: {source}; and {reason}")]
    ArgumentsTooLong {
        /// The bound.
        source: TooLong,
        /// The reason for which a person would have to decide.
        reason: String,
    },
    /// The server describes it differently than when the session began.
    #[error(
        "this was not called: `{server}` describes `{tool}` differently than when this session began; a new session begins with what it says now"
    )]
    Redefined {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// A decision was taken back while the call waited.
    #[error("this was not called: it is not allowed any more: a decision has changed")]
    Changed,
    /// The session knows its server, and the agent does not use that any more.
    #[error("this was not called: the server `{server}` is not used any more")]
    UnusedServer {
        /// The server.
        server: String,
    },
    /// The decisions of people are not known.
    #[error("this was not called: {0}")]
    Approver(#[source] ApproverError),
    /// Its server does not say what it is.
    #[error("this was not called: {0}")]
    Definition(#[source] ToolDefinitionError),
    /// The turn was stopped.
    #[error(transparent)]
    Stopped(#[from] TurnStopped),
}

/// The decision about a call of a tool of another server.
#[derive(Debug)]
pub(crate) enum ForeignAdmission {
    /// It may be made.
    Permitted(Box<ForeignPermit>),
    /// It may not.
    Refused(ForeignRefusal),
}

impl From<Result<ForeignPermit, ForeignRefusal>> for ForeignAdmission {
    fn from(decided: Result<ForeignPermit, ForeignRefusal>) -> Self {
        match decided {
            Ok(permit) => Self::Permitted(Box::new(permit)),
            Err(refusal) => Self::Refused(refusal),
        }
    }
}
