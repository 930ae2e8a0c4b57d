//! Containers that nobody needs any more.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::engine::Engine;
use super::error::ContainerError;
use super::hold::{Hold, Last};
use super::recipe::{Recipe, WORKSPACE};
use super::run::ContainerExecutor;
use crate::layout::{Workspace, Workspaces};

impl ContainerExecutor {
    /// Removes the containers of a workspace that is about to be deleted, and of those in it that are private to
    /// a skill; gives whether there was one.
    ///
    /// # Errors
    ///
    /// When the engine cannot be reached or refuses.
    pub async fn remove(&self, workspace: &Workspace) -> Result<bool, ContainerError> {
        let engine = self.engine().await?;
        let mut removed = engine.remove(&Recipe::name(workspace.root())).await?;
        for container in engine.labelled(WORKSPACE).await? {
            let labels = container.labels.unwrap_or_default();
            let root = labels.get(WORKSPACE).map(Path::new);
            let is_inside = root.is_some_and(|root| root.starts_with(workspace.root()));
            if let Some(id) = container.id.filter(|_| is_inside) {
                removed |= engine.remove(&id).await?;
            }
        }
        Ok(removed)
    }

    /// Removes containers whose workspace is gone, or whose last user is; gives the workspaces.
    ///
    /// Containers of workspaces elsewhere are left alone, and so are those in which something runs now.
    ///
    /// # Errors
    ///
    /// When the engine cannot be reached or refuses.
    pub async fn remove_leftovers(
        &self,
        workspaces: &Workspaces,
    ) -> Result<Vec<PathBuf>, ContainerError> {
        let engine = self.engine().await?;
        let mut removed = Vec::new();
        for container in engine.labelled(WORKSPACE).await? {
            let labels = container.labels.unwrap_or_default();
            let Some(root) = labels.get(WORKSPACE).map(PathBuf::from) else { continue };
            let (Some(id), true) = (container.id, root.starts_with(workspaces.root())) else {
                continue;
            };
            let Some(_held_meanwhile) = unneeded(&root)? else { continue };
            engine.remove(&id).await?;
            removed.push(root);
        }
        removed.sort();
        Ok(removed)
    }
}

impl ContainerExecutor {
    /// Ends, once, what still runs in containers of those who were killed; their containers stay for the next run. If it
    /// cannot be done, the run at hand does not suffer from it.
    pub(super) async fn end_abandoned(&self, engine: &Engine, workspace: &Workspace) {
        let Some(workspaces) = workspace.root().ancestors().nth(workspace.levels()) else { return };
        if self.has_tidied.swap(true, Ordering::Relaxed) {
            return;
        }
        for container in engine.labelled(WORKSPACE).await.unwrap_or_default() {
            let labels = container.labels.unwrap_or_default();
            let root = labels.get(WORKSPACE).map(Path::new);
            let Some(root) = root.filter(|root| root.starts_with(workspaces)) else { continue };
            if let (Some(id), Ok(Some(Some(hold)))) = (container.id, unneeded(root))
                && hold.last == Last::Unknown
            {
                let _still_there = engine.kill(&id).await;
            }
        }
    }
}

/// Whether nobody needs the container of a workspace; it is held, if there is still something to hold.
fn unneeded(root: &Path) -> Result<Option<Option<Hold>>, ContainerError> {
    if !root.is_dir() {
        return Ok(Some(None));
    }
    let Some(mut hold) = Hold::try_take(root)? else { return Ok(None) };
    Ok((!hold.is_user_alive()).then_some(Some(hold)))
}
