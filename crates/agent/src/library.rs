//! What the agent asks of whoever knows the skills of this machine.

use std::error::Error as _;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use metier_skill::files::{self, DigestCache, FileKind};
use metier_skill::library::{Entry, Snapshot};
use metier_skill::search::edit_distance;
use metier_workspace::{RunSettings, Tree, TreeEntry, TreeKind};
use thiserror::Error;

/// The skills there are, and what it takes to use one.
///
/// The agent decides what a model is told and given; this trait tells it what there is. It is
/// implemented by the command line, and by programs that have skills of their own.
pub trait Library: fmt::Debug + Send + Sync {
    /// The skills as they are now.
    fn snapshot(&self) -> Arc<Snapshot>;

    /// The folder of a skill with everything in it, ready to be staged.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn tree(&self, entry: &Entry) -> Result<Tree, LibraryError>;

    /// What holds for runs of a skill.
    ///
    /// # Errors
    ///
    /// When the settings cannot be followed, or the skill asks for more than they allow.
    fn run_settings(&self, entry: &Entry) -> Result<RunSettings, LibraryError>;
}

/// Why a skill cannot be used, in words that say what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct LibraryError {
    /// What is wrong and what to do.
    pub message: String,
}

impl LibraryError {
    /// An error in these words.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// Reads the folder of a skill into a tree that can be staged under a name.
///
/// # Errors
///
/// When it cannot be read.
pub fn read_tree(name: &str, folder: &Path, digests: &DigestCache) -> Result<Tree, LibraryError> {
    let say =
        |error: &dyn fmt::Display| LibraryError::new(format!("`{name}` cannot be read: {error}"));
    let listed = files::list(folder).map_err(|error| match error.source() {
        Some(why) => say(&format_args!("{error}: {why}")),
        None => say(&error),
    })?;
    let known = files::digest_of(&listed, digests).map_err(|error| say(&error))?;
    let entries = listed.entries.iter().map(|file| {
        let kind = match &file.kind {
            FileKind::Link { target } => TreeKind::Link { target: target.clone() },
            FileKind::File { executable, .. } => {
                let sha256 = known.contents.get(&file.path).map_or([0; 32], |it| *it.as_bytes());
                TreeKind::File { sha256, executable: *executable }
            }
        };
        TreeEntry { path: file.path.clone(), kind }
    });
    Ok(Tree {
        name: name.to_owned(),
        folder: folder.to_owned(),
        digest: known.whole.to_string(),
        entries: entries.collect(),
    })
}

/// Names that a model may use, those closest to a name it made up first.
pub(crate) fn nearest<'a>(snapshot: &'a Snapshot, name: &str, most: usize) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    let mut names: Vec<(usize, &str)> = snapshot
        .entries
        .iter()
        .filter(|entry| entry.is_model_visible())
        .map(|entry| (distance(&wanted, entry.name.as_str()), entry.name.as_str()))
        .collect();
    names.sort_unstable();
    names.into_iter().take(most).map(|(_, name)| name).collect()
}

/// How many letters differ; a name that contains the other is close.
fn distance(wanted: &str, name: &str) -> usize {
    if !wanted.is_empty() && (name.contains(wanted) || wanted.contains(name)) {
        return 0;
    }
    edit_distance(wanted, name)
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn a_name_that_contains_the_other_is_close() {
        let cases = [("pdf", "pdf-tools", 0), ("pdf-tools", "pdf", 0), ("pfd", "pdf", 2)];
        for (wanted, name, expected) in cases {
            assert_eq!(distance(wanted, name), expected, "{wanted} {name}");
        }
    }
}
