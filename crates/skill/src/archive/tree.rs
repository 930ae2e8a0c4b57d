//! The folder being filled.
//!
//! A [`Tree`] knows every path it has made, so it can refuse a second file at one path, a file below
//! another file, and anything below a link. Links are made last: while files are written the folder
//! holds none, and no name can be redirected. It also keeps the accounts of bytes and entries.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Read, Write};
use std::path::PathBuf;

use cap_std::fs::{Dir, DirBuilder, File, OpenOptions};

use super::error::shown;
use super::path::{EntryPath, folded};
use super::{ArchiveError, Format, Limits, LinkRule, Refusal, UnpackRequest};

/// A folder under construction and the accounts of what went in.
pub(super) struct Tree<'a> {
    folder: Dir,
    format: Format,
    limits: &'a Limits,
    strip: usize,
    link_rule: LinkRule,
    ceiling: Ceiling,
    taken: HashMap<String, Taken>,
    links: Vec<(EntryPath, String)>,
    buffer: Vec<u8>,
    entries: usize,
    pub(super) files: u64,
    pub(super) folders: u64,
    pub(super) skipped: u64,
    pub(super) bytes: u64,
    charged: u64,
}

/// An entry of an archive, once its name has been judged.
pub(super) struct Item {
    /// Where it goes.
    pub(super) path: EntryPath,
    /// Its name, made safe to show.
    pub(super) shown: String,
}

/// The contents of a file in the archive.
pub(super) struct Contents<'a> {
    /// Yields the unpacked bytes.
    pub(super) reader: &'a mut dyn Read,
    /// How many bytes the archive promises.
    pub(super) declared: u64,
    /// The permission bits that the archive asks for.
    pub(super) mode: u32,
}

/// What stands at a path.
struct Taken {
    path: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    File,
    Link,
}

/// How many bytes may come out, and what to say when more do.
struct Ceiling {
    bytes: u64,
    is_ratio: bool,
}

impl<'a> Tree<'a> {
    /// Starts with an empty folder, for an archive of so many bytes.
    pub(super) fn new(
        folder: Dir,
        format: Format,
        request: &UnpackRequest<'a>,
        archive_bytes: u64,
    ) -> Self {
        let limits = request.limits;
        Self {
            folder,
            format,
            limits,
            strip: request.strip,
            link_rule: request.links,
            ceiling: Ceiling::new(limits, archive_bytes),
            taken: HashMap::new(),
            links: Vec::new(),
            buffer: vec![0; COPY_BYTES],
            entries: 0,
            files: 0,
            folders: 0,
            skipped: 0,
            bytes: 0,
            charged: 0,
        }
    }

    /// Counts an entry of the archive and judges its name.
    ///
    /// Returns `None` for what is counted and left out: the litter of macOS, and what is not below
    /// the leading folders that are left out.
    pub(super) fn admit(&mut self, name: &[u8]) -> Result<Option<Item>, ArchiveError> {
        self.count_entry()?;
        let shown = shown(name);
        match EntryPath::parse(name, self.limits) {
            Ok(path) if path.is_finder_litter() => {
                self.skipped += 1;
                Ok(None)
            }
            Ok(path) if self.strip == 0 => Ok(Some(Item { path, shown })),
            Ok(path) => match path.below(self.strip) {
                Some(path) => Ok(Some(Item { path, shown })),
                None => {
                    self.skipped += 1;
                    Ok(None)
                }
            },
            Err(reason) => Err(ArchiveError::Refused { entry: shown, reason }),
        }
    }

    /// Makes a folder; saying the same folder twice is fine.
    pub(super) fn add_folder(&mut self, item: &Item) -> Result<(), ArchiveError> {
        if item.path.is_root() {
            return Ok(());
        }
        self.take_ancestors(item)?;
        if self.take(item, item.path.as_str(), Kind::Folder)? {
            self.make_folder(item.path.as_str())?;
        }
        Ok(())
    }

    /// Writes a file and the folders above it.
    pub(super) fn add_file(
        &mut self,
        item: &Item,
        contents: &mut Contents<'_>,
    ) -> Result<(), ArchiveError> {
        self.claim(item, Kind::File)?;
        let path = item.path.as_str();
        let mut file = create_file(&self.folder, path, contents.mode)
            .map_err(|source| ArchiveError::Write { path: PathBuf::from(path), source })?;
        let written = self.copy(&item.shown, contents.reader, &mut file)?;
        if written != contents.declared {
            return Err(self.damaged(io::ErrorKind::UnexpectedEof.into()));
        }
        sync_file(&file)
            .map_err(|source| ArchiveError::Write { path: PathBuf::from(path), source })?;
        self.files += 1;
        self.bytes += written;
        Ok(())
    }

    /// Remembers a symbolic link, to be made when all files are written.
    pub(super) fn add_link(&mut self, item: &Item, target: &[u8]) -> Result<(), ArchiveError> {
        if self.link_rule == LinkRule::Refused {
            return Err(item.refused(Refusal::Link));
        }
        let target = item.path.check_link(target).map_err(|reason| item.refused(reason))?;
        self.claim(item, Kind::Link)?;
        self.links.push((item.path.clone(), target.to_owned()));
        Ok(())
    }

    /// Reads past the contents of an entry that was left out; they count all the same.
    pub(super) fn skip(&mut self, name: &[u8], reader: &mut dyn Read) -> Result<(), ArchiveError> {
        self.copy(&shown(name), reader, &mut io::sink()).map(drop)
    }

    /// Makes the links and waits until everything is on disk. Returns how many links there are.
    pub(super) fn finish(&mut self) -> Result<u64, ArchiveError> {
        for (path, target) in &self.links {
            make_link(&self.folder, target, path.as_str()).map_err(|source| {
                ArchiveError::Write { path: PathBuf::from(path.as_str()), source }
            })?;
        }
        sync_all(&self.folder)
            .map_err(|source| ArchiveError::Write { path: PathBuf::from("."), source })?;
        Ok(self.links.len() as u64)
    }

    /// Wraps what a reader of this archive said.
    pub(super) fn damaged(&self, source: io::Error) -> ArchiveError {
        ArchiveError::Damaged { format: self.format, source }
    }

    fn claim(&mut self, item: &Item, kind: Kind) -> Result<(), ArchiveError> {
        if item.path.is_root() {
            return Err(item.refused(Refusal::NoName));
        }
        self.take_ancestors(item)?;
        self.take(item, item.path.as_str(), kind).map(drop)
    }

    fn take_ancestors(&mut self, item: &Item) -> Result<(), ArchiveError> {
        for folder in item.path.ancestors() {
            if self.take(item, folder, Kind::Folder)? {
                self.count_entry()?;
                self.make_folder(folder)?;
            }
        }
        Ok(())
    }

    /// Claims a path; tells whether it is new. Only a folder may be claimed again.
    fn take(&mut self, item: &Item, path: &str, kind: Kind) -> Result<bool, ArchiveError> {
        match self.taken.entry(folded(path)) {
            Entry::Vacant(vacant) => {
                vacant.insert(Taken { path: path.to_owned(), kind });
                Ok(true)
            }
            Entry::Occupied(occupied) => match occupied.get() {
                there if there.path != path => {
                    Err(item.refused(Refusal::Collision { other: there.path.clone() }))
                }
                there if there.kind == Kind::Folder && kind == Kind::Folder => Ok(false),
                _ if path == item.path.as_str() => Err(item.refused(Refusal::Duplicate)),
                there => Err(item.refused(Refusal::NotInFolder { parent: there.path.clone() })),
            },
        }
    }

    fn make_folder(&mut self, path: &str) -> Result<(), ArchiveError> {
        self.folder
            .create_dir_with(path, &folder_builder())
            .map_err(|source| ArchiveError::Write { path: PathBuf::from(path), source })?;
        self.folders += 1;
        Ok(())
    }

    fn count_entry(&mut self) -> Result<(), ArchiveError> {
        self.entries += 1;
        if self.entries > self.limits.max_entries {
            return Err(ArchiveError::TooManyEntries { limit: self.limits.max_entries });
        }
        Ok(())
    }

    fn copy(
        &mut self,
        entry: &str,
        from: &mut dyn Read,
        to: &mut dyn Write,
    ) -> Result<u64, ArchiveError> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let outcome = self.copy_with(&mut buffer, entry, from, to);
        self.buffer = buffer;
        outcome
    }

    fn copy_with(
        &mut self,
        buffer: &mut [u8],
        entry: &str,
        from: &mut dyn Read,
        to: &mut dyn Write,
    ) -> Result<u64, ArchiveError> {
        let mut copied = 0;
        loop {
            let count = match from.read(buffer) {
                Ok(0) => return Ok(copied),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.damaged(error)),
            };
            copied += count as u64;
            self.charge(entry, copied, count as u64)?;
            to.write_all(&buffer[..count])
                .map_err(|source| ArchiveError::Write { path: PathBuf::from(entry), source })?;
        }
    }

    /// Books bytes that came out of the archive, before they are written.
    fn charge(&mut self, entry: &str, copied: u64, count: u64) -> Result<(), ArchiveError> {
        self.charged += count;
        let entry = || entry.to_owned();
        if copied > self.limits.max_file_bytes {
            return Err(ArchiveError::FileTooLarge {
                entry: entry(),
                limit: self.limits.max_file_bytes,
            });
        }
        if self.charged <= self.ceiling.bytes {
            return Ok(());
        }
        Err(if self.ceiling.is_ratio {
            ArchiveError::RatioTooHigh { entry: entry(), ratio: self.limits.max_ratio }
        } else {
            ArchiveError::TotalTooLarge { entry: entry(), limit: self.limits.max_total_bytes }
        })
    }
}

impl Item {
    /// Says which rule this entry breaks.
    pub(super) fn refused(&self, reason: Refusal) -> ArchiveError {
        ArchiveError::Refused { entry: self.shown.clone(), reason }
    }
}

impl Ceiling {
    /// The size of the archive is a fact, so the ratio is a plain number of bytes from the start.
    fn new(limits: &Limits, archive_bytes: u64) -> Self {
        let by_ratio = archive_bytes.saturating_mul(limits.max_ratio).max(limits.ratio_grace_bytes);
        Self {
            bytes: by_ratio.min(limits.max_total_bytes),
            is_ratio: by_ratio < limits.max_total_bytes,
        }
    }
}

/// Large enough that system calls do not matter, small enough for the stack of nobody.
const COPY_BYTES: usize = 64 * 1024;

#[cfg(unix)]
fn create_file(folder: &Dir, path: &str, mode: u32) -> io::Result<File> {
    use cap_std::fs::OpenOptionsExt;

    const OWNER_MAY_EXECUTE: u32 = 0o100;
    let mode = if mode & OWNER_MAY_EXECUTE == 0 { 0o644 } else { 0o755 };
    folder.open_with(path, OpenOptions::new().write(true).create_new(true).mode(mode))
}

#[cfg(not(unix))]
fn create_file(folder: &Dir, path: &str, _mode: u32) -> io::Result<File> {
    folder.open_with(path, OpenOptions::new().write(true).create_new(true))
}

#[cfg(unix)]
fn folder_builder() -> DirBuilder {
    use cap_std::fs::DirBuilderExt;

    let mut builder = DirBuilder::new();
    builder.mode(0o755);
    builder
}

#[cfg(not(unix))]
fn folder_builder() -> DirBuilder {
    DirBuilder::new()
}

#[cfg(unix)]
fn make_link(folder: &Dir, target: &str, path: &str) -> io::Result<()> {
    folder.symlink(target, path)
}

#[cfg(not(unix))]
fn make_link(_folder: &Dir, _target: &str, _path: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// On Linux one call at the end covers every file; waiting for each would take minutes.
#[cfg(target_os = "linux")]
fn sync_file(_file: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn sync_file(file: &File) -> io::Result<()> {
    file.sync_all()
}

#[cfg(target_os = "linux")]
fn sync_all(folder: &Dir) -> io::Result<()> {
    Ok(rustix::fs::syncfs(folder.open(".")?)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_all(_folder: &Dir) -> io::Result<()> {
    Ok(())
}
