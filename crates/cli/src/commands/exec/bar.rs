//! The bar in front of every line of standard error, where both streams are on one terminal.
//!
//! A program may rewrite its own line, but not the bar, by which a person tells its errors from its output. So steps
//! to the left end at the bar, and whatever goes to the beginning of the line, or erases it, brings the bar
//! back. A line that is too long for the terminal is broken, since its next row would have no bar. What comes here has
//! passed [`Screen`](crate::output::Screen): text, colours, and a few steps within the line.
//!
//! Terminals do not agree on how wide a character is, and cannot be asked while a program writes. So two numbers are
//! kept: how far the cursor is from the bar at least, which bounds steps to the left, and from the edge at most, which
//! breaks lines.

#[cfg(test)]
mod tests;

use unicode_width::UnicodeWidthChar as _;

use crate::output::{style, styled};

/// Takes all colours off.
const RESET: &str = "\u{1b}[0m";
/// In front of lines of standard error.
const BAR: &str = "│ ";
/// Most columns of the bar: terminals that are set up for East Asian text show its line two columns wide.
const BAR_COLUMNS: usize = 3;
/// The width of a terminal that does not say how wide it is: as wide as one can be.
pub(super) const UNKNOWN_WIDTH: usize = u16::MAX as usize;
/// Columns between the stops of a tab.
const TAB_COLUMNS: usize = 8;

/// Most bytes of colours that are put on again behind a bar; more than that is the program's own fault.
const MAX_COLOR_BYTES: usize = 256;

/// The terminal on which lines are shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct BarTerminal {
    /// Columns there are, or [`UNKNOWN_WIDTH`].
    pub(super) width: usize,
    /// Whether programs may set colours on it.
    pub(super) has_colors: bool,
}

impl BarTerminal {
    /// Returns the bar as it looks here.
    fn bar(self) -> String {
        if self.has_colors { format!("{RESET}{}", styled(style::BAD, BAR)) } else { BAR.to_owned() }
    }
}

/// Puts the bar in front of lines, in whatever pieces they come.
#[derive(Debug, Default)]
pub(super) struct BarredLines {
    /// Whether the bar of the present line is there.
    is_in_line: bool,
    /// Columns that the cursor is right of the bar, at least.
    column: usize,
    /// Columns between the left edge of the terminal and the cursor, at most.
    edge: usize,
    /// Whether a terminal may show the next character in the columns of the last one.
    may_join: bool,
    /// The sequences by which the program chose its colours. The bar has its own, or it could be made invisible.
    colors: String,
}

impl BarredLines {
    /// Begins a line: the last one has been ended, or erased.
    pub(super) fn begin_line(&mut self) {
        self.is_in_line = false;
        self.column = 0;
    }

    /// Returns the next piece of the stream with bars.
    pub(super) fn mark(&mut self, text: &str, terminal: BarTerminal) -> String {
        let mut marked = String::with_capacity(text.len() + BAR.len());
        let mut rest = text;
        while let Some(character) = rest.chars().next() {
            let length = if character == '\u{1b}' { sequence(rest) } else { character.len_utf8() };
            let (piece, after) = rest.split_at(length);
            rest = after;
            // An empty line has none, and a colour alone begins no line: other text may still take the row.
            if !self.is_in_line && character != '\n' && !is_color(piece) {
                self.push_bar(terminal, &mut marked);
            }
            self.add(piece, character, terminal, &mut marked);
        }
        marked
    }

    fn push_bar(&mut self, terminal: BarTerminal, marked: &mut String) {
        marked.push_str(&terminal.bar());
        marked.push_str(&self.colors);
        self.is_in_line = true;
        self.column = 0;
        self.edge = BAR_COLUMNS;
        self.may_join = false;
    }

    fn add(&mut self, piece: &str, character: char, terminal: BarTerminal, marked: &mut String) {
        match character {
            '\n' | '\r' => {
                marked.push(character);
                self.begin_line();
            }
            '\u{8}' => self.step_left(1, marked),
            '\u{1b}' => self.control(piece, terminal, marked),
            // A tab goes no further than the last column.
            '\t' => {
                marked.push(character);
                self.edge = (self.edge / TAB_COLUMNS + 1) * TAB_COLUMNS;
            }
            _ => self.push_character(character, terminal, marked),
        }
    }

    fn push_character(&mut self, character: char, terminal: BarTerminal, marked: &mut String) {
        let columns = most_columns(character);
        if self.edge + columns > terminal.width {
            marked.push('\n');
            self.push_bar(terminal, marked);
        }
        marked.push(character);
        self.edge += columns;
        let has_a_column = has_a_column(character);
        // After a character in the last column the cursor may still be on it.
        if has_a_column && !self.may_join && self.edge < terminal.width {
            self.column += 1;
        }
        self.may_join = !has_a_column;
    }

    fn control(&mut self, sequence: &str, terminal: BarTerminal, marked: &mut String) {
        let (parameter, last) = sequence[1..].split_at(sequence.len() - 2);
        let parameter = parameter.trim_start_matches('[');
        let number = || parameter.parse::<usize>().unwrap_or(1).max(1);
        match last {
            "D" => self.step_left(number(), marked),
            "C" => self.step_right(number(), terminal, marked),
            // Columns count from the bar on.
            "G" => {
                marked.push('\r');
                self.push_bar(terminal, marked);
                self.step_right(number() - 1, terminal, marked);
            }
            "K" if !matches!(parameter, "" | "0") => {
                marked.push_str("\r\u{1b}[K");
                self.push_bar(terminal, marked);
            }
            "m" => {
                marked.push_str(sequence);
                let is_too_long = self.colors.len() + sequence.len() > MAX_COLOR_BYTES;
                if is_too_long || matches!(parameter, "" | "0") {
                    self.colors.clear();
                }
                if !matches!(parameter, "" | "0") {
                    self.colors.push_str(sequence);
                }
            }
            _ => marked.push_str(sequence),
        }
    }

    fn step_left(&mut self, count: usize, marked: &mut String) {
        let count = count.min(self.column);
        marked.extend(std::iter::repeat_n('\u{8}', count));
        self.column -= count;
        self.edge = self.edge.saturating_sub(count);
    }

    /// Steps to the right, to the last column at most: what is written next is in the same row.
    fn step_right(&mut self, count: usize, terminal: BarTerminal, marked: &mut String) {
        let count = count.min(terminal.width.saturating_sub(self.edge + 1));
        if count > 0 {
            marked.push_str(&format!("\u{1b}[{count}C"));
            self.edge += count;
        }
    }
}

/// Returns the length of the sequence that a text begins with.
fn sequence(text: &str) -> usize {
    let end = text.char_indices().skip(2).find(|(_, it)| it.is_ascii_alphabetic());
    end.map_or(text.len(), |(at, last)| at + last.len_utf8())
}

/// Returns whether a sequence is a colour.
fn is_color(piece: &str) -> bool {
    piece.starts_with('\u{1b}') && piece.ends_with('m')
}

/// Returns whether a character takes at least one column on every terminal, and never joins a following one. After
/// characters that do (a zero-width joiner, signs before numbers, halves of emoji) it may itself take none.
fn has_a_column(character: char) -> bool {
    matches!(character, ' '..='~' | '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{24f}' | '\u{2500}'..='\u{25ff}' | '\u{2800}'..='\u{28ff}')
}

/// Returns the columns that a character takes at most, on any terminal.
///
/// Tables of terminals differ with their age, and what Unicode calls ambiguous has two columns where East Asian widths
/// are set. So everything counts as wide but ASCII, letters that are not even ambiguous, and braille patterns, of which
/// programs make spinners.
fn most_columns(character: char) -> usize {
    let is_narrow = match character {
        ' '..='~' | '\u{2800}'..='\u{28ff}' => true,
        '\u{c0}'..='\u{24f}' => character.width_cjk() == Some(1),
        _ => false,
    };
    if is_narrow { 1 } else { character.width().unwrap_or_default().max(2) }
}
