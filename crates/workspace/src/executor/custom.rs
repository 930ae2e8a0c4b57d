//! Executors that a program brings itself: another machine, a virtual machine, a service, a recorder.
//!
//! Whatever all executors share is done around them: checks, staging, inputs, output streams, collecting, the
//! record. What is left to a [`CustomExecutor`] is to run one command and to say how it went.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use metier_sandbox::{Cancel, Ended, Limit, Limits, Observer, Stream, Walk};
use tokio::time::sleep;

use super::{ExecuteError, Executed, Execution, Live, Network, Watch};
use crate::copies::place_copies;
use crate::layout::{WRITABLE, home, venv};
use crate::manner::Manner;
use crate::request::Confinement;

/// How long an executor has to end a command whose time is up or that was cancelled.
const GRACE: Duration = Duration::from_secs(60);
/// How often it is looked whether a run was cancelled.
const CANCEL_LOOK: Duration = Duration::from_millis(50);

/// Runs commands in a way of its own.
///
/// Programs implement it that want skills to run somewhere else than the executors of this crate do, and give it
/// to a [`Runner`](crate::Runner) as [`Executor::Custom`](super::Executor::Custom). What it must uphold:
///
/// - [`sees_host`](Self::sees_host) tells the truth. An agent lets commands run without asking anybody only
///   where they are confined, and that is what it decides by.
/// - The command is run once, as it is: [`CustomCommand::Arguments`] are never read by a shell, and a
///   [`CustomCommand::Plan`] is walked as it is or refused with [`ExecuteError::HostOnly`].
/// - It starts in the directory and with the environment of the run, and with nothing of the program's own
///   environment. Of the workspace it has the [readable](CustomRun::readable) and [writable](CustomRun::writable)
///   folders, and nothing else.
/// - It has the network of the run and no more, and stays within its limits.
/// - Everything that it started is over when [`execute`](Self::execute) returns, when its time is up, when it is
///   cancelled, and when the future of `execute` is dropped, which happens a minute after either.
/// - Files are in the writable folders of the workspace on this machine when `execute` returns: what an executor
///   ran elsewhere it brings back.
///
/// A command that fails is an outcome, not an error. An error means that it has not run.
///
/// ```
/// use std::path::Path;
/// use std::sync::Arc;
///
/// use async_trait::async_trait;
/// use metier_workspace::executor::{
///     CustomCommand, CustomExecutor, CustomOutcome, CustomRun, CustomWatch, ExecuteError, Executor,
/// };
/// use metier_workspace::request::Confinement;
///
/// /// Runs nothing, and says what it would have run.
/// #[derive(Debug)]
/// struct DryRun;
///
/// #[async_trait]
/// impl CustomExecutor for DryRun {
///     fn name(&self) -> &'static str {
///         "dry-run"
///     }
///
///     fn sees_host(&self) -> bool {
///         false
///     }
///
///     async fn execute(&self, run: CustomRun, mut watch: CustomWatch) -> Result<CustomOutcome, ExecuteError> {
///         let line = match &run.command {
///             CustomCommand::Shell(text) => text.clone(),
///             CustomCommand::Arguments(words) => words.join(" "),
///             _ => return Err(ExecuteError::HostOnly(self.name())),
///         };
///         watch.write_output(format!("would run: {line}\n").as_bytes());
///         Ok(CustomOutcome::exited(0, Confinement::nothing()))
///     }
/// }
///
/// let executor = Executor::from(Arc::new(DryRun));
/// assert!(!executor.sees_host());
/// ```
#[async_trait]
pub trait CustomExecutor: fmt::Debug + Send + Sync {
    /// Its name in records, spans and errors; another than `sandbox`, `host` and `container`.
    fn name(&self) -> &'static str;

    /// Whether its programs see the files of this machine under their own paths, or otherwise have what the user has.
    ///
    /// Where they do, an agent treats it as the executor `host`: each command is judged, a person is asked where
    /// nobody allowed it, and what was allowed comes as a [`CustomCommand::Plan`]. There is no default, because this
    /// is what decides whether anybody is asked.
    fn sees_host(&self) -> bool;

    /// Whether it can keep programs to a list of addresses. Runs with a list are refused where it cannot.
    fn keeps_lists(&self) -> bool {
        false
    }

    /// Where programs find the workspace; the same place as on this machine, unless it says otherwise. It is not
    /// asked where programs see the host.
    fn view(&self, workspace: &Path) -> PathBuf {
        workspace.to_owned()
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    ///
    /// When it could not be run, as [`ExecuteError::Custom`] if nothing else fits.
    async fn execute(
        &self,
        run: CustomRun,
        watch: CustomWatch,
    ) -> Result<CustomOutcome, ExecuteError>;
}

/// A command for an executor of a program's own.
#[derive(Clone)]
#[non_exhaustive]
pub struct CustomRun {
    /// The skill that it is of.
    pub skill: String,
    /// What to run.
    pub command: CustomCommand,
    /// The workspace of the run on this machine; one that the skill has for itself if the run receives a key. The skills of the run are in its folder `skills`, as copies.
    pub workspace: PathBuf,
    /// Where the command finds it, as [`CustomExecutor::view`] says.
    pub view: PathBuf,
    /// Folders that the command may read, from the workspace: the skills of the run.
    pub readable: Vec<PathBuf>,
    /// Folders that it may also write to, from the workspace.
    pub writable: Vec<PathBuf>,
    /// Where it starts, as it sees that.
    pub directory: PathBuf,
    /// All of its variables. Some may be secrets.
    pub environment: Vec<(String, String)>,
    /// What it reads.
    pub input: Vec<u8>,
    /// What it may use. The time is all the time that it has.
    pub limits: Limits,
    /// What it may reach.
    pub network: Network,
}

impl CustomRun {
    /// What the run is to have: its folders as the command sees them, and its network. An executor that keeps to it can
    /// give it back as it is; one that gives more or less, or cannot promise something, changes that.
    pub fn confinement(&self) -> Confinement {
        let seen = |folders: &[PathBuf]| {
            folders.iter().map(|folder| self.view.join(folder).display().to_string()).collect()
        };
        Confinement {
            readable: seen(&self.readable),
            writable: seen(&self.writable),
            network: self.network.to_string(),
            ..Confinement::nothing()
        }
    }
}

impl fmt::Debug for CustomRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.environment.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("CustomRun")
            .field("skill", &self.skill)
            .field("command", &self.command)
            .field("workspace", &self.workspace)
            .field("directory", &self.directory)
            .field("environment", &names)
            .finish_non_exhaustive()
    }
}

/// What an executor is to run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CustomCommand {
    /// Text for a shell.
    Shell(String),
    /// One program and its arguments.
    Arguments(Vec<String>),
    /// The programs of a plan that was judged, for executors that see the host. `metier_sandbox` walks it.
    Plan(Walk),
}

/// How a command went.
#[derive(Clone, Debug)]
pub struct CustomOutcome {
    /// How it ended.
    pub ended: Ended,
    /// Whether its time was up.
    pub timed_out: bool,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// What it could do. Who ran it is filled in.
    pub confinement: Confinement,
    /// What a reader of the result should know.
    pub warnings: Vec<String>,
}

impl CustomOutcome {
    /// A command that ended by itself, with an exit code. [`CustomRun::confinement`] says what it could do, and
    /// [`Confinement::nothing`] that it did nothing at all.
    pub fn exited(code: i32, confinement: Confinement) -> Self {
        let (limits, refused) = (Vec::new(), Vec::new());
        let ended = Ended { code: Some(code), signal: None, limits, refused, changed: None };
        Self { ended, timed_out: false, cancelled: false, confinement, warnings: Vec::new() }
    }
}

/// What an executor tells and heeds while a command runs.
pub struct CustomWatch {
    cancel: Cancel,
    output: Live,
}

impl CustomWatch {
    /// Takes what the command wrote to its standard output.
    pub fn write_output(&mut self, bytes: &[u8]) {
        (self.output)(Stream::Output, bytes);
    }

    /// Takes what the command wrote to its standard error.
    pub fn write_error(&mut self, bytes: &[u8]) {
        (self.output)(Stream::Error, bytes);
    }

    /// What tells when the command is to be ended.
    pub fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }
}

impl fmt::Debug for CustomWatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CustomWatch").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

/// For executors that run programs with `metier_sandbox`.
impl Observer for CustomWatch {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        (self.output)(stream, bytes);
    }
}

/// Has a program's own executor run a command.
pub(super) async fn execute(
    executor: Arc<dyn CustomExecutor>,
    execution: Execution,
    watch: Watch,
) -> Result<Executed, ExecuteError> {
    let name = executor.name();
    let Watch { cancel, output, dialogue } = watch;
    if dialogue.is_some() {
        return Err(ExecuteError::NotInteractive(name));
    }
    if matches!(execution.network, Network::Listed(..)) && !executor.keeps_lists() {
        return Err(ExecuteError::NoProxy);
    }
    let mut warnings = place(&execution).await?;
    let limit = execution.limits.wall;
    let run = custom_run(&*executor, &execution);
    let directory = run.directory.display().to_string();
    // What it was given. What it starts to run a shell command is its own affair.
    let arguments = match &run.command {
        CustomCommand::Shell(text) => vec![text.clone()],
        CustomCommand::Arguments(words) => words.clone(),
        CustomCommand::Plan(_) => Vec::new(),
    };
    let watch = CustomWatch { cancel: cancel.clone(), output };
    let began = Instant::now();
    let mut outcome = tokio::select! {
        outcome = executor.execute(run, watch) => outcome?,
        () = overdue(&cancel, limit) => return Err(ExecuteError::Overdue(name)),
    };
    if outcome.timed_out && !outcome.ended.limits.contains(&Limit::Wall) {
        outcome.ended.limits.push(Limit::Wall);
    }
    warnings.append(&mut outcome.warnings);
    Ok(Executed {
        ended: outcome.ended,
        timed_out: outcome.timed_out,
        cancelled: outcome.cancelled,
        duration: began.elapsed(),
        arguments,
        directory,
        confinement: Confinement { executor: name.to_owned(), level: None, ..outcome.confinement },
        refused_addresses: Vec::new(),
        warnings,
    })
}

/// Puts the trees of a run where its executor finds them, and returns warnings.
async fn place(execution: &Execution) -> Result<Vec<String>, ExecuteError> {
    let (workspace, staged) = (execution.workspace.clone(), execution.staged.clone());
    let placing = move || place_copies(&workspace, &staged);
    let placed = tokio::task::spawn_blocking(placing).await.map_err(std::io::Error::other)?;
    Ok(placed?)
}

fn custom_run(executor: &dyn CustomExecutor, execution: &Execution) -> CustomRun {
    let workspace = execution.workspace.root().to_owned();
    let view = if executor.sees_host() { workspace.clone() } else { executor.view(&workspace) };
    let surroundings = &execution.surroundings;
    let (home, venv) = (home(&surroundings.skill), venv(&surroundings.skill));
    let own = [surroundings.run.as_str(), home.as_str(), venv.as_str()];
    let writable = WRITABLE.into_iter().chain(own);
    let inside = || execution.directory.under(&view);
    CustomRun {
        skill: surroundings.skill.clone(),
        command: match &execution.manner {
            Manner::Shell => CustomCommand::Shell(execution.command.clone()),
            Manner::Arguments(words) => CustomCommand::Arguments(words.clone()),
            Manner::Plan(walk) => CustomCommand::Plan(walk.clone()),
        },
        readable: execution.staged.iter().map(|it| Path::new("skills").join(&it.folder)).collect(),
        writable: writable.map(PathBuf::from).collect(),
        directory: execution.outside.clone().unwrap_or_else(inside),
        environment: surroundings.variables(&view, None),
        view,
        input: execution.input.clone(),
        limits: execution.limits,
        network: execution.network.clone(),
        workspace,
    }
}

/// Waits until a command should long be over.
async fn overdue(cancel: &Cancel, limit: Duration) {
    let end = Instant::now() + limit;
    while Instant::now() < end && !cancel.is_cancelled() {
        sleep(CANCEL_LOOK).await;
    }
    sleep(GRACE).await;
}
