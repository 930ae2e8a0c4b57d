//! Collecting what a run made: by patterns, within limits, through no link.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use rustix::fs::{Dir, FileType, OFlags};
use thiserror::Error;

use crate::layout::{Moment, Workspace, changed, open_beneath};
use crate::mime::{self, is_textual, mime_type};
use crate::path::{Inside, Meaning, PathError, resolve};
use crate::record::RecordedFile;
use crate::request::OutputFile;

/// Most entries that are looked at for one run.
const MAX_ENTRIES: usize = 100_000;
/// Deepest folder that is looked at.
const MAX_DEPTH: usize = 32;
/// Most text that is given of one file, in bytes.
pub(crate) const MAX_INLINE: u64 = 256 << 10;

/// Why patterns are refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PatternError {
    /// It leaves the workspace.
    #[error(transparent)]
    Path(#[from] PathError),
    /// It is not a pattern.
    #[error("`{pattern}` is not a pattern: {why}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Why not.
        why: String,
    },
}

/// Patterns of files in a workspace.
#[derive(Debug)]
pub(crate) struct Patterns {
    set: GlobSet,
    /// The folders in which matches can be.
    folders: Vec<Inside>,
}

impl Patterns {
    /// Reads patterns: `*`, `?`, `[…]`, `{a,b}` within a name, `**` for folders; relative to the
    /// workspace or to one of its variables.
    pub(crate) fn parse(patterns: &[String], run: &Inside) -> Result<Self, PatternError> {
        let root = Inside::default();
        let mut set = GlobSetBuilder::new();
        let mut folders = Vec::new();
        for pattern in patterns {
            let place = resolve(pattern, Meaning { base: &root, run })?;
            let refuse = |why: String| PatternError::Pattern { pattern: pattern.clone(), why };
            let glob = GlobBuilder::new(place.as_str())
                .literal_separator(true)
                .backslash_escape(true)
                .build()
                .map_err(|error| refuse(error.kind().to_string()))?;
            set.add(glob);
            folders.push(literal_folder(&place));
        }
        let set = set.build().map_err(|error| PatternError::Pattern {
            pattern: patterns.join(", "),
            why: error.kind().to_string(),
        })?;
        folders.sort();
        folders.dedup();
        // A folder inside another one is looked at with it.
        let all = folders.clone();
        folders.retain(|it| !all.iter().any(|other| other != it && is_below(it, other)));
        Ok(Self { set, folders })
    }
}

fn is_below(inner: &Inside, outer: &Inside) -> bool {
    let rest = inner.as_str().strip_prefix(outer.as_str());
    outer.as_str().is_empty() || rest.is_some_and(|rest| rest.starts_with('/'))
}

/// The part of a pattern before its first special sign, up to a slash.
fn literal_folder(pattern: &Inside) -> Inside {
    let text = pattern.as_str();
    let special = text.find(['*', '?', '[', '{', '\\']).unwrap_or(text.len());
    let end = text[..special].rfind('/').unwrap_or_default();
    Inside::known(&text[..end])
}

/// A file that a pattern found, open.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) place: Inside,
    file: File,
    pub(crate) size: u64,
    /// Whether it changed since a moment.
    pub(crate) is_new: bool,
}

/// What looking gave.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// Places of regular files, sorted.
    pub(crate) places: Vec<Inside>,
    pub(crate) warnings: Vec<String>,
}

/// Looks for files. Links and special files are passed over with a warning.
pub(crate) fn look(workspace: &Workspace, patterns: &Patterns) -> io::Result<Looked> {
    let mut walker = Walker { patterns, entries: 0, looked: Looked::default() };
    for place in &patterns.folders {
        match workspace.open(place, OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(folder) => walker.walk(&folder, place, 0)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => walker.warn(format!("`{place}` is not a folder of the workspace")),
        }
    }
    let mut looked = walker.looked;
    looked.places.sort();
    Ok(looked)
}

struct Walker<'a> {
    patterns: &'a Patterns,
    entries: usize,
    looked: Looked,
}

impl Walker<'_> {
    fn warn(&mut self, text: String) {
        self.looked.warnings.push(text);
    }

    fn walk(&mut self, folder: &OwnedFd, place: &Inside, depth: usize) -> io::Result<()> {
        for (name, kind) in self.names(folder, place)? {
            let inside = place.join(&name);
            let matches = self.patterns.set.is_match(inside.as_str());
            match kind {
                FileType::Directory if depth < MAX_DEPTH => {
                    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
                    if let Ok(open) = open_beneath(folder, &name, flags) {
                        self.walk(&open, &inside, depth + 1)?;
                    }
                }
                FileType::RegularFile if matches => self.looked.places.push(inside),
                FileType::Symlink if matches => {
                    self.warn(format!("`{inside}` is a link and was not collected"));
                }
                FileType::RegularFile | FileType::Symlink | FileType::Directory => {}
                _ if matches => self.warn(format!("`{inside}` is not a regular file")),
                _ => {}
            }
        }
        Ok(())
    }

    /// What is in a folder, sorted by name.
    fn names(&mut self, folder: &OwnedFd, place: &Inside) -> io::Result<Vec<(String, FileType)>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else {
                self.warn(format!("a file in `{place}` has a name that is not UTF-8"));
                continue;
            };
            if matches!(name, "." | "..") || (place.as_str().is_empty() && is_ours(name)) {
                continue;
            }
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                self.warn(format!("only the first {MAX_ENTRIES} entries were looked at"));
                break;
            }
            names.push((name.to_owned(), entry.file_type()));
        }
        names.sort_by(|left, right| left.0.cmp(&right.0));
        Ok(names)
    }
}

/// Names at the top of a workspace that are metier's own.
fn is_ours(name: &str) -> bool {
    name.starts_with('.') || name == "metadata.json"
}

/// Opens what was found, without following a link that was put there since.
pub(crate) fn open(workspace: &Workspace, place: &Inside, since: Moment) -> io::Result<Found> {
    let file = workspace.open_file(place)?;
    let metadata = file.metadata()?;
    let is_new = changed(&metadata) >= since;
    Ok(Found { place: place.clone(), file, size: metadata.len(), is_new })
}

impl Found {
    /// The file, to be read from its beginning.
    pub(crate) fn rewound(&self) -> io::Result<&File> {
        (&self.file).seek(SeekFrom::Start(0))?;
        Ok(&self.file)
    }

    /// Describes the file, with its text up to a limit if that is wanted.
    pub(crate) fn describe(&self, inline: Option<u64>) -> io::Result<OutputFile> {
        let wanted = inline.unwrap_or_default().min(MAX_INLINE).min(self.size);
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX).max(mime::ENOUGH);
        let mut bytes = Vec::new();
        self.rewound()?.take(wanted as u64).read_to_end(&mut bytes)?;
        let mime_type = mime_type(self.place.file_name(), &bytes[..bytes.len().min(mime::ENOUGH)]);
        let mut content = None;
        let mut truncated = inline.is_some_and(|limit| self.size > limit.min(MAX_INLINE));
        if let Some(limit) = inline.filter(|_| is_textual(mime_type)) {
            let limit = usize::try_from(limit.min(MAX_INLINE)).unwrap_or(usize::MAX);
            bytes.truncate(limit);
            match text_of(bytes) {
                Some(text) => content = Some(text),
                None => truncated = false,
            }
        }
        Ok(OutputFile {
            name: self.place.to_string(),
            reference: format!("workspace://{}", self.place),
            mime_type: mime_type.to_owned(),
            size_bytes: self.size,
            content,
            truncated,
        })
    }

    /// For the record: size and digest of everything.
    pub(crate) fn record(&self, from: Option<String>) -> io::Result<RecordedFile> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(self.rewound()?)?;
        Ok(RecordedFile {
            name: self.place.to_string(),
            from,
            size_bytes: self.size,
            digest: hasher.finalize().to_hex().to_string(),
        })
    }
}

/// Bytes as text, without a character that was cut at the end.
fn text_of(bytes: Vec<u8>) -> Option<String> {
    match String::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.utf8_error().error_len().is_none() => {
            let end = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(end);
            String::from_utf8(bytes).ok()
        }
        Err(_) => None,
    }
}
