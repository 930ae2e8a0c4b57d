//! The folders that a session keeps for each skill: its home, its `.venv` and its private workspace.
//!
//! They go by the skill's name, as paths in commands do, and two skills may have one name: that of a project and the
//! person's own. A file says which of them has the folders of the name. When a run of the other one begins, they are set
//! aside under the identity of their skill, and those of the other come to their places, or none if it had none. A run
//! holds the folders until it ends, so nothing is exchanged under it.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::Path;

use rustix::fs::{AtFlags, OFlags, renameat, statat};
use rustix::io::Errno;

use crate::clean::remove_tree;
use crate::encode::file_name;
use crate::layout::{HOMES, PRIVATE, VENVS, Workspace, make_private};
use crate::order::RunError;
use crate::own_file;
use crate::path::Inside;

/// The folder with a file for each name, which says whose the folders are.
const OWNERS: &str = ".owners";
/// The lock for as long as it is decided whose they are. No file for a name can be called like this.
const DECISION: &str = ".lock";
/// Between the name and the identity of a skill whose folders are set aside. It occurs in no name of a folder otherwise.
const ASIDE: &str = "%@";
/// Longest identity that is read; it is a digest.
const MAX_IDENTITY_BYTES: u64 = 1 << 10;

/// The folders of a name, which belong to one skill until this is dropped.
#[derive(Debug)]
pub(crate) struct HeldFolders {
    _lock: File,
}

impl Workspace {
    /// Holds the folders of a skill's name for the skill of an identity. Without one the name is enough.
    ///
    /// # Errors
    ///
    /// When another skill of the name is running, or a folder cannot be moved.
    pub(crate) fn hold_folders(
        &self,
        skill: &str,
        identity: Option<&str>,
    ) -> Result<HeldFolders, RunError> {
        let held = self.try_hold(skill, identity.unwrap_or_default());
        let held = held.map_err(RunError::Workspace)?;
        held.ok_or_else(|| RunError::Namesake(skill.to_owned()))
    }

    /// Holds them, unless a run of another skill does.
    fn try_hold(&self, skill: &str, identity: &str) -> io::Result<Option<HeldFolders>> {
        let owners = self.root().join(OWNERS);
        make_private(&owners)?;
        let deciding = own_file::open_mark(&owners.join(DECISION))?;
        deciding.lock()?;
        let name = file_name(skill);
        let place = owners.join(&name);
        let mut lock = own_file::open_mark(&place)?;
        let owner = owner_of(&place)?;
        if owner != identity {
            match lock.try_lock() {
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
                Ok(()) => {}
            }
            self.set_aside(&name, &owner)?;
            // What is left undone after this is done by the next run.
            lock.set_len(0)?;
            lock.write_all(identity.as_bytes())?;
            lock.unlock()?;
        }
        lock.lock_shared()?;
        self.bring_back(&name, identity)?;
        Ok(Some(HeldFolders { _lock: lock }))
    }

    fn set_aside(&self, name: &str, owner: &str) -> io::Result<()> {
        let aside = aside(name, owner);
        self.each_folder(|folder, path| match renameat(folder, name, folder, &aside) {
            Err(Errno::NOTEMPTY | Errno::EXIST) => {
                remove_tree(&path.join(&aside))?;
                Ok(renameat(folder, name, folder, &aside)?)
            }
            renamed => is_done(renamed),
        })
    }

    fn bring_back(&self, name: &str, identity: &str) -> io::Result<()> {
        let aside = aside(name, identity);
        self.each_folder(|folder, _| match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => is_done(renameat(folder, &aside, folder, name)),
            there => Ok(there.map(drop)?),
        })
    }

    /// Does something in each folder with folders of skills that is there.
    fn each_folder(&self, work: impl Fn(&File, &Path) -> io::Result<()>) -> io::Result<()> {
        let folders = [VENVS, HOMES, PRIVATE].map(Inside::known);
        self.mend(&folders)?;
        for place in folders {
            match self.open(&place, OFlags::RDONLY | OFlags::DIRECTORY) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                folder => work(&File::from(folder?), &place.under(self.root()))?,
            }
        }
        Ok(())
    }
}

/// Returns the identity of the skill that has the folders of a name; it is empty if only the name counted so far.
fn owner_of(place: &Path) -> io::Result<String> {
    let bytes = own_file::read(place, MAX_IDENTITY_BYTES)?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn aside(name: &str, identity: &str) -> String {
    let identity = if identity.is_empty() { String::new() } else { file_name(identity) };
    format!("{name}{ASIDE}{identity}")
}

/// Whether a folder is moved, or not there.
fn is_done(renamed: Result<(), Errno>) -> io::Result<()> {
    match renamed {
        Err(Errno::NOENT) => Ok(()),
        renamed => Ok(renamed?),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::layout::{WorkspaceKey, Workspaces};

    fn workspace(folder: &Path) -> Workspace {
        let place = |name: &str| folder.join(name);
        let workspaces = Workspaces::open(&place("workspaces"), &place("content")).unwrap();
        let [app, user, session] = ["test", "ada", "one"].map(str::to_owned);
        workspaces.workspace(&WorkspaceKey { app, user, session, generation: 0 }).unwrap()
    }

    fn hold(workspace: &Workspace, identity: Option<&str>) -> Result<HeldFolders, String> {
        workspace.hold_folders("pdf", identity).map_err(|error| error.to_string())
    }

    #[test]
    fn each_skill_of_a_name_finds_what_it_left_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = workspace(folder.path());
        let homes = workspace.root().join(HOMES);
        let mut seen = String::new();
        for identity in [None, Some("a"), Some("b"), Some("a"), None, Some("b")] {
            let _held = hold(&workspace, identity).unwrap();
            let home = homes.join("pdf");
            fs::create_dir_all(&home).unwrap();
            let found = fs::read_to_string(home.join("left")).unwrap_or_default();
            seen += &format!("{}: [{found}]\n", identity.unwrap_or("by name"));
            fs::write(home.join("left"), format!("{found}{}", identity.unwrap_or("-"))).unwrap();
        }
        insta::assert_snapshot!(seen, @"
        by name: []
        a: []
        b: []
        a: [a]
        by name: [-]
        b: [b]
        ");
    }

    #[test]
    fn folders_are_not_exchanged_under_a_run() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = workspace(folder.path());
        let held = [hold(&workspace, Some("a")).unwrap(), hold(&workspace, Some("a")).unwrap()];
        insta::assert_snapshot!(hold(&workspace, Some("b")).unwrap_err(), @"another skill `pdf` is still running in this session; try again when it has ended");
        drop(held);
        hold(&workspace, Some("b")).unwrap();
    }

    #[test]
    fn what_was_left_undone_is_done_by_the_next_run() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = workspace(folder.path());
        let home = workspace.root().join(HOMES).join("pdf");
        drop(hold(&workspace, Some("a")).unwrap());
        fs::create_dir_all(&home).unwrap();
        fs::write(home.join("left"), "by a").unwrap();
        // Killed before it was written down whose the folders are.
        workspace.set_aside("pdf", "a").unwrap();
        drop(hold(&workspace, Some("b")).unwrap());
        assert!(!home.exists());
        drop(hold(&workspace, Some("a")).unwrap());
        assert_eq!(fs::read_to_string(home.join("left")).unwrap(), "by a");
        // Killed right after it.
        workspace.set_aside("pdf", "a").unwrap();
        drop(hold(&workspace, Some("a")).unwrap());
        assert_eq!(fs::read_to_string(home.join("left")).unwrap(), "by a");
    }
}
