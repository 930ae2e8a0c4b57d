//! What names and descriptions cost, counted once when a header is read.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::header::Manifest;
use crate::name::is_invisible;
use crate::tokens;

/// A word longer than this can be cut inside: some scripts do without spaces.
const LONGEST_WORD_CHARS: usize = 16;

/// Tokens of a header, fine enough to know the cost of any shortened description.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderTokens {
    /// Tokens of the name.
    pub name: u32,
    /// Tokens of each segment of the description: a word with the space before it. The tokenizer
    /// never joins two words, so the sum is the cost of the whole.
    segments: Vec<u16>,
}

impl HeaderTokens {
    /// Counts a header.
    pub fn of(manifest: &Manifest) -> Self {
        Self::of_parts(manifest.name.as_str(), &one_line(&manifest.description))
    }

    /// Counts a name and a description of one line.
    pub(crate) fn of_parts(name: &str, description: &str) -> Self {
        let count = |text: &str| u16::try_from(tokens::count(text)).unwrap_or(u16::MAX);
        Self { name: count(name).into(), segments: segments(description).map(count).collect() }
    }

    /// Tokens of the whole description.
    pub fn description(&self) -> usize {
        self.segments.iter().map(|&tokens| usize::from(tokens)).sum()
    }

    /// The longest beginning of the description that costs at most `cap`: its cost, and how many
    /// segments it has.
    pub(crate) fn prefix(&self, cap: usize) -> (usize, usize) {
        let mut cost = 0;
        for (count, &segment) in self.segments.iter().enumerate() {
            let with = cost + usize::from(segment);
            if with > cap {
                return (cost, count);
            }
            cost = with;
        }
        (cost, self.segments.len())
    }
}

/// The first `count` segments of a description of one line.
pub(crate) fn first_segments(description: &str, count: usize) -> &str {
    let length: usize = segments(description).take(count).map(str::len).sum();
    &description[..length]
}

/// A text on one line: blanks and line breaks of every kind become one space, and what shows
/// nothing is left out.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if is_one_line(text) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        let blank = character.is_whitespace() || matches!(character, '\u{2028}' | '\u{2029}');
        if blank {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
        } else if !is_invisible(character) {
            line.push(character);
        }
    }
    line.truncate(line.trim_end().len());
    Cow::Owned(line)
}

/// Whether a text surely is on one line already: visible ASCII with single spaces inside.
fn is_one_line(text: &str) -> bool {
    let visible = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    visible && !text.starts_with(' ') && !text.ends_with(' ') && !text.contains("  ")
}

/// Words with the space before them; long ones in pieces.
fn segments(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len();
        for (index, (at, character)) in rest.char_indices().enumerate() {
            if index > 0 && (character == ' ' || index > LONGEST_WORD_CHARS && !is_latin(character))
            {
                end = at;
                break;
            }
        }
        let (segment, after) = rest.split_at(end);
        rest = after;
        Some(segment)
    })
}

/// Latin words are not cut inside, however long.
fn is_latin(character: char) -> bool {
    character < '\u{250}'
}
