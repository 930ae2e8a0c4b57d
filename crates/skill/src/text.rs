//! Places in a text: byte spans, and the line and column a person would look at.
//!
//! Every span in this crate is a byte range of the *original* text, so that a
//! fix can be applied to the file as it is.

use serde::{Deserialize, Serialize};

/// A byte range of the text that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The range `start..end`.
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end, "a span does not end before it starts");
        Self { start, end }
    }

    /// An empty range: a place between two bytes.
    pub fn at(offset: usize) -> Self {
        Self { start: offset, end: offset }
    }

    /// The part of `text` this span covers, or nothing if it does not fit.
    pub fn slice(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }

    /// The same range, `by` bytes further.
    pub(crate) fn shifted(self, by: usize) -> Self {
        Self { start: self.start + by, end: self.end + by }
    }
}

/// A line and a column, both counted from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Where the lines of a text begin.
#[derive(Clone, Debug)]
pub struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    /// Finds the lines of `text`.
    pub fn new(text: &'a str) -> Self {
        let after_newlines = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(after_newlines).collect() }
    }

    /// The line and column of a byte; a place past the end is the end.
    pub fn position(&self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|&start| start <= offset);
        let start = self.starts[line - 1];
        let before = self.text.get(start..offset).unwrap_or_default();
        let skipped = usize::from(start == 0 && before.starts_with('\u{feff}'));
        Position { line, column: before.chars().count() - skipped + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_ignore_a_byte_order_mark() {
        let text = "\u{feff}ab\r\nçé: x\n";
        let index = LineIndex::new(text);
        let place = |needle: &str| {
            let found = index.position(text.find(needle).unwrap());
            (found.line, found.column)
        };
        assert_eq!(place("b"), (1, 2));
        assert_eq!(place(": x"), (2, 3));
        assert_eq!(index.position(999), Position { line: 3, column: 1 });
    }
}
