//! Sessions: where they are kept, and which workspace belongs to one.
//!
//! A session of `run` is in the database, which numbers sessions from 1 on; its workspace has that
//! number. One of `exec` alone is a workspace with the number 0 and nothing else. When `run` goes on
//! with such a session, the workspace is handed over to the number that the database gives.

use std::path::PathBuf;

use metier_agent::session_identity::{unstored_workspace_key, workspace_key};
use metier_session::{SessionKey, SessionStore, SqliteStore};
use metier_workspace::{WorkspaceKey, Workspaces};

use crate::context::Context;
use crate::failure::Failure;
use crate::privacy::make_private_folder;
use crate::runs::{APP, USER, block_on, key_of};

impl Context {
    /// Where sessions are kept, which is made if need be.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub(crate) fn sessions(&self) -> Result<SqliteStore, Failure> {
        let state = self.environment.state();
        make_private_folder(&state).map_err(|error| self.state_failure(&error))?;
        Ok(SqliteStore::open(&self.database())?)
    }

    /// The same if there is any; nothing is made.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub(crate) fn existing_sessions(&self) -> Result<Option<SqliteStore>, Failure> {
        let is_there = self.database().exists();
        is_there.then(|| self.sessions()).transpose()
    }

    fn database(&self) -> PathBuf {
        self.environment.state().join("metier.db")
    }

    /// Whose workspace that of a session is: of the one in the database, or of `exec` alone.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub(crate) fn workspace_key(&self, session: &str) -> Result<WorkspaceKey, Failure> {
        let Some(store) = self.existing_sessions()? else { return Ok(key_of(session)) };
        let key = session_key(session)?;
        let found = block_on(async { Ok(store.get(&key).await?) })?;
        Ok(found.map_or_else(|| key_of(session), |found| workspace_key(&found.at)))
    }
}

/// Begins a session or finds it again, with the workspace that `exec` made for it.
///
/// # Errors
///
/// When it cannot be stored, or its workspace is in use.
pub(crate) async fn begin(
    store: &dyn SessionStore,
    workspaces: &Workspaces,
    key: &SessionKey,
) -> Result<WorkspaceKey, Failure> {
    let mine = workspace_key(&store.create(key).await?.at);
    let before = unstored_workspace_key(key);
    if workspaces.exists(&before) && !workspaces.exists(&mine) {
        workspaces.hand_over(&before, &mine).map_err(|error| {
            Failure::new(format!("the workspace of `{}` cannot be used: {error}", key.session()))
                .hint("wait until the command that uses it has ended, or name another session")
        })?;
    }
    Ok(mine)
}

/// The key of a session of the command line in the database.
///
/// # Errors
///
/// When the id cannot be one.
pub(crate) fn session_key(session: &str) -> Result<SessionKey, Failure> {
    Ok(SessionKey::new(APP, USER, session)?)
}
