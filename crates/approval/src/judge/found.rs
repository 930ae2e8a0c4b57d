//! What was found on this machine for one verdict. Each thing is asked once: a verdict is about one moment.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::entries::Lack;
use super::repository::{self, ForeignPrograms};
use crate::facts::{Executable, Facts, FileFact};
use crate::policy::Policy;
use crate::tables::{self, Kind};

/// A program that a word stands for.
#[derive(Debug)]
pub(super) struct Found {
    /// What is on the disk.
    pub(super) program: Executable,
    /// What kind of program it is.
    pub(super) kind: Kind,
    /// Entries that are about it, by their places, and what keeps each from counting.
    pub(super) entries: OnceCell<Vec<(usize, Option<Lack>)>>,
}

/// What was answered to each question; none where nothing is.
type Answers<Question, Answer> = RefCell<HashMap<Question, Option<Answer>>>;

/// Answers of this machine.
pub(super) struct Machine<'a> {
    facts: &'a dyn Facts,
    policy: &'a Policy,
    programs: Answers<(PathBuf, String), Rc<Found>>,
    folders: Answers<PathBuf, FileFact>,
    digests: Answers<PathBuf, String>,
    repositories: Answers<PathBuf, ForeignPrograms>,
}

impl<'a> Machine<'a> {
    pub(super) fn new(facts: &'a dyn Facts, policy: &'a Policy) -> Self {
        Self {
            facts,
            policy,
            programs: RefCell::default(),
            folders: RefCell::default(),
            digests: RefCell::default(),
            repositories: RefCell::default(),
        }
    }

    /// The program that a word stands for in a folder.
    pub(super) fn program(&self, directory: &Path, word: &str) -> Option<Rc<Found>> {
        let key = (directory.to_owned(), word.to_owned());
        let find = || {
            let program = self.facts.executable(directory, word)?;
            let kind = tables::kind_in(word, &program, &self.policy.trusted_folders);
            Some(Rc::new(Found { program, kind, entries: OnceCell::new() }))
        };
        self.programs.borrow_mut().entry(key).or_insert_with(find).clone()
    }

    /// A folder with all links followed.
    pub(super) fn folder(&self, path: &Path) -> Option<FileFact> {
        let find = || self.facts.folder(path);
        self.folders.borrow_mut().entry(path.to_owned()).or_insert_with(find).clone()
    }

    /// A file, seen from a folder, with all links followed.
    pub(super) fn file(&self, directory: &Path, path: &str) -> Option<FileFact> {
        self.facts.file(directory, path)
    }

    /// The digest of what is in a file.
    pub(super) fn digest(&self, file: &FileFact) -> Option<String> {
        let find = || self.facts.digest(file);
        self.digests.borrow_mut().entry(file.real.clone()).or_insert_with(find).clone()
    }

    /// Returns why git in a folder could start programs of the repository; none if it could not.
    pub(super) fn foreign_programs(&self, directory: &Path) -> Option<ForeignPrograms> {
        let find = || repository::foreign_programs(self.facts.repository_settings(directory));
        *self.repositories.borrow_mut().entry(directory.to_owned()).or_insert_with(find)
    }
}
