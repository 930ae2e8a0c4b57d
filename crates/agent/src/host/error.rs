//! The reasons for which a command does not run on the host.

use std::error::Error;

use metier_approval::TooLong;
use metier_session::SessionError;
use metier_workspace::RunError;
use thiserror::Error;

use super::gate::Permit;
use crate::causes::with_causes;
use crate::stop::TurnStopped;

/// The words for a model when a person says no.
pub(crate) const DENIED: &str =
    "the user did not allow this; do not try it in another way, say what you need it for";

/// The reason for which an [`Approver`](super::Approver) gives no answer. Its text has its causes.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ApproverError {
    /// It does not decide about tools of other servers.
    #[error("nobody decides about tools of other servers")]
    NoTools,
    /// Decisions of people cannot be read or kept.
    #[error("{}", with_causes(&**.0))]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

impl ApproverError {
    /// The error of an implementation, in words for a person.
    pub fn new(source: impl Error + Send + Sync + 'static) -> Self {
        Self::Failed(Box::new(source))
    }
}

/// The reason for which a command does not run on the host.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HostRefusal {
    /// The call sets a variable that decides which code programs load.
    #[error("this was not run: `{name}` may not be set: it decides what programs load or start")]
    LoaderVariable {
        /// The variable.
        name: String,
    },
    /// The policy does not allow it.
    #[error("this was not run: {reason}")]
    Denied {
        /// The reason, as the verdict has it.
        reason: String,
    },
    /// A person said no.
    #[error("{DENIED}")]
    ByUser,
    /// A person would have to decide about it, and it is longer than one can check.
    #[error("this was not run: {source}; and {reason}")]
    CommandTooLong {
        /// The bound.
        source: TooLong,
        /// The reason for which a person would have to decide.
        reason: String,
    },
    /// The same of a variable or what the command would read.
    #[error("this was not run: what it is given is more than a person can check; and {reason}")]
    InputTooLong {
        /// The bound.
        source: TooLong,
        /// The reason for which a person would have to decide.
        reason: String,
    },
    /// It is not what was allowed any more.
    #[error(
        "this was not run: what would run is not what was allowed any more: a program, a script, a folder or a decision has changed"
    )]
    Changed,
    /// It needs a shell, and there is none.
    #[error("this was not run: there is no shell to give the command to")]
    NoShell,
    /// The decisions of people are not known.
    #[error("this was not run: {0}")]
    Approver(#[source] ApproverError),
    /// The agent has nothing that decides about commands on the host.
    #[error("no command may run on the host: nobody decides about them")]
    Undecided,
    /// There is no session in which decisions are written down.
    #[error("no command may run on the host: decisions cannot be written down")]
    NoSession,
    /// The session in which decisions are written down cannot be read or written.
    #[error("this was not run: the decision about it cannot be written down: {0}")]
    NotWritten(#[source] SessionError),
    /// The request is wrong.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The turn was stopped.
    #[error(transparent)]
    Stopped(#[from] TurnStopped),
}

/// The decision about a command.
#[derive(Debug)]
pub(crate) enum HostAdmission {
    /// It is confined, so that no decision is needed.
    Confined,
    /// It may run on the host.
    Permitted(Box<Permit>),
    /// It may not.
    Refused(HostRefusal),
}

impl From<Result<Permit, HostRefusal>> for HostAdmission {
    fn from(decided: Result<Permit, HostRefusal>) -> Self {
        match decided {
            Ok(permit) => Self::Permitted(Box::new(permit)),
            Err(refusal) => Self::Refused(refusal),
        }
    }
}
