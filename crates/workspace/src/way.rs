//! The way to a workspace, for programs that see it where it is and run as somebody else.
//!
//! When metier is root and may not mount, as in most containers, programs run as nobody and must pass
//! every folder above their workspace. Those of ours let them through, and nobody else; those of others
//! stay as they are, and the first that is closed is named.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use metier_sandbox::unprivileged_owner;

use crate::layout::Workspace;

/// Folders of a workspace through which programs come to their own.
const INSIDE: [&str; 2] = ["skills", "runs"];
/// Passed by the group that programs have, listed by nobody but root.
const PASSABLE: u32 = 0o710;

/// The first folder on a path that programs cannot pass, as far as the path exists.
pub fn barred(path: &Path) -> Option<PathBuf> {
    let (user, group) = unprivileged_owner()?;
    let mut folders: Vec<&Path> = path.ancestors().collect();
    folders.reverse();
    let closed = folders
        .into_iter()
        .find(|folder| fs::metadata(folder).is_ok_and(|found| !lets_through(&found, user, group)));
    closed.map(Path::to_owned)
}

/// Opens the way to a workspace; gives the folder that is in it, if it is none of ours.
pub(crate) fn open(workspace: &Workspace) -> io::Result<Option<PathBuf>> {
    let Some((user, group)) = unprivileged_owner() else { return Ok(None) };
    let root = workspace.root();
    // It, what is between it and the folder that all workspaces are in, and that one.
    let above = root.ancestors().take(workspace.levels() + 1).map(Path::to_owned);
    for folder in above.chain(INSIDE.map(|name| root.join(name))) {
        if !lets_through(&fs::symlink_metadata(&folder)?, user, group) {
            chown(&folder, None, Some(group))?;
            fs::set_permissions(&folder, fs::Permissions::from_mode(PASSABLE))?;
        }
    }
    Ok(barred(root))
}

fn lets_through(folder: &Metadata, user: u32, group: u32) -> bool {
    let bit = if folder.uid() == user {
        0o100
    } else if folder.gid() == group {
        0o010
    } else {
        0o001
    };
    folder.mode() & bit != 0
}
