//! The skills of some folders, for programs that have no other source of skills.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use metier_skill::catalog::default_budget;
use metier_skill::discover::Root;
use metier_skill::files::DigestCache;
use metier_skill::library::{
    Choices, Entry, LibraryOptions, Machine, Snapshot, TrustPolicy, build,
};
use metier_workspace::environment::SYSTEM_PATH;
use metier_workspace::{RunSettings, Tree};

use crate::library::{Library, LibraryError, asked_by, read_entry};

/// The skills of some folders, as they were when somebody looked last.
///
/// All of them are trusted. Runs get the usual settings: no network, and no variables but the usual. A skill that asks for
/// less of the sandbox gets less, and one that asks for more is not run. What else a skill
/// needs, such as a variable that is set, is not there, so a skill that asks for it is not offered. A program that knows
/// more implements [`Library`] itself.
///
/// ```
/// use metier_agent::{Folders, Library};
///
/// let folder = tempfile::tempdir()?;
/// let skill = folder.path().join("pdf");
/// std::fs::create_dir(&skill)?;
/// std::fs::write(skill.join("SKILL.md"), "---\nname: pdf\ndescription: Reads PDF files.\n---\n\nRun it.\n")?;
///
/// let skills = Folders::new([folder.path().to_owned()]);
/// assert_eq!(skills.snapshot().catalog.text, "Available skills:\n- pdf: Reads PDF files.\n");
///
/// // It sees what changed when it is told to look.
/// std::fs::remove_dir_all(&skill)?;
/// assert!(skills.snapshot().find("pdf").is_some());
/// skills.look();
/// assert!(skills.snapshot().find("pdf").is_none());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Folders {
    roots: Vec<Root>,
    snapshot: Mutex<Arc<Snapshot>>,
    digests: DigestCache,
}

impl Folders {
    /// Looks at folders with a folder for each skill; for one name the later folder wins. Whatever is wrong, with a folder
    /// or with a skill, is in `problems` of the [snapshot](Library::snapshot).
    ///
    /// This and [`look`](Self::look) read the disk and return when they have.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let roots: Vec<Root> = folders.into_iter().map(Root::named).collect();
        let snapshot = Mutex::new(Arc::new(find(&roots)));
        Self { roots, snapshot, digests: DigestCache::in_memory() }
    }

    /// Looks again.
    pub fn look(&self) {
        let found = Arc::new(find(&self.roots));
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }
}

fn find(roots: &[Root]) -> Snapshot {
    let path: Vec<PathBuf> = std::env::split_paths(SYSTEM_PATH).collect();
    let machine = Machine::new(std::env::consts::OS, &path);
    build(&LibraryOptions {
        roots,
        bundled: &[],
        remote: &[],
        choices: &Choices::all(),
        machine: &machine,
        trust: TrustPolicy::All,
        cache: None,
        catalog_tokens: default_budget(None),
    })
}

impl Library for Folders {
    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn tree(&self, entry: &Entry) -> Result<Tree, LibraryError> {
        let folder = entry.place.folder().ok_or_else(|| LibraryError::new("it has no folder"))?;
        Ok(read_entry(entry, folder, &self.digests)?)
    }

    fn run_settings(&self, entry: &Entry) -> Result<RunSettings, LibraryError> {
        let asked = asked_by(entry).map_err(|error| {
            LibraryError::new(format!("`sandbox.network` of `{}`: {error}", entry.name))
        })?;
        Ok(RunSettings { asked, ..RunSettings::default() })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_folder_is_looked_at_when_asked_and_the_later_one_wins() {
        let folder = TempDir::new().expect("a folder");
        let write = |path: &str, description: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(&path).expect("a folder");
            let text = format!("---\nname: a\ndescription: {description}\n---\n\nText.\n");
            fs::write(path.join("SKILL.md"), text).expect("a skill");
        };
        write("one/a", "The first.");
        let skills = Folders::new(["one", "two"].map(|it| folder.path().join(it)));
        write("two/a", "The second.");
        let told = || {
            let snapshot = skills.snapshot();
            let found = snapshot.find("a").map(|entry| entry.manifest.description.clone());
            found.expect("a skill")
        };
        assert_eq!(told(), "The first.");
        skills.look();
        assert_eq!(told(), "The second.");
        let snapshot = skills.snapshot();
        let tree = skills.tree(snapshot.find("a").expect("a skill")).expect("its tree");
        assert_eq!((tree.name.as_str(), tree.entries.len()), ("a", 1));
    }
}
