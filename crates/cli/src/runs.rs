//! What commands that run something need: the runner, sessions, skills as trees.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use metier_config::{ExecutorKind, RequiredLevel, SecretText};
use metier_sandbox::{Limits, is_root_without_mounts};
use metier_skill::header::Gate;
use metier_skill::install::tool_links;
use metier_skill::library::{Entry, Snapshot};
use metier_workspace::artifact::{DirectoryStore, Owner};
use metier_workspace::executor::{
    ContainerExecutor, ContainerSettings, Executor, Firmness, LocalExecutor, Preparing, Pull,
};
use metier_workspace::{InstalledTools, RunSettings, Runner, Tree, WorkspaceKey, Workspaces, way};

use crate::context::Context;
use crate::failure::{Failure, WHICH_SESSIONS};
use crate::grants::{MEBIBYTE, asked_by};
use crate::output::{plain, size};

/// The application and the user of sessions on the command line.
pub(crate) const APP: &str = "metier";
pub(crate) const USER: &str = "local";

/// What removing old workspaces may take after a run.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);
/// The seconds of a day.
const DAY: u64 = 24 * 60 * 60;
/// Where root has what programs must come to that run as somebody else.
const SHARED: &str = "/var/lib/metier";

impl Context {
    /// Where workspaces and staged skills are.
    ///
    /// # Errors
    ///
    /// When the state directory cannot be used.
    pub(crate) fn workspaces(&self) -> Result<Workspaces, Failure> {
        let state = self.environment.state();
        let (usual, content) = (state.join("workspaces"), state.join("content"));
        if let Some(folder) = self.config.workspace.folder.as_deref() {
            let folder = self.environment.expand(folder, &state);
            return Workspaces::open(&folder, &content).map_err(|error| {
                Failure::new(format!("`{}` cannot be used: {error}", folder.display()))
                    .hint("set `workspace.folder` to a folder that you can write to")
            });
        }
        if is_root_without_mounts()
            && way::barred(&usual).is_some()
            && let Ok(workspaces) =
                shared_folder(&usual).and_then(|it| Workspaces::open(&it, &content))
        {
            return Ok(workspaces);
        }
        Workspaces::open(&usual, &content).map_err(|error| self.state_failure(&error))
    }

    /// Where artifacts are.
    ///
    /// # Errors
    ///
    /// When the state directory cannot be used.
    pub(crate) fn artifacts(&self) -> Result<DirectoryStore, Failure> {
        let folder = self.environment.state().join("artifacts");
        DirectoryStore::open(&folder).map_err(Failure::from)
    }

    /// What runs commands.
    ///
    /// # Errors
    ///
    /// When the settings cannot be followed, or the state directory cannot be used.
    pub(crate) fn runner(&self, named: Option<ExecutorKind>) -> Result<Runner, Failure> {
        Ok(Runner {
            workspaces: self.workspaces()?,
            artifacts: Arc::new(self.artifacts()?),
            executor: self.executor(named),
            redactor: self.redactor.clone(),
        })
    }

    /// Who runs commands: whoever was named, else whoever the settings name.
    pub(crate) fn executor(&self, named: Option<ExecutorKind>) -> Executor {
        let exec = &self.config.exec;
        let firmness = match *exec.require {
            Some(RequiredLevel::Full) => Firmness::Full,
            None if *exec.degrade => Firmness::Anything,
            None => Firmness::Confined,
        };
        match named.unwrap_or(*exec.executor) {
            ExecutorKind::Host => LocalExecutor::Host.into(),
            ExecutorKind::Sandbox => LocalExecutor::Sandbox(firmness).into(),
            ExecutorKind::Container => self.containers().into(),
        }
    }

    /// What runs commands in containers.
    pub(crate) fn containers(&self) -> ContainerExecutor {
        let settings = &self.config.exec.container;
        let socket =
            settings.socket.as_deref().or_else(|| self.environment.variable("DOCKER_HOST"));
        ContainerExecutor::new(ContainerSettings {
            image: (*settings.image).clone(),
            socket: socket.map(str::to_owned),
            pull: if *settings.pull { Pull::Missing } else { Pull::Never },
        })
    }

    /// What holds for a run of a skill.
    ///
    /// # Errors
    ///
    /// When the settings cannot be followed.
    pub(crate) fn run_settings(&self, entry: &Entry) -> Result<RunSettings, Failure> {
        let exec = &self.config.exec;
        let max_timeout = Duration::from_secs(*exec.max_timeout);
        let folder = &self.environment.folder;
        Ok(RunSettings {
            default_timeout: Duration::from_secs(*exec.timeout).min(max_timeout),
            max_timeout,
            limits: Limits {
                memory: exec.memory_mb.saturating_mul(MEBIBYTE),
                processes: *exec.processes,
                disk_bytes: exec.disk_mb.saturating_mul(MEBIBYTE),
                ..Limits::default()
            },
            network: self.network(entry)?,
            host_inputs: exec
                .host_inputs
                .iter()
                .map(|text| self.environment.expand(text, folder))
                .collect(),
            variables: self.variables_of(entry),
            has_own_network: self.own_network(entry).is_some(),
            tools: self.installed_tools(entry),
            asked: asked_by(entry)?,
        })
    }

    /// Returns the tools that were installed for a skill.
    fn installed_tools(&self, entry: &Entry) -> Vec<InstalledTools> {
        let folders = entry.tool_folders(&self.tools()).into_iter().filter(|it| it.is_dir());
        folders.map(|folder| InstalledTools { programs: tool_links(&folder), folder }).collect()
    }

    /// Variables that the configuration gives a skill: those of the entry that belongs to it.
    fn variables_of(&self, entry: &Entry) -> Vec<(String, String)> {
        let Gate::Readable(requirements) = &entry.manifest.gate else { return Vec::new() };
        let granted = entry.entry_key.granted();
        let Some(settings) = granted.and_then(|key| self.config.skills.entries.get(key)) else {
            return Vec::new();
        };
        let given = settings.env.iter().map(|(name, value)| (name.to_owned(), value));
        let mut variables: Vec<(String, &SecretText)> = given.collect();
        if let (Some(name), Some(secret)) = (&requirements.primary_env, settings.api_key.as_ref()) {
            variables.retain(|(other, _)| other != name);
            variables.push((name.clone(), secret));
        }
        variables.into_iter().map(|(name, value)| (name, value.expose().to_owned())).collect()
    }

    /// The skills that a run may see.
    ///
    /// # Errors
    ///
    /// When one is not there, may not be used, or cannot be read.
    pub(crate) fn trees(&self, snapshot: &Snapshot, names: &[&str]) -> Result<Vec<Tree>, Failure> {
        let digests = self.digests();
        let trees = names.iter().map(|name| {
            let entry = self.find(snapshot, name)?;
            if !entry.verdict.is_eligible() {
                return Err(Failure::of_unusable(entry));
            }
            self.tree_of(entry, &digests)
        });
        let trees = trees.collect();
        digests.save();
        trees
    }

    /// How long workspaces that nobody uses are kept.
    pub(crate) fn workspace_ttl(&self) -> Duration {
        Duration::from_secs(self.config.workspace.ttl_days.saturating_mul(DAY))
    }

    /// The session that was named, or the one used last.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub(crate) fn session(&self, named: Option<&str>) -> Result<WorkspaceKey, Failure> {
        let workspaces = self.workspaces()?;
        if let Some(session) = named {
            let key = self.workspace_key(session)?;
            // One in the database may have lost its workspace, and is a session all the same.
            return if key.generation > 0 || workspaces.exists(&key) {
                Ok(key)
            } else {
                Err(Failure::new(format!("there is no session `{session}`")).hint(WHICH_SESSIONS))
            };
        }
        workspaces.latest(APP, USER).map_err(|error| self.state_failure(&error))?.ok_or_else(|| {
            Failure::new("there is no session yet").hint("`metier run` and `metier exec` make one")
        })
    }

    /// Why the state directory is of no use.
    pub(crate) fn state_failure(&self, error: &io::Error) -> Failure {
        let state = self.environment.state();
        Failure::new(format!("the state directory `{}` cannot be used: {error}", state.display()))
            .hint("set METIER_HOME to a folder that you can write to")
            .unless_full(error)
    }
}

/// A folder for workspaces that would else be at a place which is closed to their programs.
fn shared_folder(usual: &Path) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o711).create(SHARED)?;
    let name = usual.display().to_string().replace('%', "%25").replace('/', "%2f");
    Ok(Path::new(SHARED).join(name))
}

/// A name for a session that nobody named.
pub(crate) fn new_session() -> String {
    let id = uuid::Uuid::now_v7().simple().to_string();
    format!("s-{}", &id[id.len() - 12..])
}

/// The key of a session of the command line that only `exec` has used.
pub(crate) fn key_of(session: &str) -> WorkspaceKey {
    WorkspaceKey {
        app: APP.to_owned(),
        user: USER.to_owned(),
        session: session.to_owned(),
        generation: 0,
    }
}

/// Whose artifacts those of a session are.
///
/// # Errors
///
/// When an id cannot be one.
pub(crate) fn owner_of(key: &WorkspaceKey) -> Result<Owner, Failure> {
    Owner::of(key).map_err(Failure::from)
}

/// What is done before a command can run, in words for a terminal.
pub(crate) fn preparing_words(preparing: Preparing<'_>) -> Option<String> {
    match preparing {
        Preparing::Image { name, bytes: 0 } => Some(format!("fetching the image {}", plain(name))),
        Preparing::Image { name, bytes } => {
            Some(format!("fetching the image {}, {}", plain(name), size(bytes)))
        }
        _ => None,
    }
}

/// Runs something that waits.
///
/// # Errors
///
/// When the system has no room for it, or what it ran failed.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::of_system(&error))?
        .block_on(future)
}
