//! The executors that run commands, and the settings of a run.

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
use metier_skill::library::Entry;
use metier_workspace::artifact::DirectoryStore;
use metier_workspace::executor::{
    ContainerExecutor, ContainerSettings, Executor, Firmness, LocalExecutor, Pull,
};
use metier_workspace::{InstalledTools, RunSettings, Runner, Workspaces, way};

use crate::app::App;
use crate::error::AppError;
use crate::grants::{MEBIBYTE, asked_by};
use crate::state::StateError;
use crate::state::privacy::make_private_folder;

/// The folder where root has what programs must come to that run as another user.
const SHARED: &str = "/var/lib/metier";
/// The seconds of a day.
const DAY: u64 = 24 * 60 * 60;

impl App {
    /// Opens the folders of workspaces and staged skills.
    ///
    /// # Errors
    ///
    /// When the state directory cannot be used.
    pub fn workspaces(&self) -> Result<Workspaces, AppError> {
        let state = self.environment.state();
        let (usual, content) = (state.join("workspaces"), state.join("content"));
        if let Some(folder) = self.config.workspace.folder.as_deref() {
            let folder = self.environment.expand(folder, state);
            return Workspaces::open(&folder, &content)
                .map_err(|source| StateError::WorkspaceFolder { folder, source }.into());
        }
        if is_root_without_mounts() {
            // The state directory closes the way, so it must be there when the way is looked at.
            make_private_folder(state).map_err(|error| self.state_error(error))?;
            if way::barred(&usual).is_some()
                && let Ok(workspaces) =
                    shared_folder(&usual).and_then(|it| Workspaces::open(&it, &content))
            {
                return Ok(workspaces);
            }
        }
        Workspaces::open(&usual, &content).map_err(|error| self.state_error(error).into())
    }

    /// Returns the folders in which workspaces may lie, beside that of the state directory.
    pub(crate) fn workspace_folders(&self) -> impl Iterator<Item = PathBuf> {
        let named = self.config.workspace.folder.as_deref();
        let named = named.map(|folder| self.environment.expand(folder, self.environment.state()));
        named.into_iter().chain([PathBuf::from(SHARED)])
    }

    /// Opens the store of artifacts.
    ///
    /// # Errors
    ///
    /// When the state directory cannot be used.
    pub fn artifacts(&self) -> Result<DirectoryStore, AppError> {
        let folder = self.environment.state().join("artifacts");
        Ok(DirectoryStore::open(&folder)?)
    }

    /// Returns the runner of commands.
    ///
    /// # Errors
    ///
    /// When the settings cannot be followed, or the state directory cannot be used.
    pub fn runner(&self, named: Option<ExecutorKind>) -> Result<Runner, AppError> {
        Ok(Runner {
            workspaces: self.workspaces()?,
            artifacts: Arc::new(self.artifacts()?),
            executor: self.executor(named),
            redactor: self.redactor.clone(),
        })
    }

    /// Returns the executor that is named, else that of the configuration.
    pub fn executor(&self, named: Option<ExecutorKind>) -> Executor {
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

    /// Returns the executor of containers.
    pub fn containers(&self) -> ContainerExecutor {
        let settings = &self.config.exec.container;
        let socket =
            settings.socket.as_deref().or_else(|| self.environment.variable("DOCKER_HOST"));
        ContainerExecutor::new(ContainerSettings {
            image: (*settings.image).clone(),
            socket: socket.map(str::to_owned),
            pull: if *settings.pull { Pull::Missing } else { Pull::Never },
        })
    }

    /// Returns the settings of a run of a skill.
    ///
    /// # Errors
    ///
    /// When the settings cannot be followed.
    pub fn run_settings(&self, entry: &Entry) -> Result<RunSettings, AppError> {
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

    /// Returns the variables that the configuration gives a skill: those of the entry that belongs to it.
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

    /// Returns how long unused workspaces are kept.
    pub fn workspace_ttl(&self) -> Duration {
        Duration::from_secs(self.config.workspace.ttl_days.saturating_mul(DAY))
    }
}

/// Makes a folder for workspaces that would else be at a place which is closed to their programs.
fn shared_folder(usual: &Path) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o711).create(SHARED)?;
    let name = usual.display().to_string().replace('%', "%25").replace('/', "%2f");
    Ok(Path::new(SHARED).join(name))
}
