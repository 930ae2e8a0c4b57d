//! Text with styles, broken into lines by what its characters look like.

use std::fmt::Write as _;

use anstyle::Style;
use unicode_width::UnicodeWidthChar;

/// A character as it looks.
pub(super) type Glyph = (char, Style);

/// What happens to a word that is wider than a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Long {
    /// It stays whole: an address in pieces is none.
    Stays,
    /// It is broken where the line ends.
    Breaks,
}

/// Text with styles. It has been made safe; `\n` ends a line.
#[derive(Clone, Debug, Default)]
pub(super) struct Text {
    glyphs: Vec<Glyph>,
}

impl Text {
    /// Adds some.
    pub(super) fn push(&mut self, text: &str, style: Style) {
        self.glyphs.extend(text.chars().map(|character| (character, style)));
    }

    /// The characters from one on.
    pub(super) fn since(&self, start: usize) -> String {
        self.glyphs[start..].iter().map(|(character, _)| character).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.glyphs.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.glyphs.iter().all(|(character, _)| character.is_whitespace())
    }

    /// Columns of the longest line.
    pub(super) fn width(&self) -> usize {
        self.glyphs.split(|(character, _)| *character == '\n').map(width).max().unwrap_or_default()
    }

    /// The lines, none of them wider than so many columns if that can be.
    pub(super) fn wrapped(&self, most: usize, long: Long) -> Vec<Vec<Glyph>> {
        let lines = self.glyphs.split(|(character, _)| *character == '\n');
        lines.flat_map(|line| wrap(line, most, long)).collect()
    }
}

/// Columns of a line.
pub(super) fn width(line: &[Glyph]) -> usize {
    line.iter().map(|(character, _)| columns(*character)).sum()
}

/// A line as a terminal takes it.
pub(super) fn rendered(line: &[Glyph]) -> String {
    let mut text = String::with_capacity(line.len());
    for run in line.chunk_by(|(_, one), (_, other)| one == other) {
        let style = run.first().map(|(_, style)| *style).unwrap_or_default();
        let characters: String = run.iter().map(|(character, _)| character).collect();
        let _infallible = write!(text, "{style}{characters}{style:#}");
    }
    text
}

fn wrap(line: &[Glyph], most: usize, long: Long) -> Vec<Vec<Glyph>> {
    let mut lines = Vec::new();
    let mut current: Vec<Glyph> = Vec::new();
    let mut used = 0;
    // Where the line may be broken.
    let mut opening = None;
    for &(character, style) in line {
        let needed = columns(character);
        let is_wide = needed > 1;
        let follows_wide = current.last().is_some_and(|(last, _)| columns(*last) > 1);
        if !current.is_empty() && character != ' ' && (is_wide || needed > 0 && follows_wide) {
            opening = Some(current.len());
        }
        if used + needed > most && character != ' ' && !current.is_empty() {
            let at = opening.or((long == Long::Breaks).then_some(current.len()));
            if let Some(at) = at {
                let rest = current.split_off(at);
                lines.push(trimmed(std::mem::replace(&mut current, rest)));
                used = width(&current);
                opening = None;
            }
        }
        if character == ' ' && current.is_empty() && !lines.is_empty() {
            continue;
        }
        current.push((character, style));
        used += needed;
        if character == ' ' {
            opening = Some(current.len());
        }
    }
    lines.push(trimmed(current));
    lines
}

fn trimmed(mut line: Vec<Glyph>) -> Vec<Glyph> {
    while line.last().is_some_and(|(character, _)| *character == ' ') {
        line.pop();
    }
    line
}

fn columns(character: char) -> usize {
    character.width().unwrap_or_default()
}
