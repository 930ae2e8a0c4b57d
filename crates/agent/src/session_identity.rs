//! The identities of a session: as stores of sessions, workspaces and artifacts know it.
//!
//! A [`SessionKey`] is a name, and a [`SessionRef`] one session of that name: one that is deleted and begun again has
//! another generation. A workspace belongs to the session, so [`WorkspaceKey`] has the generation too. Artifacts belong to
//! the name ([`Owner`]). What one of them is for another is decided here and nowhere else.

use metier_session::{SessionError, SessionKey, SessionRef};
use metier_workspace::WorkspaceKey;
use metier_workspace::artifact::{ArtifactError, Owner};

/// The generation of workspaces that no session of a store has. Stores count from 1.
const UNSTORED: u32 = 0;

/// Returns the key of the workspace of a session.
#[must_use]
pub fn workspace_key(at: &SessionRef) -> WorkspaceKey {
    WorkspaceKey { generation: at.generation, ..unstored_workspace_key(&at.key) }
}

/// Returns the key of a workspace that was made before its session was in any store.
#[must_use]
pub fn unstored_workspace_key(key: &SessionKey) -> WorkspaceKey {
    WorkspaceKey {
        app: key.app().to_owned(),
        user: key.user().to_owned(),
        session: key.session().to_owned(),
        generation: UNSTORED,
    }
}

/// Returns the name of the session of a workspace.
///
/// # Errors
///
/// When an id of the workspace cannot be that of a session.
pub fn session_key(key: &WorkspaceKey) -> Result<SessionKey, SessionError> {
    SessionKey::new(&key.app, &key.user, &key.session)
}

/// Returns the owner of the artifacts of a session.
///
/// # Errors
///
/// When an id of the session cannot be that of an owner; the rules of both are the same today.
pub fn artifact_owner(key: &SessionKey) -> Result<Owner, ArtifactError> {
    Owner::of(&unstored_workspace_key(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_is_begun_again_has_another_workspace_and_the_same_artifacts() {
        let key = SessionKey::new("docs", "ada", "first").unwrap();
        let at = |generation| SessionRef { key: key.clone(), generation };
        let (one, two) = (workspace_key(&at(1)), workspace_key(&at(2)));
        assert_ne!(one, two);
        assert_eq!(session_key(&one).unwrap(), key);
        assert_eq!(Owner::of(&one).unwrap(), Owner::of(&two).unwrap());
        assert_eq!(Owner::of(&one).unwrap(), artifact_owner(&key).unwrap());
    }
}
