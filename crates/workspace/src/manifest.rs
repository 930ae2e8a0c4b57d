//! The manifest of a staged tree: every name, kind, mode and SHA-256 that belongs to it.
//!
//! Staged content and its copies lie in folders of the user, where a program on the host can write. So both are
//! compared with their manifest each time they are used. Content is read for that: sizes and times can be restored by
//! whoever changed a file, and a record of them beside the tree could be rewritten with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::layout::{INPUTS, venv};
use crate::stage::{Tree, TreeEntry, TreeKind};
use crate::staged_entries::StagedEntries;

/// Largest manifest that is read; one of 100,000 files has about 20 MB.
const MAX_BYTES: u64 = 64 << 20;
/// Mode of folders in staged trees and their copies: whatever a program adds would be taken for a part of the skill.
pub(crate) const FOLDER_MODE: u32 = 0o555;
/// Most paths that do not belong to a tree and are listed; a tree with as many is emptied and made again.
pub(crate) const MAX_EXTRA: usize = 1_000;
/// Bits of a mode that are compared.
const MODE_BITS: u32 = 0o7777;

/// The expected state of a staged tree, with the links that metier puts in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    entries: BTreeMap<String, TreeKind>,
    folders: BTreeSet<String>,
}

/// A path at which a tree is not what its manifest says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deviation {
    /// Path from the folder of the tree; empty for that folder itself.
    pub(crate) path: PathBuf,
    pub(crate) kind: DeviationKind,
}

/// The way in which a path deviates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DeviationKind {
    /// It belongs to the tree and is missing, or is something else.
    Wrong,
    /// It does not belong to the tree.
    Extra,
    /// It is a folder of the tree with another mode.
    Mode,
}

/// The form in which a manifest is kept.
#[derive(Debug, Serialize, Deserialize)]
struct StoredManifest {
    entries: Vec<TreeEntry>,
}

impl Manifest {
    /// Returns the manifest of a tree as it will be staged.
    pub(crate) fn of(tree: &Tree) -> Self {
        let own = StagedEntries::of(tree).staged.into_iter();
        let mut entries: BTreeMap<String, TreeKind> =
            own.map(|entry| (entry.path.clone(), entry.kind.clone())).collect();
        for (name, target) in links(&tree.name) {
            entries.insert(name.to_owned(), TreeKind::Link { target });
        }
        Self::new(entries)
    }

    fn new(entries: BTreeMap<String, TreeKind>) -> Self {
        let above = |path: &String| {
            let parents = path.match_indices('/').map(|(at, _)| path[..at].to_owned());
            parents.collect::<Vec<_>>()
        };
        let folders = entries.keys().flat_map(above).collect();
        Self { entries, folders }
    }

    /// Reads the manifest that is kept in a file; nothing if there is none that can be understood.
    pub(crate) fn read(file: &Path) -> io::Result<Option<Self>> {
        let file = match open_for_reading(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut text = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut text)?;
        let Ok(stored) = serde_json::from_slice::<StoredManifest>(&text) else { return Ok(None) };
        let entries = stored.entries.into_iter().map(|entry| (entry.path, entry.kind));
        Ok(Some(Self::new(entries.collect())))
    }

    /// Keeps the manifest beside the staged tree that it is of, unless it is there.
    pub(crate) fn keep_beside(&self, staged: &Path) -> io::Result<()> {
        let file = beside(staged);
        if Self::read(&file)?.as_ref() == Some(self) {
            return Ok(());
        }
        let entry = |(path, kind): (&String, &TreeKind)| TreeEntry {
            path: path.clone(),
            kind: kind.clone(),
        };
        let stored = StoredManifest { entries: self.entries.iter().map(entry).collect() };
        let beside = file.with_file_name(format!(".manifest-{}", uuid::Uuid::now_v7().simple()));
        let mut made = File::options().write(true).create_new(true).mode(0o600).open(&beside)?;
        made.write_all(&serde_json::to_vec(&stored)?)?;
        fs::rename(beside, file)
    }

    /// Returns the entry at a path.
    pub(crate) fn entry(&self, path: &str) -> Option<&TreeKind> {
        self.entries.get(path)
    }

    /// Returns whether a path is a folder of the tree.
    pub(crate) fn is_folder(&self, path: &str) -> bool {
        path.is_empty() || self.folders.contains(path)
    }

    /// Compares a folder with the manifest and returns what deviates, folders before what is in them. It stops at
    /// [`MAX_EXTRA`] paths that do not belong to the tree.
    pub(crate) fn compare(&self, folder: &Path) -> io::Result<Vec<Deviation>> {
        let mut comparison = Comparison {
            manifest: self,
            seen: BTreeSet::new(),
            deviations: BTreeSet::new(),
            extra: 0,
            buffer: vec![0; 64 << 10],
        };
        comparison.folder(folder, "")?;
        let Comparison { seen, mut deviations, .. } = comparison;
        let expected = self.folders.iter().chain(self.entries.keys());
        let missing = expected.filter(|path| !seen.contains(*path)).map(PathBuf::from);
        let wrong = |path| Deviation { path, kind: DeviationKind::Wrong };
        deviations.extend(missing.map(wrong));
        Ok(deviations.into_iter().collect())
    }
}

/// Returns the links that metier puts into the staged tree of a skill, with their targets.
pub(crate) fn links(skill: &str) -> [(&'static str, String); 4] {
    [
        ("out", "../../out".to_owned()),
        ("work", "../../work".to_owned()),
        ("inputs", format!("../../{INPUTS}")),
        (".venv", format!("../../{}", venv(skill))),
    ]
}

/// Returns the mode of a staged file.
pub(crate) fn file_mode(executable: bool) -> u32 {
    if executable { 0o555 } else { 0o444 }
}

/// Opens a file that is no link, and does not wait for what is no file.
pub(crate) fn open_for_reading(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    File::options().read(true).custom_flags(flags).open(path)
}

/// One comparison of a folder with a manifest.
struct Comparison<'a> {
    manifest: &'a Manifest,
    seen: BTreeSet<String>,
    deviations: BTreeSet<Deviation>,
    /// How many of them do not belong to the tree.
    extra: usize,
    buffer: Vec<u8>,
}

impl Comparison<'_> {
    /// Compares a folder that is a real one. Folders that do not belong to the tree are not entered, so that depth and
    /// number of what is looked at are those of the manifest.
    fn folder(&mut self, folder: &Path, path: &str) -> io::Result<()> {
        if mode(&fs::symlink_metadata(folder)?) != FOLDER_MODE {
            self.add(path.into(), DeviationKind::Mode);
        }
        let listed = match fs::read_dir(folder) {
            // It has another mode, and is listed after that was repaired.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            listed => listed?,
        };
        for entry in listed {
            if self.extra >= MAX_EXTRA {
                return Ok(());
            }
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                self.add(Path::new(path).join(&name), DeviationKind::Extra);
                continue;
            };
            let inside = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            self.entry(&entry.path(), entry.file_type()?, inside)?;
        }
        Ok(())
    }

    fn entry(&mut self, place: &Path, kind: fs::FileType, path: String) -> io::Result<()> {
        if kind.is_dir() && self.manifest.folders.contains(&path) {
            self.folder(place, &path)?;
            self.seen.insert(path);
            return Ok(());
        }
        let is_right = match self.manifest.entries.get(&path) {
            None if self.manifest.folders.contains(&path) => false,
            None => {
                self.add(path.into(), DeviationKind::Extra);
                return Ok(());
            }
            Some(TreeKind::Link { target }) => {
                kind.is_symlink() && fs::read_link(place)? == Path::new(target)
            }
            Some(TreeKind::File { sha256, executable }) => {
                kind.is_file() && self.is_file(place, *executable, sha256)?
            }
        };
        if is_right {
            self.seen.insert(path);
        }
        Ok(())
    }

    /// Returns whether a file has a mode and a content.
    fn is_file(&mut self, place: &Path, executable: bool, sha256: &[u8; 32]) -> io::Result<bool> {
        // Not readable, replaced by a link or removed: another one in any case.
        let Ok(mut file) = open_for_reading(place) else { return Ok(false) };
        let metadata = file.metadata()?;
        if !metadata.is_file() || mode(&metadata) != file_mode(executable) {
            return Ok(false);
        }
        let mut hasher = Sha256::new();
        loop {
            let count = file.read(&mut self.buffer)?;
            if count == 0 {
                return Ok(hasher.finalize().as_slice() == sha256);
            }
            hasher.update(&self.buffer[..count]);
        }
    }

    fn add(&mut self, path: PathBuf, kind: DeviationKind) {
        self.extra += usize::from(kind == DeviationKind::Extra);
        self.deviations.insert(Deviation { path, kind });
    }
}

fn mode(metadata: &Metadata) -> u32 {
    metadata.permissions().mode() & MODE_BITS
}

/// Returns the file beside a staged tree that keeps its manifest.
pub(crate) fn beside(staged: &Path) -> PathBuf {
    // No name of a tree has this sign.
    let mut name = staged.file_name().unwrap_or_default().to_owned();
    name.push("~manifest");
    staged.with_file_name(name)
}
