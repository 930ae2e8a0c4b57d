//! Listing a skill's folder.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;
use thiserror::Error;

use crate::diagnostic::Code;
use crate::files::Identity;
use crate::problem::Problem;

/// Most entries of one skill; the largest public one has under two thousand.
const MAX_ENTRIES: usize = 20_000;
/// Deepest folder of one skill.
const MAX_DEPTH: usize = 24;
/// Names that are no part of a skill, in any of its folders: they are in no digest, are not staged and cannot be read, and
/// changes of them are not watched for. The list is short because a skill may bring anything else, `dist` and
/// `node_modules` included; what Python compiles and what git keeps is made anew wherever it is needed.
const LEFT_OUT: [&str; 4] = [".git", ".venv", "__pycache__", ".DS_Store"];

/// Everything in a skill's folder, sorted by path.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The folder.
    pub root: PathBuf,
    /// Files and links.
    pub entries: Vec<FileEntry>,
    /// What was left out, and why.
    pub problems: Vec<Problem>,
}

/// One file or link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Path from the skill's folder, with slashes.
    pub path: String,
    /// What it is.
    pub kind: FileKind,
}

/// What a path of a skill is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File {
        /// Bytes.
        size: u64,
        /// Whether its owner may execute it.
        executable: bool,
        /// Its state when it was listed.
        identity: Identity,
    },
    /// A symlink that stays inside the skill.
    Link {
        /// What it says.
        target: String,
    },
}

/// Why a folder could not be listed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The folder or one below it cannot be read.
    #[error("cannot read the folder `{}`", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// More than a skill may have.
    #[error("`{}` has more than {MAX_ENTRIES} entries or folders more than {MAX_DEPTH} deep", path.display())]
    TooLarge {
        /// Which.
        path: PathBuf,
    },
}

/// Lists the files of a skill.
///
/// # Errors
///
/// When a folder cannot be read or there is more than a skill may have.
pub fn list(root: &Path) -> Result<Tree, TreeError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        |source| TreeError::Unreadable { path, source }
    };
    let mut tree = Tree { root: root.to_owned(), entries: Vec::new(), problems: Vec::new() };
    let mut folders = vec![(root.to_owned(), 0)];
    let mut seen = 0;
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(unreadable(&folder))? {
            let entry = entry.map_err(unreadable(&folder))?;
            seen += 1;
            if seen > MAX_ENTRIES || depth > MAX_DEPTH {
                return Err(TreeError::TooLarge { path: root.to_owned() });
            }
            if is_left_out(&entry.file_name()) {
                continue;
            }
            let path = entry.path();
            let kind = entry.file_type().map_err(unreadable(&path))?;
            if kind.is_dir() {
                folders.push((path, depth + 1));
            } else {
                tree.add(&path);
            }
        }
    }
    tree.entries.sort_by(|left, right| left.path.cmp(&right.path));
    tree.report_case_clashes();
    tree.problems.sort();
    Ok(tree)
}

impl Tree {
    /// The entry at a path.
    pub fn find(&self, path: &str) -> Option<&FileEntry> {
        let index = self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok()?;
        Some(&self.entries[index])
    }

    fn add(&mut self, path: &Path) {
        let relative = path.strip_prefix(&self.root).unwrap_or(path);
        let Some(name) = relative.to_str() else {
            return self.leave_out(relative, "its name is not UTF-8");
        };
        match classify(&self.root, path) {
            Ok(Some(kind)) => self.entries.push(FileEntry { path: name.to_owned(), kind }),
            Ok(None) => self.leave_out(relative, "it is neither a file nor a folder"),
            Err(Outside::Escapes) => self.leave_out(relative, "it is a link that leads outside"),
            Err(Outside::Unlisted) => self.leave_out(relative, "it is a link to what is left out"),
            Err(Outside::Broken(error)) => self.leave_out(relative, &error.to_string()),
        }
    }

    fn leave_out(&mut self, path: &Path, why: &str) {
        self.problems.push(Problem::new(
            Code::EscapingLink,
            &self.root.join(path),
            format!("left out of the skill: {why}"),
        ));
    }

    fn report_case_clashes(&mut self) {
        let mut folded: Vec<(String, &str)> =
            self.entries.iter().map(|entry| (entry.path.to_lowercase(), &*entry.path)).collect();
        folded.sort();
        for pair in folded.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            let message = format!(
                "`{}` and `{}` are one file where case does not count",
                pair[0].1, pair[1].1
            );
            self.problems.push(Problem::new(Code::CaseClash, &self.root.join(pair[1].1), message));
        }
    }
}

enum Outside {
    Escapes,
    /// What it leads to is in no digest, so nobody would notice a change of it.
    Unlisted,
    Broken(io::Error),
}

fn classify(root: &Path, path: &Path) -> Result<Option<FileKind>, Outside> {
    let metadata = fs::symlink_metadata(path).map_err(Outside::Broken)?;
    if metadata.is_symlink() {
        return Ok(Some(FileKind::Link { target: link_target(root, path)? }));
    }
    Ok(metadata.is_file().then(|| FileKind::File {
        size: metadata.len(),
        executable: metadata.permissions().mode() & 0o100 != 0,
        identity: Identity::of(&metadata),
    }))
}

/// Returns the target of a link that leads to a part of the skill without leaving it on the way.
///
/// Real paths are looked up here, and not once per skill: they cost a system call for each part of a path, and most
/// skills have no links.
fn link_target(root: &Path, link: &Path) -> Result<String, Outside> {
    let target = fs::read_link(link).map_err(Outside::Broken)?;
    let real = fs::canonicalize(link).map_err(Outside::Broken)?;
    let real_root = fs::canonicalize(root).map_err(Outside::Broken)?;
    let inside = real.strip_prefix(&real_root).map_err(|_| Outside::Escapes)?;
    let from = link.parent().and_then(|folder| folder.strip_prefix(root).ok());
    let said = from.and_then(|from| steps(from, &target)).ok_or(Outside::Escapes)?;
    let listed =
        said.iter().chain(inside).all(|part| !is_left_out(part) && part.to_str().is_some());
    let kind = fs::metadata(&real).map_err(Outside::Broken)?.file_type();
    match target.into_os_string().into_string() {
        Ok(target) if listed && (kind.is_file() || kind.is_dir()) => Ok(target),
        _ => Err(Outside::Unlisted),
    }
}

/// The path that `target` says from a folder, or nothing if it says to leave the skill.
fn steps(from: &Path, target: &Path) -> Option<PathBuf> {
    let mut path = from.to_owned();
    for part in target.components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir if path.pop() => {}
            _ => return None,
        }
    }
    Some(path)
}

/// Whether a file or folder of this name is no part of a skill.
pub(crate) fn is_left_out(name: &OsStr) -> bool {
    LEFT_OUT.iter().any(|left_out| name == *left_out)
}

/// Opens a file for reading; nothing waits, even if it turns out to be a FIFO or a device.
pub(crate) fn open_without_waiting(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    File::options().read(true).custom_flags(flags).open(path)
}

/// Opens a regular file for reading. Anything else is refused without waiting for it.
pub(crate) fn open_regular(path: &Path) -> io::Result<(File, fs::Metadata)> {
    let file = open_without_waiting(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok((file, metadata))
}
