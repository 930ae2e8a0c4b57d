//! Configuration files of the git repositories around a folder.
//!
//! Every repository that git could take for the one of a folder is looked at, whether git would stop at a nearer
//! one or not: a file too many costs a question, a file too few runs a program.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::links::of_process;

/// Largest configuration file that is read; people's own have a few kilobytes.
const MAX_SETTINGS_BYTES: u64 = 256 << 10;
/// Longest file that says where a repository is: a path and a few letters.
const MAX_POINTER_BYTES: u64 = 8 << 10;
/// Names of the files in the folder of a repository that have settings.
const SETTINGS: [&str; 2] = ["config", "config.worktree"];

/// Returns the contents of the configuration files; none if one of them is there and cannot be read whole.
pub(super) fn settings(directory: &Path) -> Option<Vec<String>> {
    let mut contents = Vec::new();
    for folder in directory.ancestors() {
        for repository in repositories(folder)? {
            let common = pointer(&repository.join("commondir"), "")?;
            let common = common.map(|path| repository.join(path));
            for place in [repository].into_iter().chain(common) {
                for name in SETTINGS {
                    contents.extend(read(&place.join(name), MAX_SETTINGS_BYTES)?);
                }
            }
        }
    }
    Some(contents)
}

/// Folders of repositories that a folder has or is.
fn repositories(folder: &Path) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let (inner, head) = (folder.join(".git"), folder.join("HEAD"));
    // Git would find something else there.
    if of_process(&inner).or_else(|| of_process(&head)).is_some() {
        return None;
    }
    match fs::metadata(&inner) {
        Ok(it) if it.is_dir() => found.push(inner),
        Ok(it) if it.is_file() => {
            found.extend(pointer(&inner, "gitdir: ")?.map(|path| folder.join(path)));
        }
        _ => {}
    }
    if fs::symlink_metadata(head).is_ok() {
        found.push(folder.to_owned());
    }
    Some(found)
}

/// The path that a file has behind some letters; none in it if there is no such file.
fn pointer(file: &Path, before: &str) -> Option<Option<String>> {
    let Some(text) = read(file, MAX_POINTER_BYTES)? else { return Some(None) };
    // A path that is no text leads to where nobody looked.
    let is_text = !text.contains(char::REPLACEMENT_CHARACTER);
    let path = text.strip_prefix(before).map(|path| path.trim_end_matches(['\r', '\n']).to_owned());
    is_text.then_some(path)
}

/// What is in a file; none in it if there is no such file.
fn read(file: &Path, most: u64) -> Option<Option<String>> {
    match open(file) {
        Ok(opened) => {
            let mut bytes = Vec::new();
            opened.take(most + 1).read_to_end(&mut bytes).ok()?;
            let is_whole = u64::try_from(bytes.len()).is_ok_and(|length| length <= most);
            is_whole.then(|| Some(String::from_utf8_lossy(&bytes).into_owned()))
        }
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Some(None)
        }
        Err(_) => None,
    }
}

/// Opens a file. A pipe in its place keeps nobody waiting.
fn open(path: &Path) -> io::Result<File> {
    if of_process(path).is_some() {
        return Err(ErrorKind::InvalidInput.into());
    }
    let flags = OFlags::NONBLOCK | OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(ErrorKind::InvalidInput.into()) }
}
