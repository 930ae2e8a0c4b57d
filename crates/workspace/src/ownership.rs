//! Whose a workspace is: ending that, and handing it over to another session.
//!
//! Both need a workspace that nobody uses, and hold its lock meanwhile.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::clean::{is_free, is_lock_of, open_lock, remove_tree, unused};
use crate::layout::{SessionKey, Workspaces};

impl Workspaces {
    /// Removes the workspace of a session, if it has one; gives whether it had.
    ///
    /// # Errors
    ///
    /// When it is in use, or cannot be removed.
    pub fn remove(&self, key: &SessionKey) -> io::Result<bool> {
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
    pub fn hand_over(&self, from: &SessionKey, to: &SessionKey) -> io::Result<()> {
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
fn claim(folder: &Path) -> io::Result<File> {
    let lock = open_lock(folder)?;
    if is_free(&lock)? && is_lock_of(&lock, folder)? {
        return Ok(lock);
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "it is in use"))
}
