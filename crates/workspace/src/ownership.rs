//! Whose a workspace is: ending that, and handing it over to another session.
//!
//! Both need a workspace that nobody uses, and hold its lock meanwhile.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::clean::{is_free, is_lock_of, open_lock, remove_tree, unused};
use crate::layout::{WorkspaceKey, Workspaces};

impl Workspaces {
    /// Removes the workspace of a session, if it has one; gives whether it had.
    ///
    /// # Errors
    ///
    /// When it is in use, or cannot be removed.
    pub fn remove(&self, key: &WorkspaceKey) -> io::Result<bool> {
        let folder = self.folder_of(key);
        if !folder.exists() {
            return Ok(false);
        }
        let _span = tracing::info_span!("workspace.cleanup").entered();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        let _lock = claim(&folder)?;
        let removed = unused(&folder);
        fs::rename(folder, &removed)?;
        remove_tree(&removed)?;
        Ok(true)
    }

    /// Makes the workspace of one session that of another, which has none.
    ///
    /// # Errors
    ///
    /// When it is in use, the other has one, or it cannot be renamed.
    pub fn hand_over(&self, from: &WorkspaceKey, to: &WorkspaceKey) -> io::Result<()> {
        let (old, new) = (self.folder_of(from), self.folder_of(to));
        if new.exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let _lock = claim(&old)?;
        let workspace = Self::claimed(to, &old);
        let mut metadata = workspace.metadata()?;
        metadata.key = Some(to.clone());
        workspace.save(&metadata)?;
        fs::rename(old, new)
    }
}

/// Takes the lock of a workspace for oneself alone.
pub(crate) fn claim(folder: &Path) -> io::Result<File> {
    let lock = open_lock(folder)?;
    if is_free(&lock)? && is_lock_of(&lock, folder)? {
        return Ok(lock);
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "it is in use"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(session: &str, generation: u32) -> WorkspaceKey {
        let [app, user, session] = ["test", "ada", session].map(str::to_owned);
        WorkspaceKey { app, user, session, generation }
    }

    fn workspaces() -> (tempfile::TempDir, Workspaces) {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let workspaces = Workspaces::open(&place("workspaces"), &place("content")).unwrap();
        (folder, workspaces)
    }

    #[test]
    fn a_workspace_that_is_handed_over_has_its_files_and_its_new_key() {
        let (_folder, workspaces) = workspaces();
        let (old, new) = (key("one", 0), key("one", 7));
        let workspace = workspaces.workspace(&old).unwrap();
        fs::write(workspace.root().join("out/a.txt"), "a").unwrap();
        assert_eq!(
            workspaces.hand_over(&old, &new).unwrap_err().kind(),
            io::ErrorKind::ResourceBusy,
            "it is in use"
        );
        drop(workspace);
        workspaces.hand_over(&old, &new).unwrap();
        assert!(!workspaces.exists(&old));
        let workspace = workspaces.workspace(&new).unwrap();
        assert_eq!(fs::read_to_string(workspace.root().join("out/a.txt")).unwrap(), "a");
        assert_eq!(workspaces.latest("test", "ada").unwrap(), Some(new.clone()));
        workspaces.workspace(&old).unwrap();
        let taken = workspaces.hand_over(&old, &new).unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn a_workspace_is_removed_unless_it_is_in_use() {
        let (_folder, workspaces) = workspaces();
        let (one, two) = (key("one", 1), key("two", 1));
        let workspace = workspaces.workspace(&one).unwrap();
        drop(workspaces.workspace(&two).unwrap());
        let busy = workspaces.remove(&one).unwrap_err();
        assert_eq!(busy.kind(), io::ErrorKind::ResourceBusy);
        assert!(workspaces.exists(&one));
        drop(workspace);
        assert!(workspaces.remove(&one).unwrap());
        assert!(!workspaces.remove(&one).unwrap(), "there is none any more");
        assert!(!workspaces.exists(&one) && workspaces.exists(&two));
    }
}
