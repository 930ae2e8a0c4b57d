//! Sessions as a person manages them: listed, found, removed.

use metier_session::{MAX_PAGE, Page, Session, SessionError, SessionFilter, SessionStore};
use metier_workspace::artifact::{ArtifactKey, ArtifactStore, Owner};

use crate::app::App;
use crate::error::AppError;
use crate::principal::Principal;
use crate::sessions::SessionLookupError;

/// What was removed with a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemovedSession {
    /// Whether it had a workspace.
    pub had_workspace: bool,
    /// The number of artifacts that it kept.
    pub artifacts: usize,
}

impl App {
    /// Returns the sessions in the database, the one used last first.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub async fn list_sessions(&self) -> Result<Vec<Session>, AppError> {
        let Some(store) = self.existing_sessions()? else { return Ok(Vec::new()) };
        let Principal { app, user } = self.principal.clone();
        let filter = SessionFilter { app: Some(app), user: Some(user), ..SessionFilter::default() };
        let (mut sessions, mut after) = (Vec::new(), None);
        loop {
            let listing = store.list(&filter, Page { after, limit: MAX_PAGE }).await?;
            sessions.extend(listing.sessions);
            after = listing.next;
            if after.is_none() {
                return Ok(sessions);
            }
        }
    }

    /// Removes a session and everything that belongs to it alone. The workspace goes first: when it is in use, everything
    /// stays.
    ///
    /// # Errors
    ///
    /// When there is no such session, or it is in use.
    pub async fn remove_session(&self, name: &str) -> Result<RemovedSession, AppError> {
        let (key, mine) = (self.session_key(name)?, self.workspace_key(name).await?);
        let workspaces = self.workspaces()?;
        let in_use = |source| {
            let session = name.to_owned();
            SessionLookupError::NotRemoved { session, source }
        };
        let mut had_workspace = workspaces.remove(&mine).map_err(in_use)?;
        // One that `exec` made at the same moment as `run` began the session.
        had_workspace |= workspaces.remove(&self.bare_workspace_key(name)).map_err(in_use)?;
        let (store, owner) = (self.artifacts()?, Owner::of(&mine)?);
        let kept = store.list(&owner.session_scope()).await?;
        for artifact in &kept {
            store.delete(&ArtifactKey::new(&owner, &artifact.name)?, None).await?;
        }
        let was_there = match self.existing_sessions()? {
            Some(store) => match store.delete(&key).await {
                Ok(_) => true,
                Err(SessionError::NotFound { .. }) => false,
                Err(error) => return Err(error.into()),
            },
            None => false,
        };
        if !was_there && !had_workspace && kept.is_empty() {
            let session = name.escape_debug().to_string();
            return Err(SessionError::NotFound { session }.into());
        }
        Ok(RemovedSession { had_workspace, artifacts: kept.len() })
    }
}
