//! One skill: found by its name, its folder, and its folder as a tree that can be staged.

use std::io;
use std::path::{Path, PathBuf};

use metier_agent::library::{EntryTreeError, read_entry, read_tree};
use metier_skill::diagnostic::Severity;
use metier_skill::files::DigestCache;
use metier_skill::library::{Block, Entry, Place, Snapshot};
use metier_skill::problem::Problem;
use metier_skill::search::edit_distance;
use metier_workspace::Tree;
use thiserror::Error;

use crate::app::App;
use crate::error::AppError;
use crate::reporter::Activity;
use crate::sources::remote;

/// Wrong characters with which a name is still recognised.
const MAX_SLIPS: usize = 2;

/// A skill that cannot be looked up or used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SkillLookupError {
    /// No skill has the name.
    #[error("there is no skill `{name}`")]
    Missing {
        /// The name.
        name: String,
        /// The name that comes closest.
        nearest: Option<String>,
    },
    /// The folder of the name has a file that is not a skill.
    #[error(
        "`{name}` was found and cannot be used: {}:{}:{}: {}",
        problem.path.display(), problem.line, problem.column, problem.message
    )]
    Unreadable {
        /// The name.
        name: String,
        /// The first thing that is wrong with it.
        problem: Box<Problem>,
    },
    /// Something is in the way of using the skill.
    #[error("the skill `{}` cannot be used{}", entry.name, blocked(entry))]
    Blocked {
        /// The skill.
        entry: Box<Entry>,
    },
    /// A bundled skill cannot be unpacked.
    #[error("cannot unpack the bundled skill `{name}` into `{}`", folder.display())]
    NotUnpacked {
        /// The skill.
        name: String,
        /// The folder it goes to.
        folder: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The files of a skill on a server are needed where nothing is fetched.
    #[error("the files of `{name}` are not fetched yet")]
    NotFetched {
        /// The skill.
        name: String,
    },
}

/// Returns the first thing that is in the way of a skill.
fn blocked(entry: &Entry) -> String {
    let block = entry.verdict.blocks.first();
    block.map(|block: &Block| format!(": {block}")).unwrap_or_default()
}

/// Looks up a skill by its name, usable or not.
///
/// # Errors
///
/// When there is none, with the name that comes closest, or one that cannot be read.
pub fn find<'a>(snapshot: &'a Snapshot, name: &str) -> Result<&'a Entry, SkillLookupError> {
    snapshot.find(name).ok_or_else(|| unreadable(snapshot, name))
}

impl App {
    /// Returns the folder of a skill of this machine; a bundled one is unpacked first.
    ///
    /// # Errors
    ///
    /// When it cannot be unpacked, or is on a server and not fetched yet.
    pub fn local_folder(&self, entry: &Entry) -> Result<PathBuf, AppError> {
        let name = entry.name.to_string();
        match &entry.place {
            Place::Folder { file, .. } => Ok(file.parent().unwrap_or(file).to_owned()),
            Place::Bundled(skill) => {
                let folder = self.environment.state().join("content");
                skill
                    .unpack(&folder)
                    .map_err(|source| SkillLookupError::NotUnpacked { name, folder, source }.into())
            }
            Place::Remote(_) => Err(SkillLookupError::NotFetched { name }.into()),
        }
    }

    /// Returns the folder of a skill; a bundled one is unpacked first, one of a server fetched.
    ///
    /// # Errors
    ///
    /// When it cannot be unpacked or fetched.
    pub async fn folder(&self, entry: &Entry) -> Result<PathBuf, AppError> {
        match &entry.place {
            Place::Remote(skill) => Ok(self.remote_folder(skill).await?),
            _ => self.local_folder(entry),
        }
    }

    /// Reads the folder of a skill of this machine into a tree that can be staged.
    ///
    /// # Errors
    ///
    /// When it cannot be read, is not what was trusted, or is on a server.
    pub fn local_tree(&self, entry: &Entry, digests: &DigestCache) -> Result<Tree, AppError> {
        let folder = self.local_folder(entry)?;
        let _working = self.reading(entry);
        Ok(read_entry(entry, &folder, digests)?)
    }

    /// Reads the folder of a skill into a tree that can be staged. Nothing that was remembered of the files of a
    /// server's skill is believed.
    ///
    /// # Errors
    ///
    /// When it cannot be read or fetched, or is not what was trusted or what its server told.
    pub async fn tree(&self, entry: &Entry, digests: &DigestCache) -> Result<Tree, AppError> {
        let Some(skill) = entry.remote() else { return self.local_tree(entry, digests) };
        let folder = self.remote_folder(skill).await?;
        let _working = self.reading(entry);
        let tree = read_tree(entry.name.as_str(), &folder, &DigestCache::in_memory())
            .map_err(EntryTreeError::from)?;
        remote::compare(skill, &tree)?;
        Ok(tree)
    }

    /// Reads the skills of these names that a run may see.
    ///
    /// # Errors
    ///
    /// When one is not there, may not be used, or cannot be read.
    pub async fn trees(&self, snapshot: &Snapshot, names: &[&str]) -> Result<Vec<Tree>, AppError> {
        let digests = self.digests();
        let mut trees = Vec::new();
        for name in names {
            let entry = find(snapshot, name)?;
            if !entry.verdict.is_eligible() {
                return Err(SkillLookupError::Blocked { entry: Box::new(entry.clone()) }.into());
            }
            trees.push(self.tree(entry, &digests).await?);
        }
        digests.save();
        Ok(trees)
    }

    fn reading(&self, entry: &Entry) -> Box<dyn crate::OngoingActivity> {
        self.reporter.begin(&Activity::ReadingSkill { name: entry.name.to_string() })
    }
}

/// Returns the error of a name that leads to no skill.
fn unreadable(snapshot: &Snapshot, name: &str) -> SkillLookupError {
    let in_folder = |problem: &&Problem| {
        let folder = problem.path.parent().and_then(Path::file_name);
        problem.severity == Severity::Error && folder.is_some_and(|folder| folder == name)
    };
    let (found, name) = (snapshot.problems.iter().find(in_folder), name.to_owned());
    match found {
        Some(problem) => SkillLookupError::Unreadable { name, problem: Box::new(problem.clone()) },
        None => {
            let nearest = nearest(snapshot, &name).map(str::to_owned);
            SkillLookupError::Missing { name, nearest }
        }
    }
}

/// Returns the name that contains what was asked for, differs by a slip of the finger, or begins alike.
fn nearest<'a>(snapshot: &'a Snapshot, name: &str) -> Option<&'a str> {
    let names = || snapshot.entries.iter().map(|entry| entry.name.as_str());
    let wanted = name.to_lowercase();
    // Nearly every name has a single letter in it.
    wanted.chars().nth(1)?;
    let start: String = wanted.chars().take(3).collect();
    names()
        .find(|other| other.to_lowercase().contains(&wanted) || wanted.contains(other))
        .or_else(|| names().find(|other| edit_distance(other, &wanted) <= MAX_SLIPS))
        .or_else(|| names().find(|other| other.starts_with(&start)))
}
