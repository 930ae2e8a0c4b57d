//! What a command on the host would find, before anybody decides about it.

use std::path::PathBuf;

use crate::copies::place_copies;
use crate::environment::Surroundings;
use crate::order::{RunError, RunOrder};
use crate::path::PathError;
use crate::plan::Plan;
use crate::run::{Runner, stage_all};

/// Where a command on the host would start, and what it would find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Where it would start, with all links followed.
    pub directory: PathBuf,
    /// Folders in which its programs are looked for.
    pub path: Vec<PathBuf>,
    /// Folders of the workspace into which runs write.
    pub writable: Vec<PathBuf>,
}

impl Runner {
    /// Puts everything in its place that a command on the host would find, and says where it would start and where
    /// its programs are looked for. Nothing runs.
    ///
    /// # Errors
    ///
    /// As for [`Self::run`].
    pub fn settle(&self, order: &RunOrder) -> Result<Settled, RunError> {
        let RunOrder { key, request, trees, settings, manner, identity, outside } = order;
        manner.check(outside.as_deref(), &self.executor)?;
        let settings = settings.clone().granted(&self.executor)?;
        let plan = Plan::new(request, &settings)?;
        let shared = self.workspaces.workspace(key).map_err(RunError::Workspace)?;
        let _held = shared.hold_folders(&request.skill, identity.as_deref())?;
        let workspace = settings.workspace_of(&shared, &request.skill)?;
        let staged = stage_all(&self.workspaces, trees)?;
        // Restored or not: the run compares them again, and says so.
        place_copies(&workspace, &staged).map_err(RunError::Workspace)?;
        let directory = match outside {
            Some(folder) => folder.clone(),
            None => plan.directory.under(workspace.root()),
        };
        let missing = |_| RunError::Directory(PathError::NoFolder(directory.display().to_string()));
        let (skill, tools) = (request.skill.clone(), settings.tools.clone());
        let surroundings = Surroundings { skill, tools, ..Surroundings::default() };
        let variables = surroundings.variables(workspace.root(), None);
        let path = variables.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_str());
        Ok(Settled {
            directory: directory.canonicalize().map_err(missing)?,
            path: path.into_iter().flat_map(std::env::split_paths).collect(),
            writable: ["work", "out"].map(|name| workspace.root().join(name)).to_vec(),
        })
    }
}
