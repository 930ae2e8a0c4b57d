//! Looking for files that patterns name, through no link.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Dir, FileType, OFlags};

use super::pattern::Patterns;
use crate::layout::{Workspace, open_beneath};
use crate::path::Inside;

/// Most entries that are looked at for one run.
const MAX_ENTRIES: usize = 100_000;
/// Deepest folder that is looked at.
const MAX_DEPTH: usize = 32;

/// What looking gave.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// Places of regular files, sorted.
    pub(crate) places: Vec<Inside>,
    pub(crate) warnings: Vec<String>,
}

/// Looks for files. Links and special files are passed over with a warning.
pub(crate) fn look(workspace: &Workspace, patterns: &Patterns) -> io::Result<Looked> {
    let mut walker = Walker { patterns, entries: 0, looked: Looked::default() };
    for place in patterns.folders() {
        match workspace.open(place, OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(folder) => walker.walk(&folder, place, 0)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => walker.warn(format!("`{place}` is not a folder of the workspace")),
        }
    }
    let mut looked = walker.looked;
    looked.places.sort();
    Ok(looked)
}

struct Walker<'a> {
    patterns: &'a Patterns,
    entries: usize,
    looked: Looked,
}

impl Walker<'_> {
    fn warn(&mut self, text: String) {
        self.looked.warnings.push(text);
    }

    fn walk(&mut self, folder: &OwnedFd, place: &Inside, depth: usize) -> io::Result<()> {
        for (name, kind) in self.names(folder, place)? {
            let inside = place.join(&name);
            let matches = self.patterns.is_match(&inside);
            match kind {
                FileType::Directory if depth < MAX_DEPTH => {
                    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
                    if let Ok(open) = open_beneath(folder, &name, flags) {
                        self.walk(&open, &inside, depth + 1)?;
                    }
                }
                FileType::RegularFile if matches => self.looked.places.push(inside),
                FileType::Symlink if matches => {
                    self.warn(format!("`{inside}` is a link and was not collected"));
                }
                FileType::RegularFile | FileType::Symlink | FileType::Directory => {}
                _ if matches => self.warn(format!("`{inside}` is not a regular file")),
                _ => {}
            }
        }
        Ok(())
    }

    /// What is in a folder, sorted by name.
    fn names(&mut self, folder: &OwnedFd, place: &Inside) -> io::Result<Vec<(String, FileType)>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else {
                self.warn(format!("a file in `{place}` has a name that is not UTF-8"));
                continue;
            };
            if matches!(name, "." | "..") || (place.as_str().is_empty() && is_ours(name)) {
                continue;
            }
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                self.warn(format!("only the first {MAX_ENTRIES} entries were looked at"));
                break;
            }
            names.push((name.to_owned(), entry.file_type()));
        }
        names.sort_by(|left, right| left.0.cmp(&right.0));
        Ok(names)
    }
}

/// Names at the top of a workspace that are metier's own.
fn is_ours(name: &str) -> bool {
    name.starts_with('.') || name == "metadata.json"
}
