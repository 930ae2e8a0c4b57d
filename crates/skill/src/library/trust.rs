//! Trust in projects, pinned to what their skills were when a person looked at them.
//!
//! A project is trusted with a digest of every file of its skills. A skill that
//! differs, or was not there, is not trusted until the project is trusted again. That is judged when a snapshot is
//! built, and again when the skill is used (`trusted_files.rs`).
//! Skills of other servers are trusted one by one (`remote_trust.rs`), in the same file.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::cache::make_private_folder;
use crate::discover::Found;
use crate::files::{self, Digest, DigestCache, FileDigests, entry_digest};
use crate::library::remote_trust::Servers;
use crate::library::trusted_files::{FirstLook, TrustedFiles};

pub(super) const SKILL_FILE: &str = "SKILL.md";
/// Largest trust file that is read.
const MAX_BYTES: u64 = 64 << 20;
/// What the trust file is written as while projects alone are trusted.
const VERSION: u32 = 1;
/// What it is written as with skills of other servers, which readers of the former would lose.
const VERSION_WITH_SERVERS: u32 = 2;
/// Changed files that are named; the rest is counted.
const MAX_NAMED_CHANGES: usize = 8;

/// Trusted projects by their root, and trusted skills of servers.
#[derive(Clone, Debug, Default)]
pub struct TrustStore {
    file: PathBuf,
    projects: BTreeMap<PathBuf, TrustedProject>,
    pub(super) servers: Servers,
}

/// What the skills of a project were when it was trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedProject {
    /// Digests of files, by the skill's folder relative to the project.
    pub skills: BTreeMap<String, FileDigests>,
}

/// Whether a skill may be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustState {
    /// It may.
    Trusted,
    /// Nobody trusted its project.
    Untrusted,
    /// It is not what was trusted.
    Changed(Vec<FileChange>),
}

/// A file that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each carries the path it is about")]
pub enum FileChange {
    Added(String),
    Modified(String),
    Removed(String),
    /// Something was added, removed or renamed in a folder.
    Names(String),
    /// So many more.
    More(usize),
    /// The skill was not there.
    NewSkill,
    /// The folder above it is another one.
    OtherFolder,
    /// The files cannot be read.
    Unreadable(String),
    /// Its server tells something else of its header.
    Header,
}

/// How projects are trusted in this run.
#[derive(Clone, Copy, Debug)]
pub enum TrustPolicy<'a> {
    /// By what was recorded.
    Recorded {
        /// The records.
        store: &'a TrustStore,
        /// Digests of files that were read before.
        digests: &'a DigestCache,
    },
    /// By what was recorded and, for the rest, as they were when this run first looked: the person said so for this run.
    AsFirstSeen {
        /// The records.
        store: &'a TrustStore,
        /// Digests of files that were read before.
        digests: &'a DigestCache,
        /// The first look.
        first: &'a FirstLook,
    },
    /// All of them, whatever becomes of them. Entries carry no digests, so nothing is compared when they are used: for
    /// programs that have no skills but their own.
    All,
}

/// A skill of a project, judged.
#[derive(Clone, Debug)]
pub(super) struct TrustJudgement {
    pub(super) state: TrustState,
    /// The files that may be used, if any may and they are known.
    pub(super) files: Option<TrustedFiles>,
}

/// Why trust cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The file is not what we wrote.
    #[error("the trust file `{}` cannot be understood", path.display())]
    Broken {
        /// Which.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
    /// The file cannot be read or written.
    #[error("cannot use the trust file `{}`", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    projects: BTreeMap<PathBuf, TrustedProject>,
    #[serde(default, skip_serializing_if = "Servers::is_empty")]
    servers: Servers,
}

impl TrustStore {
    /// Reads the store; an absent one trusts nobody.
    ///
    /// # Errors
    ///
    /// When there is one that cannot be read: then nobody is trusted either, and that is said.
    pub fn load(file: &Path) -> Result<Self, TrustError> {
        let broken = |source| TrustError::Broken { path: file.to_owned(), source };
        let text = match fs::metadata(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { file: file.to_owned(), ..Self::default() });
            }
            Ok(metadata) if metadata.len() > MAX_BYTES => Err(io::ErrorKind::FileTooLarge.into()),
            _ => fs::read_to_string(file),
        }
        .map_err(|source| TrustError::Io { path: file.to_owned(), source })?;
        let stored: Stored = serde_json::from_str(&text).map_err(broken)?;
        if ![VERSION, VERSION_WITH_SERVERS].contains(&stored.version) {
            let message = format!("version {} is not known", stored.version);
            return Err(broken(serde::de::Error::custom(message)));
        }
        let Stored { projects, servers, .. } = stored;
        Ok(Self { file: file.to_owned(), projects, servers })
    }

    /// The record of a project.
    pub fn project(&self, root: &Path) -> Option<&TrustedProject> {
        self.projects.get(root)
    }

    /// Every trusted project.
    pub fn projects(&self) -> impl Iterator<Item = (&Path, &TrustedProject)> {
        self.projects.iter().map(|(root, project)| (root.as_path(), project))
    }

    /// Trusts a project as it is now, replacing what was known of it.
    pub fn trust(&mut self, root: &Path, project: TrustedProject) {
        self.projects.insert(root.to_owned(), project);
    }

    /// Forgets a project; `false` if it was not trusted.
    pub fn revoke(&mut self, root: &Path) -> bool {
        self.projects.remove(root).is_some()
    }

    /// Writes the store, so that a crash leaves the old or the new one.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn save(&self) -> Result<(), TrustError> {
        let failed = |source| TrustError::Io { path: self.file.clone(), source };
        let folder = self.file.parent().unwrap_or(Path::new("."));
        make_private_folder(folder).map_err(failed)?;
        let mut beside = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        let (projects, servers) = (self.projects.clone(), self.servers.clone());
        let version = if servers.is_empty() { VERSION } else { VERSION_WITH_SERVERS };
        let stored = Stored { version, projects, servers };
        serde_json::to_writer_pretty(&mut beside, &stored)
            .map_err(|error| failed(io::Error::from(error)))?;
        beside.write_all(b"\n").map_err(failed)?;
        beside.as_file().sync_all().map_err(failed)?;
        beside.persist(&self.file).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

impl TrustedProject {
    /// Records the skills in some folders of a project. Every file is read: a person trusts what is there, and not what
    /// was remembered of it.
    ///
    /// # Errors
    ///
    /// When a file of theirs cannot be read.
    pub fn record<'a>(root: &Path, folders: impl Iterator<Item = &'a Path>) -> io::Result<Self> {
        let (mut skills, digests) = (BTreeMap::new(), DigestCache::in_memory());
        for folder in folders {
            skills.insert(key(root, folder), file_digests(folder, &digests)?);
        }
        Ok(Self { skills })
    }

    /// Judges a skill by its files as they are now.
    fn judge(&self, root: &Path, folder: &Path, now: FileDigests) -> TrustJudgement {
        let changes = match self.skills.get(&key(root, folder)) {
            None => vec![FileChange::NewSkill],
            Some(before) if now == *before => return TrustJudgement::trusted(now),
            Some(before) => changes(before, &now),
        };
        TrustJudgement::changed(changes)
    }
}

impl TrustJudgement {
    /// A skill that is no part of a project, or whose trust is judged elsewhere.
    pub(super) fn without_files(state: TrustState) -> Self {
        Self { state, files: None }
    }

    fn trusted(files: FileDigests) -> Self {
        Self { state: TrustState::Trusted, files: Some(TrustedFiles::new(files)) }
    }

    fn changed(changes: Vec<FileChange>) -> Self {
        Self::without_files(TrustState::Changed(changes))
    }
}

impl TrustPolicy<'_> {
    /// Judges whether a skill of a project may be trusted. `header` is the digest of the `SKILL.md` that the header was
    /// parsed from: a header of other bytes than those that are judged is not trusted.
    pub(super) fn judge(
        &self,
        project: &Path,
        file: &Path,
        header: Option<Digest>,
    ) -> TrustJudgement {
        let (store, digests) = match self {
            Self::All => return TrustJudgement::without_files(TrustState::Trusted),
            Self::Recorded { store, digests } | Self::AsFirstSeen { store, digests, .. } => {
                (store, digests)
            }
        };
        let record = store.project(project);
        if record.is_none() && matches!(self, Self::Recorded { .. }) {
            return TrustJudgement::without_files(TrustState::Untrusted);
        }
        let folder = file.parent().unwrap_or(project);
        let untouched = match self.judge_unread(folder, header) {
            Some(judgement) if record.is_none() || judgement.state == TrustState::Trusted => {
                return judgement;
            }
            untouched => untouched,
        };
        let now = match file_digests(folder, digests) {
            Ok(now) => now,
            Err(error) => {
                return TrustJudgement::changed(vec![FileChange::Unreadable(error.to_string())]);
            }
        };
        if !header.is_some_and(|header| is_header_of(header, file, &now)) {
            return TrustJudgement::changed(vec![FileChange::Modified(name_of(file))]);
        }
        let recorded = |now| record.map(|record| record.judge(project, folder, now));
        match (self, untouched) {
            (_, Some(changed)) => {
                recorded(now).filter(|it| it.state == TrustState::Trusted).unwrap_or(changed)
            }
            (Self::AsFirstSeen { first, .. }, None) => {
                judge_first_seen(first, folder, now, recorded)
            }
            _ => recorded(now)
                .unwrap_or_else(|| TrustJudgement::without_files(TrustState::Untrusted)),
        }
    }

    /// Judges a skill that is trusted as it is at the first look, if it does not have to be read for that.
    pub(super) fn judge_untouched(&self, found: &Found) -> Option<TrustJudgement> {
        let Self::AsFirstSeen { first, .. } = self else { return None };
        let files = first.untouched(found)?;
        Some(TrustJudgement { state: TrustState::Trusted, files: Some(files) })
    }

    /// Judges a skill that was seen at the first look and has not been read since.
    fn judge_unread(&self, folder: &Path, header: Option<Digest>) -> Option<TrustJudgement> {
        let Self::AsFirstSeen { first, .. } = self else { return None };
        let files = first.seen(folder)?;
        let checked = files.unread()?.check(header);
        Some(match checked {
            Ok(()) => TrustJudgement { state: TrustState::Trusted, files: Some(files) },
            Err(changes) => TrustJudgement::changed(changes),
        })
    }
}

/// Judges a skill by how it was first seen and, if it is something else now, by what was recorded.
fn judge_first_seen(
    first: &FirstLook,
    folder: &Path,
    now: FileDigests,
    recorded: impl FnOnce(FileDigests) -> Option<TrustJudgement>,
) -> TrustJudgement {
    let seen = first.files(folder, &now);
    let known = seen.as_ref().and_then(TrustedFiles::known);
    if known == Some(&now) {
        return TrustJudgement { state: TrustState::Trusted, files: seen };
    }
    let changes = known.map_or_else(|| vec![FileChange::NewSkill], |known| changes(known, &now));
    let recorded = recorded(now).filter(|it| it.state == TrustState::Trusted);
    recorded.unwrap_or_else(|| TrustJudgement::changed(changes))
}

impl fmt::Display for FileChange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added(path) => write!(formatter, "{path} (new)"),
            Self::Modified(path) => write!(formatter, "{path}"),
            Self::Removed(path) => write!(formatter, "{path} (gone)"),
            Self::Names(path) => write!(formatter, "{path} (something came or went)"),
            Self::More(count) => write!(formatter, "{count} more"),
            Self::NewSkill => write!(formatter, "the whole skill is new"),
            Self::OtherFolder => write!(formatter, "the folder that it is in"),
            Self::Unreadable(why) => write!(formatter, "its files cannot be read ({why})"),
            Self::Header => write!(formatter, "what its server tells of its header"),
        }
    }
}

fn key(root: &Path, folder: &Path) -> String {
    folder.strip_prefix(root).unwrap_or(folder).to_string_lossy().into_owned()
}

/// The digests of a skill's files, and of its `SKILL.md` also where that is a link to elsewhere.
fn file_digests(folder: &Path, digests: &DigestCache) -> io::Result<FileDigests> {
    let tree = files::list(folder).map_err(io::Error::other)?;
    with_linked_skill_file(folder, files::digest_of(&tree, digests)?.entries, digests)
}

/// Returns whether a `SKILL.md` of this digest is the one among the files of its skill.
pub(super) fn is_header_of(header: Digest, file: &Path, files: &FileDigests) -> bool {
    // A file of the listing, and a file outside the listing that a link leads to.
    let is_header = |it: &Digest| {
        *it == entry_digest("file", header)
            || *it == header
            || *it == entry_digest("executable", header)
    };
    let has = |path: &str| files.get(path).is_some_and(is_header);
    let name = name_of(file);
    has(&name) || files.contains_key(&name) && linked_path(file).is_some_and(|path| has(&path))
}

/// Returns where in the folder of a skill its `SKILL.md` leads, if it is a link that does.
fn linked_path(file: &Path) -> Option<String> {
    let real = fs::canonicalize(file).ok()?;
    let folder = fs::canonicalize(file.parent()?).ok()?;
    Some(real.strip_prefix(folder).ok()?.to_str()?.to_owned())
}

fn name_of(file: &Path) -> String {
    file.file_name().map_or(SKILL_FILE.into(), |it| it.to_string_lossy()).into_owned()
}

/// Adds the digest of a `SKILL.md` that is no part of the listing, because it is a link to elsewhere.
pub(super) fn with_linked_skill_file(
    folder: &Path,
    mut files: FileDigests,
    digests: &DigestCache,
) -> io::Result<FileDigests> {
    let skill_file = folder.join(SKILL_FILE);
    if !files.contains_key(SKILL_FILE) && skill_file.symlink_metadata().is_ok() {
        files.insert(SKILL_FILE.to_owned(), files::digest_of_file(&skill_file, digests)?);
    }
    Ok(files)
}

pub(super) fn changes(before: &FileDigests, now: &FileDigests) -> Vec<FileChange> {
    let mut changes = Vec::new();
    for (path, digest) in now {
        match before.get(path) {
            None => changes.push(FileChange::Added(path.clone())),
            Some(old) if old != digest => changes.push(FileChange::Modified(path.clone())),
            Some(_) => {}
        }
    }
    let gone = before.keys().filter(|path| !now.contains_key(*path));
    changes.extend(gone.map(|path| FileChange::Removed(path.clone())));
    shortened(changes)
}

/// The first of some changes, and how many more there are.
pub(super) fn shortened(mut changes: Vec<FileChange>) -> Vec<FileChange> {
    if changes.len() > MAX_NAMED_CHANGES {
        let more = changes.len() - MAX_NAMED_CHANGES;
        changes.truncate(MAX_NAMED_CHANGES);
        changes.push(FileChange::More(more));
    }
    changes
}
