//! The search over the skills of a library.

use std::fs;

use super::{Document, Index, headings};
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

/// The headings of a skill's body; none if it cannot be read.
fn headings_of(entry: &Entry) -> Vec<String> {
    let bytes = match &entry.place {
        Place::Folder { file, .. } => fs::read(file).unwrap_or_default(),
        Place::Bundled(skill) => skill.skill_file().to_vec(),
        Place::Remote(_) => Vec::new(),
    };
    let (text, _) = decode(&bytes);
    let start = Frame::find(text.as_bytes()).map_or(0, |frame| frame.body.start);
    headings(&text[start..])
}
