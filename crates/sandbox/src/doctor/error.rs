//! The errors of trials and of what the system offers.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::spawn::SpawnError;

/// The reason that a trial could not show anything.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrialError {
    /// The program could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The system did not give what the trial needs.
    #[error(transparent)]
    System(#[from] io::Error),
    /// A place that the trial is about cannot be used.
    #[error("`{}`: {source}", path.display())]
    Place {
        /// The place.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The program did not show that it could attack.
    #[error(transparent)]
    Unready(#[from] AttemptFault),
    /// The program attacked, and stopped early for a reason that is not the limit.
    #[error("{count} {what}; {fault}")]
    Early {
        /// How far it came.
        count: u64,
        /// What it did so often.
        what: &'static str,
        /// How it ended.
        fault: AttemptFault,
    },
    /// The user has so many other processes that the limit cannot be judged.
    #[error("{started} processes were started; the user has {others} others")]
    Unjudged {
        /// The processes that were started.
        started: u64,
        /// The others.
        others: u64,
    },
    /// The program wrote nothing.
    #[error("nothing was written")]
    Silent,
    /// The program that is to be disturbed did not start.
    #[error("another program could not be started")]
    NoBystander,
    /// The program that is to be disturbed ended.
    #[error("another program failed")]
    LostBystander,
    /// The program that is to be disturbed has the lowest priority, so that it cannot be lowered.
    #[error("another program has the lowest priority already")]
    LowestPriority,
}

/// The end of a program that did not do its part.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AttemptFault {
    /// It complained: the first line that it wrote to its standard error.
    #[error("{0}")]
    Complaint(String),
    /// It took too long.
    #[error("it took too long")]
    TimedOut,
    /// It ended by itself.
    #[error("it ended with {0}")]
    Ended(i32),
    /// A signal ended it.
    #[error("signal {0} ended it")]
    Signal(i32),
}

/// The reason that the system does not offer something.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OfferError {
    /// No program starts with it.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// There are control groups, and programs cannot be put into them.
    #[error("cannot be joined; memory is measured, processes are limited per user")]
    GroupNotJoined,
    /// There are no control groups, or none can be made.
    #[error("cannot be made; memory is measured, processes are limited per user")]
    NoGroup,
}
