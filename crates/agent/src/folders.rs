//! The skills of some folders, for programs that have no other source of skills.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use metier_skill::catalog::default_budget;
use metier_skill::discover::{Absence, Links, Root, Source};
use metier_skill::files::DigestCache;
use metier_skill::library::{
    Choices, Entry, LibraryOptions, Machine, Snapshot, TrustPolicy, build,
};
use metier_workspace::environment::SYSTEM_PATH;
use metier_workspace::{RunSettings, Tree};

use crate::library::{Library, LibraryError, read_tree};

/// The skills of some folders, as they were when somebody looked last.
///
/// All of them are trusted. Runs get the usual settings: no network, and no variables but the usual.
#[derive(Debug)]
pub struct Folders {
    roots: Vec<Root>,
    snapshot: Mutex<Arc<Snapshot>>,
    digests: DigestCache,
}

impl Folders {
    /// Looks at folders with a folder for each skill; for one name the later folder wins.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let root = |path| Root {
            source: Source::Managed,
            path,
            links: Links::Anywhere,
            absence: Absence::Reported,
            plugin: None,
            project: None,
        };
        let roots: Vec<Root> = folders.into_iter().map(root).collect();
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
    let machine = Machine {
        os: std::env::consts::OS,
        path: &std::env::split_paths(SYSTEM_PATH).collect::<Vec<_>>(),
        env: &|_| false,
        config: &|_| false,
        server: &|_| false,
        programs: RefCell::new(HashMap::new()),
    };
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
        read_tree(entry.name.as_str(), folder, &self.digests)
    }

    fn run_settings(&self, _: &Entry) -> Result<RunSettings, LibraryError> {
        Ok(RunSettings::default())
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
