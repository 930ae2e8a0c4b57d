//! What is asked about this machine.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Knows this machine.
///
/// It is implemented by whoever may look at the file system, and by tests as a table. Answers must be those of
/// the moment: what is found here is pinned, and looked at again right before it runs.
pub trait Facts {
    /// The program that a word stands for in a folder: a name is looked for in the folders of the
    /// run's `PATH`, anything with a slash is a path seen from the folder. None if nothing is there that
    /// could be executed.
    fn executable(&self, directory: &Path, word: &str) -> Option<Executable>;

    /// A folder with all links followed, and what it is. None if there is none.
    ///
    /// Links in `/proc` that lead elsewhere for each process are not followed, here and for files: what passes one is
    /// said to be below `/proc/self`, whether it is there or not.
    fn folder(&self, path: &Path) -> Option<FileFact>;

    /// A file, seen from a folder, with all links followed, and what it is. None if there is none.
    fn file(&self, directory: &Path, path: &str) -> Option<FileFact>;

    /// The SHA-256 digest of what is in a file, in hexadecimal. None if it cannot be read.
    fn digest(&self, file: &FileFact) -> Option<String>;

    /// The contents of the configuration files of all git repositories that a folder is in, or is. None if one of
    /// them cannot be read whole. A folder in no repository has none.
    fn repository_settings(&self, directory: &Path) -> Option<Vec<String>>;
}

/// A program on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Executable {
    /// Where it was found: absolute, normalised, links not followed.
    pub path: PathBuf,
    /// With all links followed, and what it is.
    #[serde(flatten)]
    pub file: FileFact,
    /// Whether somebody other than root or the user could replace it: it, or a folder above it, is writable
    /// for a group or for everybody.
    pub is_replaceable: bool,
    /// The words of its first line, if that begins with `#!`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<Vec<String>>,
}

impl Executable {
    /// The path by which another program can start it as what it is: where it really is, unless it is found by
    /// another name there. Programs like busybox are many, and only the name says which.
    #[must_use]
    pub fn called_by(&self) -> &Path {
        let is_same_name = self.path.file_name() == self.file.real.file_name();
        if is_same_name { &self.file.real } else { &self.path }
    }
}

/// A file or folder on the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileFact {
    /// Where it is, with all links followed.
    pub real: PathBuf,
    /// Which file it is, and which state of it.
    pub identity: Identity,
}

/// Which file it is, and which state of it. Nobody can change a file and keep all of this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// The device it is on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Its length in bytes; 0 for folders.
    pub size: u64,
    /// When it was last written, in nanoseconds since 1970; 0 for folders.
    pub modified: i128,
    /// When it last changed in any way, in nanoseconds since 1970; 0 for folders.
    pub changed: i128,
}
