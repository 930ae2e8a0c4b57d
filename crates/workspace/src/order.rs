//! What is said about a run before it is made: the order, what holds for it, and why it may not take place.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use metier_sandbox::Limits;
use thiserror::Error;

use crate::artifact::ArtifactError;
use crate::collect::PatternError;
use crate::environment::VariableError;
use crate::executor::{ExecuteError, Network};
use crate::grant::{Asked, BeyondError};
use crate::input::InputError;
use crate::layout::{Workspace, WorkspaceKey};
use crate::manner::Manner;
use crate::path::PathError;
use crate::request::RunRequest;
use crate::stage::{StageError, Tree};

/// A run to be made.
#[derive(Clone, Debug)]
pub struct RunOrder {
    /// Whose workspace it is made in.
    pub key: WorkspaceKey,
    /// What is asked for.
    pub request: RunRequest,
    /// The skills it may see, the one it is of among them.
    pub trees: Vec<Tree>,
    /// What holds for it.
    pub settings: RunSettings,
    /// How its command is run.
    pub manner: Manner,
    /// Which skill of its name it is of. Another one of the name finds nothing that this one left in its home, its
    /// `.venv` or its private workspace; without an identity the name is enough.
    pub identity: Option<String>,
    /// A folder of this machine where it starts, instead of one in the workspace; for the executor
    /// `host`. Nothing is collected there, and all else is as in every run.
    pub outside: Option<PathBuf>,
}

impl RunOrder {
    /// An order with the usual settings, whose command a shell reads in the workspace.
    pub fn new(key: WorkspaceKey, request: RunRequest, trees: Vec<Tree>) -> Self {
        let settings = RunSettings::default();
        Self { key, request, trees, settings, manner: Manner::Shell, identity: None, outside: None }
    }
}

/// What holds for every run.
#[derive(Clone)]
pub struct RunSettings {
    /// Time a run has when it does not say.
    pub default_timeout: Duration,
    /// The longest time it may say.
    pub max_timeout: Duration,
    /// What it may use.
    pub limits: Limits,
    /// What network it has.
    pub network: Network,
    /// Folders of the host from which inputs may be taken.
    pub host_inputs: Vec<PathBuf>,
    /// Variables that the configuration gives to this skill alone. A run that has any takes place in a workspace
    /// of the skill's own.
    pub variables: Vec<(String, String)>,
    /// Whether the configuration gives the network to this skill alone. Then the same holds, as long as there is any.
    pub has_own_network: bool,
    /// Tools that were installed for this skill. Their programs are looked for last.
    pub tools: Vec<InstalledTools>,
    /// What the skill asks for of all this: it gets no more where it asks for less, and is not
    /// run where it asks for more.
    pub asked: Asked,
}

/// Tools that were installed for a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledTools {
    /// Everything that was installed. The skill's programs may read it, at the place it has.
    pub folder: PathBuf,
    /// The folder inside with the programs that may be called by name.
    pub programs: PathBuf,
}

/// The name in the place of a skill's in requests for commands of no skill in particular, which no skill can have.
///
/// Such commands have a home of their own, no `.venv` and no key; their record names all skills that they saw.
pub const NO_SKILL: &str = ".";

impl RunSettings {
    /// Whether the run receives variables or network access that the configuration gives to its skill alone.
    pub(crate) fn has_keys(&self) -> bool {
        let has_own_network = self.has_own_network && !matches!(self.network, Network::None);
        has_own_network || !self.variables.is_empty()
    }

    /// Where a run takes place: in the workspace that a session's skills share or, if it receives a
    /// key, in one that its skill has for itself, where no other skill can have left anything.
    pub(crate) fn workspace_of(
        &self,
        shared: &Workspace,
        skill: &str,
    ) -> Result<Workspace, RunError> {
        if self.has_keys() {
            shared.private_to(skill).map_err(RunError::Workspace)
        } else {
            Ok(shared.clone())
        }
    }
}

/// Without the values of variables, which may be secret.
impl fmt::Debug for RunSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.variables.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("RunSettings")
            .field("default_timeout", &self.default_timeout)
            .field("max_timeout", &self.max_timeout)
            .field("limits", &self.limits)
            .field("network", &self.network)
            .field("host_inputs", &self.host_inputs)
            .field("variables", &names)
            .field("has_own_network", &self.has_own_network)
            .field("tools", &self.tools)
            .field("asked", &self.asked)
            .finish()
    }
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            default_timeout: Duration::from_mins(5),
            max_timeout: Duration::from_hours(1),
            limits: Limits::default(),
            network: Network::None,
            host_inputs: Vec::new(),
            variables: Vec::new(),
            has_own_network: false,
            tools: Vec::new(),
            asked: Asked::default(),
        }
    }
}

/// The error of a time limit that a run cannot have.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TimeoutError {
    /// It is no time.
    #[error("{0} is not a number of seconds")]
    NotSeconds(f64),
    /// It is longer than runs may take.
    #[error("at most {limit} seconds are allowed")]
    TooLong {
        /// Seconds that a run may take.
        limit: u64,
    },
}

/// Why a run did not take place.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// Another skill of the name has its folders.
    #[error("another skill `{0}` is still running in this session; try again when it has ended")]
    Namesake(String),
    /// There is no such skill.
    #[error("there is no skill `{0}` in this run")]
    UnknownSkill(String),
    /// The command is empty, or cannot be one.
    #[error("`command`: {0}")]
    Command(&'static str),
    /// The time is not one.
    #[error("`timeout`: {0}")]
    Timeout(#[source] TimeoutError),
    /// The directory is not in the workspace.
    #[error("`cwd`: {0}")]
    Directory(#[source] PathError),
    /// A variable may not be set.
    #[error("`env`: {0}")]
    Variable(#[source] VariableError),
    /// A variable of the configuration may not be set.
    #[error("the configuration: {0}")]
    Configured(#[source] VariableError),
    /// A pattern leaves the workspace, or is none.
    #[error("`outputs`: {0}")]
    Pattern(#[source] PatternError),
    /// An input could not be brought in.
    #[error("`inputs`: {0}")]
    Input(#[source] InputError),
    /// No name of an artifact can begin so.
    #[error("`{field}`: {source}")]
    Artifact {
        /// Where the beginning was given.
        field: &'static str,
        /// Why not.
        source: ArtifactError,
    },
    /// The skill asks for more than it may have.
    #[error("the skill may not be run: {0}")]
    Beyond(#[from] BeyondError),
    /// The skill could not be staged.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The command could not be run.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// The workspace cannot be used.
    #[error("the workspace cannot be used: {0}")]
    Workspace(#[source] io::Error),
    /// The owner's ids are none.
    #[error("the session: {0}")]
    Owner(#[source] ArtifactError),
}
