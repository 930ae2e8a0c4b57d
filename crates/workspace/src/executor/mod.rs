//! Executors: who runs a command, and how firmly it is held.

mod container;
mod custom;
mod local;

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use metier_sandbox::{Cancel, Console, Ended, Limits, Size, SpawnError, Stream};
use thiserror::Error;
use tracing::Instrument;

use crate::environment::Surroundings;
use crate::layout::Workspace;
use crate::manifest::Manifest;
use crate::manner::Manner;
use crate::path::Inside;
use crate::proxy::{AllowList, ParseError, Refusal};
use crate::request::Confinement;
use crate::spans;

pub use container::{
    ContainerError, ContainerExecutor, ContainerSettings, Preparing, Pull, Teller,
};
pub use custom::{CustomCommand, CustomExecutor, CustomOutcome, CustomRun, CustomWatch};
pub use local::LocalExecutor;

/// Where the workspace is for a program that sees a file system of its own.
pub const VIEW: &str = "/workspace";

/// Who runs commands.
#[derive(Clone, Debug)]
pub enum Executor {
    /// This machine.
    Local(LocalExecutor),
    /// Containers.
    Container(ContainerExecutor),
    /// One that the program brings itself.
    Custom(Arc<dyn CustomExecutor>),
}

impl Executor {
    /// Its name, as settings have it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Local(LocalExecutor::Sandbox(_)) => "sandbox",
            Self::Local(LocalExecutor::Host) => "host",
            Self::Container(_) => "container",
            Self::Custom(custom) => custom.name(),
        }
    }

    /// The same, with somebody who is told what has to be done before a command can run.
    #[must_use]
    pub fn telling(self, teller: Teller) -> Self {
        match self {
            Self::Container(containers) => Self::Container(containers.telling(teller)),
            other => other,
        }
    }

    /// Whether programs see the host's files under their own paths.
    pub fn sees_host(&self) -> bool {
        match self {
            Self::Local(LocalExecutor::Host) => true,
            Self::Local(LocalExecutor::Sandbox(_)) | Self::Container(_) => false,
            Self::Custom(custom) => custom.sees_host(),
        }
    }

    /// The same for commands that no person wrote: where the sandbox cannot confine them, they do not run.
    #[must_use]
    pub fn never_degraded(self) -> Self {
        match self {
            Self::Local(LocalExecutor::Sandbox(Firmness::Anything)) => {
                LocalExecutor::Sandbox(Firmness::Confined).into()
            }
            other => other,
        }
    }

    /// Whether it can keep programs to a list of addresses.
    pub(crate) fn keeps_lists(&self) -> bool {
        match self {
            Self::Local(LocalExecutor::Sandbox(_)) => true,
            Self::Local(LocalExecutor::Host) | Self::Container(_) => false,
            Self::Custom(custom) => custom.keeps_lists(),
        }
    }

    /// Runs a command. It is seen to its end even when nobody waits for that any more.
    pub(crate) async fn execute(
        self,
        execution: Execution,
        mut watch: Watch,
    ) -> Result<Executed, ExecuteError> {
        let span = spans::run(&self, &execution);
        let inside = span.clone();
        let executing = match self {
            Self::Local(local) => tokio::task::spawn_blocking(move || {
                inside.in_scope(|| local.execute(&execution, &mut watch))
            }),
            Self::Container(container) => tokio::spawn(
                async move { container.execute(&execution, &mut watch).await }.instrument(inside),
            ),
            Self::Custom(custom) => {
                tokio::spawn(custom::execute(custom, execution, watch).instrument(inside))
            }
        };
        let executed = executing.await.map_err(|error| std::io::Error::other(error).into());
        let executed = executed.flatten();
        spans::ran(&span, &executed);
        executed
    }
}

impl From<LocalExecutor> for Executor {
    fn from(local: LocalExecutor) -> Self {
        Self::Local(local)
    }
}

impl From<ContainerExecutor> for Executor {
    fn from(container: ContainerExecutor) -> Self {
        Self::Container(container)
    }
}

impl<E: CustomExecutor + 'static> From<Arc<E>> for Executor {
    fn from(custom: Arc<E>) -> Self {
        Self::Custom(custom)
    }
}

/// What network runs have.
#[derive(Clone, Debug, Default)]
pub enum Network {
    /// None.
    #[default]
    None,
    /// What the machine has.
    Host,
    /// Addresses on a list, through a proxy.
    Listed(AllowList),
}

impl Network {
    /// The addresses of a list, each as [`AllowList::parse`] reads it.
    ///
    /// # Errors
    ///
    /// Names the first entry that is none.
    pub fn listed(entries: &[String]) -> Result<Self, ParseError> {
        AllowList::parse(entries).map(Self::Listed)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => formatter.write_str("none"),
            Self::Host => formatter.write_str("host"),
            Self::Listed(list) => list.fmt(formatter),
        }
    }
}

/// A command that is ready to run.
#[derive(Debug)]
pub(crate) struct Execution {
    pub(crate) workspace: Workspace,
    /// Staged trees by the name of their folder in `skills/`, and their digest.
    pub(crate) staged: Vec<StagedTree>,
    /// The text of the command.
    pub(crate) command: String,
    /// How it is run.
    pub(crate) manner: Manner,
    pub(crate) directory: Inside,
    /// Where it starts instead, if it is not run in the workspace.
    pub(crate) outside: Option<PathBuf>,
    pub(crate) surroundings: Surroundings,
    pub(crate) input: Vec<u8>,
    pub(crate) limits: Limits,
    pub(crate) network: Network,
}

/// A staged tree.
#[derive(Clone, Debug)]
pub(crate) struct StagedTree {
    pub(crate) folder: String,
    pub(crate) digest: String,
    pub(crate) content: PathBuf,
    /// What it was compared with, and its copies are.
    pub(crate) manifest: Manifest,
    /// Says what somebody had changed in it.
    pub(crate) warning: Option<String>,
}

/// How a command went.
#[derive(Debug)]
pub(crate) struct Executed {
    pub(crate) ended: Ended,
    pub(crate) timed_out: bool,
    pub(crate) cancelled: bool,
    pub(crate) duration: std::time::Duration,
    /// What was started; nothing if that was a plan.
    pub(crate) arguments: Vec<String>,
    pub(crate) directory: String,
    pub(crate) confinement: Confinement,
    pub(crate) refused_addresses: Vec<Refusal>,
    /// What did not go as it should have.
    pub(crate) warnings: Vec<String>,
}

/// Why a command could not be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// It could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The level that is required is not to be had.
    #[error("{missing}; nothing less than level `full` is allowed")]
    Required {
        /// What is missing.
        missing: SpawnError,
    },
    /// Not even the lesser level is to be had.
    #[error("{missing}; use another executor")]
    NoSandbox {
        /// What is missing.
        missing: SpawnError,
    },
    /// A list of addresses cannot be enforced.
    #[error(
        "a list of addresses needs the sandbox at level `full`; allow no network, or that of the host"
    )]
    NoProxy,
    /// Programs run as somebody else, who does not come as far as their folders.
    #[error(
        "programs of root run as nobody, who cannot pass `{}`; keep workspaces below folders that everybody may pass",
        folder.display()
    )]
    Barred {
        /// The folder that is closed.
        folder: PathBuf,
    },
    /// There is no container to run it in.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// Something on disk is not as it should be.
    #[error("the files of the run cannot be used: {0}")]
    Io(#[from] std::io::Error),
    /// There is no shell.
    #[error("there is neither `bash` nor `sh` to run the command with")]
    NoShell,
    /// It runs commands, but nobody can talk to them.
    #[error(
        "the executor `{0}` has no interactive sessions; use `sandbox` or `host`, or give the command its `stdin`"
    )]
    NotInteractive(&'static str),
    /// What is asked for is only to be had without any confinement.
    #[error(
        "the executor `{0}` runs neither plans nor commands outside of the workspace; use `host`"
    )]
    HostOnly(&'static str),
    /// An executor of the program's own could not run it.
    #[error("the executor `{executor}` could not run the command: {source}")]
    Custom {
        /// Its name.
        executor: &'static str,
        /// Why.
        source: Box<dyn Error + Send + Sync>,
    },
    /// An executor of the program's own did not end in time.
    #[error(
        "the executor `{0}` went on for a minute after the command was to end; nothing is known of it"
    )]
    Overdue(&'static str),
}

/// What the sandbox does when it cannot be as firm as it wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Firmness {
    /// Nothing less than [`Level::Full`](metier_sandbox::Level::Full) will do.
    Full,
    /// Where the system forbids namespaces [`Level::Landlock`](metier_sandbox::Level::Landlock) will do, and nothing less.
    Confined,
    /// Where there is neither, it runs at [`Level::None`](metier_sandbox::Level::None), unconfined. That is for commands of people: those of a model are held by an
    /// executor that is [never degraded](Executor::never_degraded).
    Anything,
}

/// Takes what a command writes, as it comes.
pub type Live = Box<dyn FnMut(Stream, &[u8]) + Send>;

/// Nobody listens while a command runs; its result has what it wrote.
pub fn unheard() -> Live {
    Box::new(|_, _| {})
}

/// What is watched while a command runs.
pub(crate) struct Watch {
    pub(crate) cancel: Cancel,
    pub(crate) output: Live,
    /// How the command is talked to while it runs, if it is. An executor that cannot do that
    /// answers with [`ExecuteError::NotInteractive`] and runs nothing.
    pub(crate) dialogue: Option<Dialogue>,
}

/// How a command is talked to while it runs.
pub(crate) struct Dialogue {
    /// Where its input comes from, instead of [`Execution::input`].
    pub(crate) console: Console,
    /// The size of its terminal; pipes if it has none.
    pub(crate) terminal: Option<Size>,
    /// Is called when the command runs.
    pub(crate) started: Box<dyn FnMut() + Send>,
}
