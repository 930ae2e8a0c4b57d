//! What is run, and within which bounds.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::limits::Limits;
use crate::policy::Policy;
use crate::walk::Walk;

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

/// A program, or several, with surroundings. Nothing is inherited.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// What is run.
    pub command: Command,
    /// All of its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it starts, as it sees it.
    pub directory: PathBuf,
}

/// Without the values of variables, which may be secret.
impl fmt::Debug for Program {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Program")
            .field("command", &self.command)
            .field("environment", &names(&self.environment))
            .field("directory", &self.directory)
            .finish()
    }
}

/// What variables are called.
pub(crate) fn names(variables: &[(OsString, OsString)]) -> Vec<&OsStr> {
    variables.iter().map(|(name, _)| name.as_os_str()).collect()
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// A program and its arguments; a name without a slash is looked for in `PATH` of
    /// [`Program::environment`].
    Arguments(Vec<OsString>),
    /// The programs of a plan.
    Plan(Walk),
}

impl Command {
    /// What to call it when it cannot be run.
    pub(crate) fn name(&self) -> OsString {
        match self {
            Self::Arguments(arguments) => arguments.first().cloned().unwrap_or_default(),
            Self::Plan(walk) => {
                let first = walk.steps.first().and_then(|step| step.programs.first());
                first.map(|program| program.executable.clone().into()).unwrap_or_default()
            }
        }
    }
}
