//! What the agent asks of whoever knows the skills of this machine.

use std::error::Error as _;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use metier_skill::files::{self, DigestCache, FileKind, TreeDigests};
use metier_skill::header::{NetworkRequest, SandboxRequest};
use metier_skill::library::{ChangedSkill, Entry, Snapshot};
use metier_skill::search::edit_distance;
use metier_workspace::executor::Network;
use metier_workspace::grant::Asked;
use metier_workspace::proxy::ParseError;
use metier_workspace::{RunSettings, Tree, TreeEntry, TreeKind};
use thiserror::Error;

/// A mebibyte.
const MEBIBYTE: u64 = 1 << 20;

/// The skills there are, and what it takes to use one.
///
/// The agent decides what a model is told and given; this trait tells it what there is. It is
/// implemented by the command line, by [`Folders`](crate::Folders), and by programs that have skills of their own. What it
/// must uphold:
///
/// - [`snapshot`](Self::snapshot) is called several times in a turn and is quick: it hands out the same snapshot until
///   something has changed.
/// - [`tree`](Self::tree) and [`run_settings`](Self::run_settings) are called on a thread of the runtime. They may read a
///   disk and do not wait for a network, except `tree` of a skill of another server, which gets a thread of its own.
/// - A tree is what its digest says. What was staged under a digest is used again after it was compared
///   with the entries of the tree, and what was changed is taken from the tree once more.
/// - The words of an error are read by the model, or by the person who asked for the skill, so they say what to do.
/// - Both are asked for skills of the snapshot that may be used, and for no others. Which those are was decided when the
///   snapshot was built. Files may have changed since: a tree of an entry with `trusted_files` has those files, which
///   [`read_entry`] makes sure of. A tree of another digest is refused.
///
/// This one gives its skills a variable and a shorter time, and leaves the rest to `Folders`:
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use metier_agent::{Folders, Library, LibraryError};
/// use metier_skill::library::{ChangedSkill, Entry, Snapshot};
/// use metier_workspace::{RunSettings, Tree};
///
/// #[derive(Debug)]
/// struct OfTheShop(Folders);
///
/// impl Library for OfTheShop {
///     fn snapshot(&self) -> Arc<Snapshot> {
///         self.0.snapshot()
///     }
///
///     fn tree(&self, entry: &Entry) -> Result<Tree, LibraryError> {
///         self.0.tree(entry)
///     }
///
///     fn run_settings(&self, entry: &Entry) -> Result<RunSettings, LibraryError> {
///         let variables = vec![("SHOP".to_owned(), "north".to_owned())];
///         let default_timeout = Duration::from_secs(30);
///         Ok(RunSettings { default_timeout, variables, ..self.0.run_settings(entry)? })
///     }
/// }
///
/// # let folder = tempfile::tempdir()?;
/// # let skill = folder.path().join("stock");
/// # std::fs::create_dir(&skill)?;
/// # std::fs::write(skill.join("SKILL.md"), "---\nname: stock\ndescription: Counts goods.\n---\n\nRun it.\n")?;
/// let skills = OfTheShop(Folders::new([folder.path().to_owned()]));
/// let snapshot = skills.snapshot();
/// let stock = snapshot.find("stock").expect("it is in the folder");
/// assert_eq!(skills.tree(stock)?.entries[0].path, "SKILL.md");
/// assert_eq!(skills.run_settings(stock)?.variables[0].1, "north");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Library: fmt::Debug + Send + Sync {
    /// The skills as they are now.
    fn snapshot(&self) -> Arc<Snapshot>;

    /// The folder of a skill with everything in it, ready to be staged; [`read_entry`] reads one.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn tree(&self, entry: &Entry) -> Result<Tree, LibraryError>;

    /// What holds for runs of a skill. What it asks of the sandbox belongs there too: [`asked_by`] reads it, and
    /// [`RunSettings::asked`] narrows the run by it, or refuses it.
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

/// What a skill asks of the sandbox, for [`RunSettings::asked`].
///
/// # Errors
///
/// When it asks for an address that is none.
pub fn asked_by(entry: &Entry) -> Result<Asked, ParseError> {
    let Some(requirements) = entry.manifest.gate.requirements() else {
        return Ok(Asked::default());
    };
    let SandboxRequest { network, timeout, memory_mb, processes } = &requirements.sandbox;
    let network = match network {
        None => None,
        Some(NetworkRequest::None) => Some(Network::None),
        Some(NetworkRequest::Host) => Some(Network::Host),
        Some(NetworkRequest::Listed(list)) => Some(Network::listed(list)?),
    };
    Ok(Asked {
        network,
        timeout: timeout.map(Duration::from_secs),
        memory: memory_mb.map(|count| count.saturating_mul(MEBIBYTE)),
        processes: *processes,
    })
}

/// Why the folder of an entry does not become a tree.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum EntryTreeError {
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] LibraryError),
    /// It is not what was trusted.
    #[error(transparent)]
    Changed(#[from] ChangedSkill),
}

impl From<EntryTreeError> for LibraryError {
    fn from(error: EntryTreeError) -> Self {
        match error {
            EntryTreeError::Unreadable(error) => error,
            EntryTreeError::Changed(changed) => {
                Self::new(format!("{changed}; {}", ChangedSkill::REMEDY))
            }
        }
    }
}

/// Reads the folder of a skill into a tree that can be staged. If a person trusted the skill, its files are those that
/// were trusted; staging makes sure that what is copied is what was read.
///
/// # Errors
///
/// When it cannot be read, or is not what was trusted.
pub fn read_entry(
    entry: &Entry,
    folder: &Path,
    digests: &DigestCache,
) -> Result<Tree, EntryTreeError> {
    let name = entry.name.as_str();
    let (tree, known) = read(name, folder, digests)?;
    if let Some(trusted) = &entry.trusted_files {
        trusted.check(name, (folder, &known), digests)?;
    }
    Ok(tree)
}

/// Reads the folder of a skill, whatever is in it, into a tree that can be staged under a name.
///
/// # Errors
///
/// When it cannot be read.
pub fn read_tree(name: &str, folder: &Path, digests: &DigestCache) -> Result<Tree, LibraryError> {
    read(name, folder, digests).map(|(tree, _)| tree)
}

fn read(
    name: &str,
    folder: &Path,
    digests: &DigestCache,
) -> Result<(Tree, TreeDigests), LibraryError> {
    let say =
        |error: &dyn fmt::Display| LibraryError::new(format!("`{name}` cannot be read: {error}"));
    let listed = files::list(folder).map_err(|error| match error.source() {
        Some(why) => LibraryError::new(format!("the skill `{name}`: {error}: {why}")),
        None => LibraryError::new(format!("the skill `{name}`: {error}")),
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
    let tree = Tree {
        name: name.to_owned(),
        folder: folder.to_owned(),
        digest: known.whole.to_string(),
        entries: entries.collect(),
    };
    Ok((tree, known))
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
