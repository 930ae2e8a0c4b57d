//! `metier sessions rm`: the session, its workspace and what it kept.

use std::fmt;

use metier_session::{SessionError, SessionStore};
use metier_workspace::artifact::{ArtifactKey, ArtifactStore};
use serde_json::json;

use super::none_named;
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::{counted, plain};
use crate::runs::{block_on, key_of, owner_of};
use crate::sessions::session_key;

/// Removes a session and all that belongs to it alone.
///
/// The workspace goes first: when it is in use, everything stays.
pub(super) fn remove(context: &Context, name: &str, json: bool) -> Result<u8, Failure> {
    let (key, mine) = (session_key(name)?, context.workspace_key(name)?);
    let workspaces = context.workspaces()?;
    let working = context.output.working(&format!("removing {name}"));
    let in_use = |error: std::io::Error| {
        Failure::new(format!("the workspace of `{name}` cannot be removed: {error}"))
            .hint("wait until the command that uses it has ended")
    };
    let mut had_workspace = workspaces.remove(&mine).map_err(in_use)?;
    // One that `exec` made at the same moment as `run` began the session.
    had_workspace |= workspaces.remove(&key_of(name)).map_err(in_use)?;
    let artifacts = context.artifacts()?;
    let owner = owner_of(&mine)?;
    let store = context.existing_sessions()?;
    let (kept, was_there) = block_on(async {
        let kept = artifacts.list(&owner.session_scope()).await;
        let kept = kept?;
        for artifact in &kept {
            let key = ArtifactKey::new(&owner, &artifact.name);
            let key = key?;
            artifacts.delete(&key, None).await?;
        }
        let was_there = match &store {
            Some(store) => match store.delete(&key).await {
                Ok(_) => true,
                Err(SessionError::NotFound { .. }) => false,
                Err(error) => return Err(error.into()),
            },
            None => false,
        };
        Ok((kept.len(), was_there))
    })?;
    drop(working);
    if !was_there && !had_workspace && kept == 0 {
        return Err(none_named(name).into());
    }
    if json {
        let removed = json!({ "session": name, "workspace": had_workspace, "artifacts": kept });
        context.output.json(&removed);
    } else {
        let gone = Removed { had_workspace, kept };
        context.output.say(&format!("removed {}{gone}", plain(name)));
    }
    Ok(OK)
}

/// What went with a session, in words behind its name.
struct Removed {
    had_workspace: bool,
    kept: usize,
}

impl fmt::Display for Removed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let artifacts = counted(self.kept, "artifact");
        match (self.had_workspace, self.kept) {
            (true, 0) => formatter.write_str(" and its workspace"),
            (true, _) => write!(formatter, ", its workspace and {artifacts}"),
            (false, 0) => Ok(()),
            (false, _) => write!(formatter, " and {artifacts}"),
        }
    }
}
