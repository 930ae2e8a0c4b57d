//! The index and its ranking.

use std::collections::{BTreeMap, HashMap};

use crate::search::analysis::{emphasis, terms};
use crate::search::related::relatives;

/// How much a term in each field counts.
const NAME_WEIGHT: f32 = 8.0;
const DESCRIPTION_WEIGHT: f32 = 4.0;
const HEADING_WEIGHT: f32 = 1.0;
/// How fast repeating a term stops helping, measured in weighted occurrences.
const SATURATION: f32 = 1.2 * DESCRIPTION_WEIGHT;
/// How much a long text is held against a skill.
const LENGTH_PENALTY: f32 = 0.4;
/// A term that begins like the one asked for counts this much of it.
const PREFIX_SHARE: f32 = 0.5;
/// Terms shorter than this are not completed.
const MIN_PREFIX_CHARS: usize = 4;
/// Terms of a question that are looked at; the rest adds nothing.
const MAX_QUERY_TERMS: usize = 64;

/// What is searched of a skill.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its description.
    pub description: &'a str,
    /// The headings of its body.
    pub headings: &'a [String],
}

/// A skill that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Its place among the documents the index was made of.
    pub document: usize,
    /// How well it fits; comparable within one search.
    pub score: f32,
}

/// An index over skills. [`SkillIndex`](crate::search::SkillIndex) makes one of a whole library.
///
/// ```
/// use metier_skill::search::{Document, Index};
///
/// let skills = [("pdf", "Fills in forms and reads tables."), ("charts", "Draws charts of numbers.")];
/// let documents = skills.map(|(name, description)| Document { name, description, headings: &[] });
/// let index = Index::new(documents);
/// let hits = index.search("draw me a diagram of the sales", 5);
/// assert_eq!(skills[hits[0].document].0, "charts");
/// ```
#[derive(Clone, Debug)]
pub struct Index {
    names: Vec<String>,
    lengths: Vec<f32>,
    mean_length: f32,
    /// Documents and weighted occurrences of each term, by term, so that prefixes are ranges.
    postings: BTreeMap<String, Vec<(usize, f32)>>,
}

impl Index {
    /// Indexes some skills.
    pub fn new<'a>(documents: impl IntoIterator<Item = Document<'a>>) -> Self {
        let mut names = Vec::new();
        let mut lengths = Vec::new();
        let mut postings: BTreeMap<String, Vec<(usize, f32)>> = BTreeMap::new();
        for (position, document) in documents.into_iter().enumerate() {
            let mut weights: HashMap<String, f32> = HashMap::new();
            let mut add = |text: &str, weight: f32| {
                for term in terms(text) {
                    *weights.entry(term).or_default() += weight;
                }
            };
            add(document.name, NAME_WEIGHT);
            add(document.description, DESCRIPTION_WEIGHT);
            for heading in document.headings {
                add(heading, HEADING_WEIGHT);
            }
            names.push(document.name.to_owned());
            lengths.push(weights.values().sum());
            for (term, weight) in weights {
                postings.entry(term).or_default().push((position, weight));
            }
        }
        let total: f32 = lengths.iter().sum();
        let mean_length = (total / lengths.len().max(1) as f32).max(1.0);
        Self { names, lengths, mean_length, postings }
    }

    /// The skills that fit a question best, at most `limit`.
    pub fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        let mut scores = vec![0.0; self.names.len()];
        let mut asked = terms(query);
        asked.truncate(MAX_QUERY_TERMS);
        asked.sort();
        asked.dedup();
        for term in &asked {
            self.add_scores(term, &mut scores);
        }
        let mut hits: Vec<Hit> = scores
            .into_iter()
            .enumerate()
            .filter(|(_, score)| *score > 0.0)
            .map(|(document, score)| Hit { document, score })
            .collect();
        hits.sort_by(|left, right| {
            let by_name = || self.names[left.document].cmp(&self.names[right.document]);
            right.score.total_cmp(&left.score).then_with(by_name)
        });
        hits.truncate(limit);
        hits
    }

    /// Adds what one term of the question is worth to each document: the best of the term itself,
    /// a term that begins alike, and a related word.
    fn add_scores(&self, term: &str, scores: &mut [f32]) {
        let mut best: HashMap<usize, f32> = HashMap::new();
        let mut take = |found: &str, share: f32| {
            for &(document, weight) in self.postings.get(found).into_iter().flatten() {
                let score = share * self.score(found, document, weight);
                let slot = best.entry(document).or_default();
                *slot = slot.max(score);
            }
        };
        take(term, 1.0);
        for other in self.completions(term) {
            take(other, PREFIX_SHARE);
        }
        for relative in relatives(term) {
            take(&relative.term, relative.share);
        }
        for (document, score) in best {
            scores[document] += score * emphasis(term);
        }
    }

    /// Indexed terms that begin with a term, and beginnings of the term that are indexed.
    fn completions<'a>(&'a self, term: &'a str) -> impl Iterator<Item = &'a str> {
        let long_enough = term.chars().count() >= MIN_PREFIX_CHARS;
        let longer = self
            .postings
            .range::<str, _>((std::ops::Bound::Excluded(term), std::ops::Bound::Unbounded))
            .map(|(other, _)| other.as_str())
            .take_while(move |other| long_enough && other.starts_with(term));
        let ends = term.char_indices().map(|(at, _)| at).skip(MIN_PREFIX_CHARS);
        let shorter =
            ends.map(|end| &term[..end]).filter(|start| self.postings.contains_key(*start));
        longer.chain(shorter)
    }

    fn score(&self, term: &str, document: usize, weight: f32) -> f32 {
        let count = self.names.len() as f32;
        let with_term = self.postings.get(term).map_or(0, Vec::len) as f32;
        let rarity = (1.0 + (count - with_term + 0.5) / (with_term + 0.5)).ln();
        let length = self.lengths[document] / self.mean_length;
        let norm = SATURATION * (1.0 - LENGTH_PENALTY + LENGTH_PENALTY * length);
        rarity * weight * (SATURATION + 1.0) / (weight + norm)
    }
}
