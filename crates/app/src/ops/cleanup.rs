//! Removes what is not needed any more: workspaces, staged skills, fetched skills, leftovers of killed processes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use metier_session::SessionStore;
use metier_skill::library::TrustStore;
use metier_workspace::executor::ContainerError;

use crate::app::App;
use crate::error::AppError;

/// How long staged and fetched skills are kept that nothing uses: a run may be about to use them.
const UNUSED_CONTENT: Duration = Duration::from_hours(30 * 24);
/// How long unfinished files are kept: a process may still be writing them.
const UNFINISHED: Duration = Duration::from_hours(1);

/// The counts of what was removed.
#[derive(Debug)]
pub struct CleanupReport {
    /// Workspaces.
    pub workspaces: usize,
    /// Staged skills.
    pub skills: usize,
    /// Skills that were fetched from servers.
    pub fetched: usize,
    /// Control groups of runs.
    pub runs: usize,
    /// Containers, or the reason why they were not looked at.
    pub containers: Result<usize, ContainerError>,
    /// Unfinished artifacts.
    pub artifacts: usize,
}

impl App {
    /// Removes what is not needed any more.
    ///
    /// # Errors
    ///
    /// When the state directory cannot be used.
    pub async fn clean_up(&self) -> Result<CleanupReport, AppError> {
        let workspaces = self.workspaces()?;
        let removed = workspaces.remove_unused(self.workspace_ttl());
        let removed = removed.map_err(|error| self.state_error(error))?;
        // Requests of a session are made of the skills as they were.
        let needed = match self.existing_sessions()? {
            Some(store) => store.digests().await?,
            None => BTreeSet::new(),
        };
        let skills = workspaces.remove_unused_content(UNUSED_CONTENT, &needed);
        let skills = skills.map_err(|error| self.state_error(error))?;
        let trust = TrustStore::load(&self.trust_file())?;
        let fetched = self.remote_store().remove_unused(UNUSED_CONTENT, &trust)?;
        remove_unfinished(&self.cache());
        let runs = metier_sandbox::remove_leftovers();
        let artifacts = self.artifacts()?.clean(UNFINISHED).await?;
        let containers = self.containers().remove_leftovers(&workspaces).await;
        Ok(CleanupReport {
            workspaces: removed.len(),
            skills,
            fetched,
            runs,
            containers: containers.map(|removed| removed.len()),
            artifacts,
        })
    }
}

/// Removes files of the cache that were being written when their process was killed.
fn remove_unfinished(cache: &Path) {
    let entries = fs::read_dir(cache).into_iter().flatten().filter_map(Result::ok);
    for entry in entries.filter(|it| it.file_name().as_encoded_bytes().starts_with(b".")) {
        let changed = entry.metadata().and_then(|it| it.modified()).ok();
        let age = changed.and_then(|changed| changed.elapsed().ok());
        if age.is_some_and(|age| age > UNFINISHED) {
            // What cannot be removed is in nobody's way.
            let _left = fs::remove_file(entry.path());
        }
    }
}
