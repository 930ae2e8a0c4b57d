//! The files of a project's skill as they were when it was trusted.
//!
//! A snapshot is a moment: what it judged may be something else when a skill is used. So an entry carries the digests
//! that were trusted, and whoever reads its folder for a model or a run compares what was read with them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;

use crate::advice::SkillAdvice;
use crate::files::{Digest, DigestCache, FileDigests, TreeDigests, combine};
use crate::library::trust::{
    FileChange, SKILL_FILE, changes, is_header_of, with_linked_skill_file,
};

/// The digests of the files of a skill that a person trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedFiles(Arc<FileDigests>);

/// The error of using a skill whose files are not those that were trusted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{skill}` changed since it was trusted: {}", listed(changes))]
pub struct ChangedSkill {
    /// The skill.
    pub skill: String,
    /// The files that differ.
    pub changes: Vec<FileChange>,
}

/// The files of projects' skills as they were at the first look of a run whose person trusts them unseen.
///
/// Clones share what was seen.
#[derive(Clone, Debug, Default)]
pub struct FirstLook(Arc<Sight>);

#[derive(Debug, Default)]
struct Sight {
    /// By the folder of a skill.
    seen: Mutex<BTreeMap<PathBuf, TrustedFiles>>,
    is_over: AtomicBool,
}

impl TrustedFiles {
    pub(super) fn new(files: FileDigests) -> Self {
        Self(Arc::new(files))
    }

    /// The digests of all files, by path.
    pub fn files(&self) -> &FileDigests {
        &self.0
    }

    /// Whether a tree of this digest ([`TreeDigests::whole`], in hexadecimal digits) has these files and no others. A
    /// `SKILL.md` that is a link to elsewhere is trusted and part of no tree.
    pub fn are_those_of(&self, digest: &str) -> bool {
        let in_listing = |(path, _): &(&String, &Digest)| path.as_str() != SKILL_FILE;
        let without_link =
            || self.0.iter().filter(in_listing).map(|(path, it)| (path.clone(), *it));
        combine(&self.0).to_string() == digest
            || combine(&without_link().collect()).to_string() == digest
    }

    /// Returns whether a `SKILL.md` whose bytes have this digest is the one that was trusted.
    pub(crate) fn has_skill_file(&self, file: &Path, digest: Digest) -> bool {
        is_header_of(digest, file, &self.0)
    }

    /// Compares what was read of a folder with what was trusted.
    ///
    /// # Errors
    ///
    /// When they differ, with the files that do.
    pub fn check(
        &self,
        skill: &str,
        (folder, now): (&Path, &TreeDigests),
        digests: &DigestCache,
    ) -> Result<(), ChangedSkill> {
        if *self.0 == now.entries {
            return Ok(());
        }
        let changes = match with_linked_skill_file(folder, now.entries.clone(), digests) {
            Ok(now) if now == *self.0 => return Ok(()),
            Ok(now) => changes(&self.0, &now),
            Err(error) => vec![FileChange::Unreadable(error.to_string())],
        };
        Err(ChangedSkill { skill: skill.to_owned(), changes })
    }
}

impl ChangedSkill {
    /// The advice to the person who trusted the skill.
    pub const REMEDY: SkillAdvice = SkillAdvice::TrustChanges;
}

impl FirstLook {
    /// Says that the first look is over: whatever is found later was not there.
    pub fn end(&self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }

    /// The files of a skill as they were at the first look, which is now if it is not over; none if the skill was not
    /// there then.
    pub(super) fn files(&self, folder: &Path, now: &FileDigests) -> Option<TrustedFiles> {
        let mut seen = self.0.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(files) = seen.get(folder) {
            return Some(files.clone());
        }
        if self.0.is_over.load(Ordering::Relaxed) {
            return None;
        }
        let files = TrustedFiles::new(now.clone());
        seen.insert(folder.to_owned(), files.clone());
        Some(files)
    }
}

fn listed(changes: &[FileChange]) -> String {
    changes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
