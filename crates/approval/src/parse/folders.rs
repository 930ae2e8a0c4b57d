//! Which folder a step runs in.
//!
//! A step may be taken or not, so after `make && cd out` there are two possibilities. All of them are
//! followed, as pairs of how the last step ended and the folder it left behind; a step that could run in more than one
//! folder has no plan.

use std::path::{Component, Path, PathBuf};

use crate::plan::Joint;

/// Most folders that are kept in mind for later steps.
const MAX_FOLDERS: usize = 16;

/// Longest path of a folder; Linux takes no longer ones.
const MAX_FOLDER_BYTES: usize = 4_096;

/// Where the next step could be.
#[derive(Clone, Debug)]
pub(super) struct Folders {
    /// After the last step succeeded.
    succeeded: Vec<PathBuf>,
    /// After it failed.
    failed: Vec<PathBuf>,
}

impl Folders {
    /// Where a plan starts, as if something had succeeded there.
    pub(super) fn new() -> Self {
        Self { succeeded: vec![PathBuf::new()], failed: Vec::new() }
    }

    /// The folder in which a step is taken. Must be followed by [`Folders::ran`] or [`Folders::entered`].
    pub(super) fn take(&mut self, joint: Joint) -> Result<PathBuf, &'static str> {
        let mut taken = Vec::new();
        if joint != Joint::Failure {
            taken.append(&mut self.succeeded);
        }
        if joint != Joint::Success {
            taken.append(&mut self.failed);
        }
        let Some(folder) = taken.pop() else {
            return Err("a command that never runs, since `cd` does not fail here");
        };
        if taken.iter().any(|other| other.as_os_str() != folder.as_os_str()) {
            return Err("which folder this runs in depends on what happens before");
        }
        Ok(folder)
    }

    /// A program was run in a folder.
    pub(super) fn ran(&mut self, folder: PathBuf) -> Result<(), &'static str> {
        insert(&mut self.failed, folder.clone())?;
        insert(&mut self.succeeded, folder)
    }

    /// A folder was entered.
    pub(super) fn entered(&mut self, folder: PathBuf) -> Result<(), &'static str> {
        insert(&mut self.succeeded, folder)
    }
}

/// The folder that `cd` goes to, seen from where the plan starts.
///
/// As in the shell `..` takes back a name that was entered before, whether that was a link or not.
/// Behind a name of the same target it is refused, because bash then wants that name to exist.
pub(super) fn enter(from: &Path, target: &str) -> Result<PathBuf, &'static str> {
    let mut folder = if target.starts_with('/') { PathBuf::from("/") } else { from.to_owned() };
    let mut has_name = false;
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." if has_name => return Err("`..` behind a name, in the target of `cd`"),
            ".." => match folder.components().next_back() {
                Some(Component::Normal(_)) => {
                    folder.pop();
                }
                Some(Component::RootDir) => {}
                _ => folder.push(".."),
            },
            name => {
                has_name = true;
                folder.push(name);
            }
        }
        if folder.as_os_str().len() > MAX_FOLDER_BYTES {
            return Err("a folder with a very long path");
        }
    }
    Ok(folder)
}

fn insert(folders: &mut Vec<PathBuf>, folder: PathBuf) -> Result<(), &'static str> {
    // Paths are normalised, so their bytes can be compared.
    if folders.iter().any(|other| other.as_os_str() == folder.as_os_str()) {
        return Ok(());
    }
    if folders.len() == MAX_FOLDERS {
        return Err("too many folders in which the rest could run");
    }
    folders.push(folder);
    Ok(())
}
