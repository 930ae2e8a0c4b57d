//! The folders of installed tools: one for each skill, with links to its programs.
//!
//! Before, links to the programs of all skills were in one folder, where a program replaced that of another
//! skill with the same name. [`separate_shared_links`] turns that layout into the present one.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Component, Path, PathBuf};

use crate::files::Digest;

/// The folder of links in the folder of a skill's tools. No install option can have this name.
const LINKS: &str = ".bin";
/// The folder of links that all skills shared.
const SHARED_LINKS: &str = "bin";
/// Most links of the shared folder that are looked at: a skill declares a few programs.
const MAX_SHARED_LINKS: usize = 10_000;

/// Returns the name of the folder with a skill's tools: readable, and never that of another identity.
pub fn tool_folder(identity: &str) -> String {
    let is_plain = |it: &char| it.is_ascii_alphanumeric() || *it == '-' || *it == '_';
    let name: String = identity.chars().filter(is_plain).take(40).collect();
    let digest = Digest::of_bytes(identity.as_bytes()).to_string();
    format!("{name}-{}", &digest[..16])
}

/// Returns the folder with links to the programs in a skill's folder of tools.
pub fn tool_links(folder: &Path) -> PathBuf {
    folder.join(LINKS)
}

/// Gives each skill the links of its own programs, if `tools` still has the folder that all skills shared.
///
/// A link goes to the skill whose folder it leads into. Whatever else is there stays, and runs do not find it.
///
/// # Errors
///
/// When a link cannot be moved.
pub fn separate_shared_links(tools: &Path) -> io::Result<()> {
    let shared = tools.join(SHARED_LINKS);
    let entries = match fs::read_dir(&shared) {
        // Nor is there one in a state directory that is a file.
        Err(error) if is_missing(&error) => return Ok(()),
        entries => entries?,
    };
    for entry in entries.take(MAX_SHARED_LINKS) {
        let link = entry?.path();
        let (Ok(target), Some(name)) = (fs::read_link(&link), link.file_name()) else { continue };
        let Some(folder) = folder_of(&target, tools) else { continue };
        let links = tool_links(&folder);
        fs::create_dir_all(&links)?;
        match symlink(&target, links.join(name)) {
            // A newer one is there.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        match fs::remove_file(&link) {
            // Another process was faster.
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    // It stays if something else is in it.
    let _removed = fs::remove_dir(&shared);
    Ok(())
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns the folder of the skill's tools into which the target of a link leads.
fn folder_of(target: &Path, tools: &Path) -> Option<PathBuf> {
    let inside = target.strip_prefix(tools).ok()?;
    if inside.components().any(|part| !matches!(part, Component::Normal(_))) {
        return None;
    }
    let folder = tools.join(inside.components().next()?);
    (folder.is_dir() && folder != tools.join(SHARED_LINKS)).then_some(folder)
}
