//! The files of a project's skill as they were when it was trusted.
//!
//! A snapshot is a moment: what it judged may be something else when a skill is used. So an entry carries the digests
//! that were trusted, and whoever reads its folder for a model or a run compares what was read with them. Skills that are
//! trusted as they were at the start are digested when they are used first (`untouched.rs`).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use thiserror::Error;

use crate::advice::SkillAdvice;
use crate::discover::Found;
use crate::files::{Digest, DigestCache, FileDigests, TreeDigests, combine};
use crate::library::trust::{
    FileChange, SKILL_FILE, changes, is_header_of, with_linked_skill_file,
};
use crate::library::untouched::{SkillShelf, StartTime, UntouchedSkill};

/// The files of a skill that a person trusts, by their digests. Clones share them.
#[derive(Clone, Debug)]
pub struct TrustedFiles(Arc<FileTrust>);

#[derive(Debug)]
struct FileTrust {
    /// Set from the first, or when an untouched skill is used first.
    digests: OnceLock<FileDigests>,
    untouched: Option<UntouchedSkill>,
}

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

#[derive(Debug)]
struct Sight {
    start: StartTime,
    /// By the folder of a skill.
    seen: Mutex<HashMap<OsString, TrustedFiles>>,
    /// By the folder above that of a skill; none where skills have to be listed.
    shelves: Mutex<HashMap<OsString, Option<SkillShelf>>>,
    is_over: AtomicBool,
}

impl Default for Sight {
    fn default() -> Self {
        let (seen, shelves) = (Mutex::default(), Mutex::default());
        Self { start: StartTime::now(), seen, shelves, is_over: AtomicBool::default() }
    }
}

impl TrustedFiles {
    pub(super) fn new(files: FileDigests) -> Self {
        Self(Arc::new(FileTrust { digests: files.into(), untouched: None }))
    }

    fn untouched(skill: UntouchedSkill) -> Self {
        Self(Arc::new(FileTrust { digests: OnceLock::new(), untouched: Some(skill) }))
    }

    /// The digests of all files, by path, if they are known.
    pub(super) fn known(&self) -> Option<&FileDigests> {
        self.0.digests.get()
    }

    /// The skill, as long as its digests are not known.
    pub(super) fn unread(&self) -> Option<&UntouchedSkill> {
        self.0.untouched.as_ref().filter(|_| self.known().is_none())
    }

    /// The digests of all files, by path.
    fn files(&self, cache: &DigestCache) -> Result<&FileDigests, Vec<FileChange>> {
        match (self.known(), &self.0.untouched) {
            (Some(files), _) => Ok(files),
            (None, Some(skill)) => {
                let files = skill.digests(cache)?;
                Ok(self.0.digests.get_or_init(|| files))
            }
            (None, None) => Err(vec![FileChange::NewSkill]),
        }
    }

    /// Adds what tells these files from others, which does not depend on whether they were read.
    pub(super) fn add_to(&self, part: &mut impl FnMut(&[u8])) {
        if let Some(skill) = &self.0.untouched {
            return part(skill.header.as_bytes());
        }
        for (path, digest) in self.known().into_iter().flatten() {
            part(path.as_bytes());
            part(digest.as_bytes());
        }
    }

    /// Whether a tree of this digest ([`TreeDigests::whole`], in hexadecimal digits) has these files and no others. A
    /// `SKILL.md` that is a link to elsewhere is trusted and part of no tree.
    pub fn are_those_of(&self, digest: &str) -> bool {
        let Ok(files) = self.files(&DigestCache::in_memory()) else { return false };
        let in_listing = |(path, _): &(&String, &Digest)| path.as_str() != SKILL_FILE;
        let without_link = || files.iter().filter(in_listing).map(|(path, it)| (path.clone(), *it));
        combine(files).to_string() == digest
            || combine(&without_link().collect()).to_string() == digest
    }

    /// Returns whether a `SKILL.md` whose bytes have this digest is the one that was trusted.
    pub(crate) fn has_skill_file(&self, file: &Path, digest: Digest) -> bool {
        match (self.known(), &self.0.untouched) {
            (Some(files), _) => is_header_of(digest, file, files),
            (None, skill) => skill.as_ref().is_some_and(|skill| skill.header == digest),
        }
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
        let changed = |changes| ChangedSkill { skill: skill.to_owned(), changes };
        let trusted = self.files(digests).map_err(changed)?;
        if *trusted == now.entries {
            return Ok(());
        }
        let changes = match with_linked_skill_file(folder, now.entries.clone(), digests) {
            Ok(now) if now == *trusted => return Ok(()),
            Ok(now) => changes(trusted, &now),
            Err(error) => vec![FileChange::Unreadable(error.to_string())],
        };
        Err(changed(changes))
    }
}

impl ChangedSkill {
    /// The advice to the person who trusted the skill.
    pub const REMEDY: SkillAdvice = SkillAdvice::TrustChanges;
}

impl FirstLook {
    /// Says that the first look is over: whatever is found later was not there.
    pub fn end(&self) {
        if lock(&self.0.shelves).values().any(Option::is_some) {
            self.0.start.pass();
        }
        self.0.is_over.store(true, Ordering::Relaxed);
    }

    /// The files of a skill as they were at the first look, which is now if it is not over; none if the skill was not
    /// there then.
    pub(super) fn files(&self, folder: &Path, now: &FileDigests) -> Option<TrustedFiles> {
        if let Some(files) = self.seen(folder) {
            return Some(files);
        }
        if self.0.is_over.load(Ordering::Relaxed) {
            return None;
        }
        Some(self.add(folder, TrustedFiles::new(now.clone())))
    }

    /// The files of a skill that was seen before.
    pub(super) fn seen(&self, folder: &Path) -> Option<TrustedFiles> {
        lock(&self.0.seen).get(folder.as_os_str()).cloned()
    }

    /// The files of a skill that does not have to be read to be trusted as it is at the first look; none once that is over,
    /// and for skills that were seen before.
    pub(super) fn untouched(&self, found: &Found) -> Option<TrustedFiles> {
        let start = self.0.start;
        let is_candidate = found.is_direct && start.is_after(found.identity.changed());
        if !is_candidate || self.0.is_over.load(Ordering::Relaxed) {
            return None;
        }
        let folder = found.folder();
        let (header, shelf) = (found.digest?, self.shelf(folder.parent()?)?);
        match lock(&self.0.seen).entry(folder.as_os_str().to_owned()) {
            Entry::Occupied(_) => None,
            Entry::Vacant(unseen) => {
                let skill = UntouchedSkill { file: found.file.clone(), header, shelf, start };
                Some(unseen.insert(TrustedFiles::untouched(skill)).clone())
            }
        }
    }

    fn shelf(&self, folder: &Path) -> Option<SkillShelf> {
        let mut shelves = lock(&self.0.shelves);
        if let Some(shelf) = shelves.get(folder.as_os_str()) {
            return *shelf;
        }
        let shelf = SkillShelf::at(folder);
        shelves.insert(folder.as_os_str().to_owned(), shelf);
        shelf
    }

    /// Adds a skill, unless another thread has.
    fn add(&self, folder: &Path, files: TrustedFiles) -> TrustedFiles {
        let folder = folder.as_os_str().to_owned();
        lock(&self.0.seen).entry(folder).or_insert(files).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listed(changes: &[FileChange]) -> String {
    changes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
