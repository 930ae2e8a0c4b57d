//! The executor itself.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use metier_sandbox::{Access, Outcome, SpawnError};
use rustix::io::Errno;

use super::command::{Command, Place, cancelled};
use super::engine::{Engine, Nature};
use super::error::ContainerError;
use super::hold::{Hold, LENT, give_back, lend, make_lent, tidy};
use super::pull::{Teller, Told};
use super::ready::ready;
use super::recipe::Recipe;
use crate::executor::{ExecuteError, Executed, Execution, Network, VIEW, Watch};
use crate::manner::Manner;
use crate::path::Inside;
use crate::request::Confinement;

/// Bytes of one argument or variable that the kernel takes, its end among them.
const MAX_TEXT: usize = 128 << 10;
/// Bytes of all of them together; a little less than the kernel takes with the usual stack.
const MAX_TEXTS: usize = 2_000_000;

/// Runs commands in containers. Clones share what is known of the engine.
#[derive(Clone, Debug)]
pub struct ContainerExecutor {
    settings: ContainerSettings,
    nature: Arc<OnceLock<Nature>>,
    /// Whether what others left running was looked for.
    pub(super) has_tidied: Arc<AtomicBool>,
    told: Told,
}

/// Which containers commands are run in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerSettings {
    /// The image, such as `debian:stable`. It needs a shell and nothing else.
    pub image: String,
    /// Where the engine listens, as `unix:///…`; without it the usual places are tried.
    pub socket: Option<String>,
    /// Whether a missing image is fetched.
    pub pull: Pull,
}

/// Whether a missing image is fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pull {
    /// It is an error.
    #[default]
    Never,
    /// It is fetched by the engine.
    Missing,
}

impl ContainerExecutor {
    /// Runs commands in containers as the settings say. Nobody is asked before the first run.
    pub fn new(settings: ContainerSettings) -> Self {
        let (nature, has_tidied) = (Arc::default(), Arc::default());
        Self { settings, nature, has_tidied, told: Told::default() }
    }

    /// The same, with somebody who is told what has to be done before a command can run.
    #[must_use]
    pub fn telling(mut self, teller: Teller) -> Self {
        self.told = Told(Some(teller));
        self
    }

    pub(super) async fn engine(&self) -> Result<Engine, ContainerError> {
        Engine::connect(self.settings.socket.as_deref(), &self.nature).await
    }

    /// Runs a command in the container of its workspace.
    pub(crate) async fn execute(
        &self,
        execution: &Execution,
        watch: &mut Watch,
    ) -> Result<Executed, ExecuteError> {
        if watch.dialogue.is_some() {
            return Err(ExecuteError::NotInteractive("container"));
        }
        if matches!(execution.network, Network::Listed(..)) {
            return Err(ExecuteError::NoProxy);
        }
        check_directory(execution)?;
        let workspace = &execution.workspace;
        let ContainerSettings { image: image_name, pull, .. } = &self.settings;
        let found = async {
            let engine = self.engine().await?;
            let (image, ()) = tokio::join!(
                engine.image(image_name, *pull, &self.told),
                self.end_abandoned(&engine, workspace)
            );
            Ok::<_, ContainerError>((engine, image?))
        };
        let (engine, image) = tokio::select! {
            found = found => found?,
            () = cancelled(&watch.cancel) => return Err(ContainerError::Cancelled.into()),
        };
        let mut hold = tokio::select! {
            hold = Hold::take(workspace.root(), execution.limits.wall) => hold?,
            () = cancelled(&watch.cancel) => return Err(ContainerError::Cancelled.into()),
        };
        make_lent(workspace, &Inside::known(LENT))?;
        let recipe = Recipe::new(execution, image_name, &image)?;
        let name = Recipe::name(workspace.root());
        let ready = ready(&engine, &recipe, &image, (&name, hold.last)).await?;
        let arguments = match &execution.manner {
            Manner::Shell => {
                vec![ready.shell.clone(), "-c".to_owned(), execution.command.clone()]
            }
            Manner::Arguments(arguments) => arguments.clone(),
            Manner::Plan(_) => return Err(ExecuteError::HostOnly("container")),
        };
        let directory = execution.directory.under(VIEW.as_ref()).display().to_string();
        let command = Command {
            arguments: arguments.clone(),
            environment: execution.surroundings.variables(VIEW.as_ref(), None),
            directory: directory.clone(),
            input: &execution.input,
            limits: execution.limits,
            writable: recipe.seen(Access::Write).map(|mounted| mounted.source.clone()).collect(),
        };
        check_text(&command)?;
        hold.begin()?;
        tidy(workspace)?;
        lend(workspace, &execution.surroundings.run)?;
        let outcome = Place { engine: &engine, ready: &ready }.run(&command, watch).await;
        let returned = give_back(workspace, &execution.surroundings.run);
        let Outcome { ended, timed_out, cancelled, duration, not_promised } = outcome?;
        returned?;
        hold.end()?;
        Ok(Executed {
            ended,
            timed_out,
            cancelled,
            duration,
            arguments,
            directory,
            confinement: confinement(&recipe, execution, not_promised),
            refused_addresses: Vec::new(),
            warnings: Vec::new(),
        })
    }
}

/// Refuses a directory that is not there, before an engine says so in its own words.
fn check_directory(execution: &Execution) -> Result<(), SpawnError> {
    let place = &execution.directory;
    let run = execution.surroundings.run.as_str();
    let mut names = place.as_str().splitn(3, '/');
    let on_host = match (names.next(), names.next(), names.next()) {
        (Some("skills"), Some(folder), rest) => {
            let staged = execution.staged.iter().find(|tree| tree.folder == folder);
            staged.map(|tree| tree.content.join(rest.unwrap_or_default()))
        }
        (Some("runs"), Some(_), _) if !place.as_str().starts_with(run) => None,
        _ => Some(place.under(execution.workspace.root())),
    };
    if on_host.is_some_and(|folder| folder.is_dir()) {
        return Ok(());
    }
    let path = place.under(VIEW.as_ref()).display().to_string();
    Err(SpawnError::Directory { path, source: io::ErrorKind::NotFound.into() })
}

/// Refuses what the kernel would refuse, before an engine says so in its own words, or leaves it out.
fn check_text(command: &Command<'_>) -> Result<(), SpawnError> {
    let pairs = command.environment.iter().map(|(name, value)| name.len() + 1 + value.len());
    let lengths = || command.arguments.iter().map(String::len).chain(pairs.clone());
    let values = command.environment.iter().map(|(_, value)| value);
    let why = if command.arguments.iter().chain(values).any(|text| text.contains('\0')) {
        io::Error::new(io::ErrorKind::InvalidInput, "a value has a zero byte")
    } else if lengths().any(|length| length >= MAX_TEXT) || lengths().sum::<usize>() > MAX_TEXTS {
        Errno::TOOBIG.into()
    } else {
        return Ok(());
    };
    Err(SpawnError::Program { name: command.arguments[0].clone(), source: why })
}

fn confinement(
    recipe: &Recipe,
    execution: &Execution,
    not_promised: Vec<&'static str>,
) -> Confinement {
    let shown = |access| recipe.seen(access).map(|mounted| mounted.target.clone());
    let run = execution.surroundings.run.under(VIEW.as_ref()).display().to_string();
    let writable = shown(Access::Write).filter(|target| !target.ends_with("/runs"));
    Confinement {
        executor: "container".to_owned(),
        level: None,
        readable: shown(Access::Read).collect(),
        writable: writable.chain([run, "/tmp".to_owned()]).collect(),
        network: match execution.network {
            Network::Host => "host".to_owned(),
            Network::None | Network::Listed(..) => "none".to_owned(),
        },
        not_promised: not_promised.into_iter().map(str::to_owned).collect(),
    }
}
