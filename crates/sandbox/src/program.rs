//! What is run, and within which bounds.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::policy::Policy;

/// A program, what it may reach and what it may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The program.
    pub program: Program,
    /// What it may reach.
    pub policy: Policy,
    /// What it may use.
    pub limits: Limits,
}

/// A program with its arguments and surroundings. Nothing is inherited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The program and its arguments; a name without a slash is looked for in `PATH` of
    /// [`Self::environment`].
    pub arguments: Vec<OsString>,
    /// All of its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it starts, as it sees it.
    pub directory: PathBuf,
}
