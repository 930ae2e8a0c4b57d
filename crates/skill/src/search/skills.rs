//! The search over the skills of a library.

use std::io::{self, Read};
use std::path::Path;

use super::{Document, Index, headings};
use crate::discover::MAX_SKILL_FILE_BYTES;
use crate::files::{Digest, open_regular};
use crate::header::{Frame, decode};
use crate::library::{Entry, Place, Snapshot};

/// An index over those skills of a library that somebody may find.
#[derive(Clone, Debug)]
pub struct SkillIndex<'a> {
    entries: Vec<&'a Entry>,
    index: Index,
}

impl<'a> SkillIndex<'a> {
    /// Indexes the skills for which `is_wanted` holds. Their bodies are read for the headings.
    pub fn new(snapshot: &'a Snapshot, is_wanted: impl Fn(&Entry) -> bool) -> Self {
        let entries: Vec<&Entry> =
            snapshot.entries.iter().filter(|entry| is_wanted(entry)).collect();
        let headings: Vec<Vec<String>> = entries.iter().map(|entry| headings_of(entry)).collect();
        let documents = entries.iter().zip(&headings).map(|(entry, headings)| Document {
            name: entry.name.as_str(),
            description: &entry.manifest.description,
            headings,
        });
        let index = Index::new(documents);
        Self { entries, index }
    }

    /// The skills that fit a question, the best first, each with how well it fits.
    pub fn search(&self, query: &str, limit: usize) -> Vec<(&'a Entry, f32)> {
        let hits = self.index.search(query, limit).into_iter();
        hits.map(|hit| (self.entries[hit.document], hit.score)).collect()
    }
}

/// Returns the headings of a skill's body; none if it cannot be read, or is not what was trusted.
fn headings_of(entry: &Entry) -> Vec<String> {
    let bytes = match &entry.place {
        Place::Folder { file, .. } => {
            let read = read_skill_file(file).ok();
            read.filter(|bytes| is_trusted(entry, file, bytes)).unwrap_or_default()
        }
        Place::Bundled(skill) => skill.skill_file().to_vec(),
        Place::Remote(_) => Vec::new(),
    };
    let (text, _) = decode(&bytes);
    let start = Frame::find(text.as_bytes()).map_or(0, |frame| frame.body.start);
    headings(&text[start..])
}

/// Reads a `SKILL.md`. It may be something else than when it was found: a pipe is not waited for, and no more is read than
/// of the largest file that is loaded.
fn read_skill_file(file: &Path) -> io::Result<Vec<u8>> {
    let (opened, metadata) = open_regular(file)?;
    if metadata.len() > MAX_SKILL_FILE_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::new();
    opened.take(MAX_SKILL_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns whether the bytes of a `SKILL.md` may be searched: those of a project's skill must have the digest that was trusted.
fn is_trusted(entry: &Entry, file: &Path, bytes: &[u8]) -> bool {
    let trusted = entry.trusted_files.as_ref();
    trusted.is_none_or(|trusted| trusted.has_skill_file(file, Digest::of_bytes(bytes)))
}
