//! Sessions: where they are kept, and which workspace belongs to one.
//!
//! A session of `run` is in the database, which numbers sessions from 1 on; its workspace has that
//! number. One of `exec` alone is a workspace with the number 0 and nothing else. When `run` goes on
//! with such a session, the workspace is handed over to the number that the database gives.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use metier_agent::session_identity::{unstored_workspace_key, workspace_key};
use metier_session::{Decision, DecisionStore, SessionKey, SessionStore, SqliteStore};
use metier_workspace::{WorkspaceKey, Workspaces};
use thiserror::Error;

use crate::app::App;
use crate::error::AppError;
use crate::principal::Principal;
use crate::state::privacy::make_private_folder;

/// How long removing old workspaces may take after a run.
pub const CLEANUP_LIMIT: Duration = Duration::from_secs(1);

/// A session that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SessionLookupError {
    /// There is none of that id.
    #[error("there is no session `{session}`")]
    Missing {
        /// The id.
        session: String,
    },
    /// There is none at all.
    #[error("there is no session yet")]
    None,
    /// Its workspace is in use.
    #[error("the workspace of `{session}` cannot be used")]
    WorkspaceInUse {
        /// The id.
        session: String,
        /// The reason.
        source: io::Error,
    },
    /// Its workspace cannot be removed.
    #[error("the workspace of `{session}` cannot be removed")]
    NotRemoved {
        /// The id.
        session: String,
        /// The reason.
        source: io::Error,
    },
    /// Its workspace cannot be made.
    #[error("the workspace of `{session}` cannot be used")]
    NoWorkspace {
        /// The id.
        session: String,
        /// The reason.
        source: io::Error,
    },
}

impl App {
    /// Opens the database of sessions, which is made if need be.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub fn sessions(&self) -> Result<SqliteStore, AppError> {
        let state = self.environment.state();
        make_private_folder(state).map_err(|error| self.state_error(error))?;
        Ok(SqliteStore::open(&self.database())?)
    }

    /// Opens the database of sessions if there is one; nothing is made.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub fn existing_sessions(&self) -> Result<Option<SqliteStore>, AppError> {
        let is_there = self.database().exists();
        is_there.then(|| self.sessions()).transpose()
    }

    fn database(&self) -> PathBuf {
        self.environment.state().join("metier.db")
    }

    /// Returns the key of a session in the database.
    ///
    /// # Errors
    ///
    /// When the id cannot be one.
    pub fn session_key(&self, session: &str) -> Result<SessionKey, AppError> {
        let Principal { app, user } = &self.principal;
        Ok(SessionKey::new(app, user, session)?)
    }

    /// Returns the key of the workspace of a session that only `exec` has used.
    pub fn bare_workspace_key(&self, session: &str) -> WorkspaceKey {
        let Principal { app, user } = self.principal.clone();
        WorkspaceKey { app, user, session: session.to_owned(), generation: 0 }
    }

    /// Returns the key of the workspace of a session: of the one in the database, or of `exec` alone.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub async fn workspace_key(&self, session: &str) -> Result<WorkspaceKey, AppError> {
        let Some(store) = self.existing_sessions()? else {
            return Ok(self.bare_workspace_key(session));
        };
        let found = store.get(&self.session_key(session)?).await?;
        Ok(match found {
            Some(found) => workspace_key(&found.at),
            None => self.bare_workspace_key(session),
        })
    }

    /// Returns the key of the session that is named, or of the one used last.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub async fn session(&self, named: Option<&str>) -> Result<WorkspaceKey, AppError> {
        let workspaces = self.workspaces()?;
        if let Some(session) = named {
            let key = self.workspace_key(session).await?;
            // One in the database may have lost its workspace, and is a session all the same.
            return if key.generation > 0 || workspaces.exists(&key) {
                Ok(key)
            } else {
                Err(SessionLookupError::Missing { session: session.to_owned() }.into())
            };
        }
        let Principal { app, user } = &self.principal;
        let latest = workspaces.latest(app, user).map_err(|error| self.state_error(error))?;
        latest.ok_or_else(|| SessionLookupError::None.into())
    }

    /// Returns the decisions of people: those that hold for an agent, or all there are.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub async fn decisions(&self, agent: Option<&str>) -> Result<Vec<Decision>, AppError> {
        let Some(store) = self.existing_sessions()? else { return Ok(Vec::new()) };
        Ok(store.decisions(agent).await?)
    }
}

/// Begins a session or finds it again, with the workspace that `exec` made for it.
///
/// # Errors
///
/// When it cannot be stored, or its workspace is in use.
pub async fn begin(
    store: &dyn SessionStore,
    workspaces: &Workspaces,
    key: &SessionKey,
) -> Result<WorkspaceKey, AppError> {
    let mine = workspace_key(&store.create(key).await?.at);
    let before = unstored_workspace_key(key);
    if workspaces.exists(&before) && !workspaces.exists(&mine) {
        workspaces.hand_over(&before, &mine).map_err(|source| {
            let session = key.session().to_owned();
            SessionLookupError::WorkspaceInUse { session, source }
        })?;
    }
    Ok(mine)
}

/// Returns a new id for a session.
pub fn new_session_id() -> String {
    let id = uuid::Uuid::now_v7().simple().to_string();
    format!("s-{}", &id[id.len() - 12..])
}
