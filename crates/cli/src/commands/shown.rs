//! Bytes that somebody else wrote, on their way to standard output.

use std::io::{self, IsTerminal, StdoutLock, Write};
use std::ops::RangeInclusive;

use metier_secrets::RedactionStream;

use crate::masking;
use crate::output::plain_block;

/// A longer line goes to the terminal in parts, so that a file without an end of a line takes no more memory.
const MAX_LINE: usize = 64 << 10;
/// Bytes of the longest character.
const MAX_CHARACTER: usize = 4;

/// What is looked at before it is trusted must not drive the terminal, so
/// that gets text, line by line and without the values of keys; a pipe gets what there is.
pub(super) struct Shown {
    stdout: StdoutLock<'static>,
    is_terminal: bool,
    /// Masks the values of keys for a terminal.
    masked: Option<Box<RedactionStream>>,
    /// The lines that are wanted, where lines matter.
    lines: Option<RangeInclusive<usize>>,
    /// How many lines were complete.
    count: usize,
    /// What has come of the next one.
    line: Vec<u8>,
}

impl Shown {
    /// Nothing was written yet.
    pub(super) fn new(lines: Option<RangeInclusive<usize>>) -> Self {
        let stdout = io::stdout().lock();
        let is_terminal = stdout.is_terminal();
        let lines = lines.or_else(|| is_terminal.then_some(1..=usize::MAX));
        let masked = is_terminal.then(masking::stream).flatten().map(Box::new);
        Self { stdout, is_terminal, masked, lines, count: 0, line: Vec::new() }
    }

    /// Writes the next bytes; says whether more are wanted. A reader that has seen enough is no error.
    pub(super) fn take(&mut self, bytes: &[u8]) -> bool {
        let Some(masked) = &mut self.masked else { return self.put(bytes) };
        let bytes = masked.push(bytes);
        self.put(&bytes)
    }

    fn put(&mut self, bytes: &[u8]) -> bool {
        let Some(last) = self.lines.as_ref().map(|lines| *lines.end()) else {
            return self.stdout.write_all(bytes).is_ok();
        };
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            let is_whole = piece.ends_with(b"\n");
            if is_whole || self.line.len() > MAX_LINE {
                let rest = if is_whole { Vec::new() } else { split_character(&mut self.line) };
                if !self.write_line(is_whole) {
                    return false;
                }
                self.line = rest;
            }
        }
        self.count < last
    }

    /// Writes what is left when nothing more comes.
    pub(super) fn end(mut self) {
        let rest = self.masked.as_mut().map(|masked| masked.finish()).unwrap_or_default();
        if !self.put(&rest) {
            return;
        }
        if !self.line.is_empty() {
            self.write_line(true);
        }
    }

    /// Writes the next line, or the next part of one.
    fn write_line(&mut self, is_whole: bool) -> bool {
        let number = self.count + 1;
        self.count += usize::from(is_whole);
        let mut line = std::mem::take(&mut self.line);
        if !self.lines.as_ref().is_some_and(|lines| lines.contains(&number)) {
            return true;
        }
        if self.is_terminal {
            line = plain_block(&String::from_utf8_lossy(&line)).into_bytes();
        }
        self.stdout.write_all(&line).is_ok()
    }
}

/// Takes the beginning of a character off the end of some text: the rest of it is still to come.
fn split_character(text: &mut Vec<u8>) -> Vec<u8> {
    let begins = |byte: &u8| byte & 0xC0 != 0x80;
    let back = text.iter().rev().take(MAX_CHARACTER).position(begins).map_or(0, |it| it + 1);
    let last = text.len() - back;
    // A whole one stays.
    let end = if std::str::from_utf8(&text[last..]).is_ok() { text.len() } else { last };
    text.split_off(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_not_torn() {
        for (text, kept) in [("ab", 2), ("aé", 3), ("a€", 4), ("a🦀", 5)] {
            for end in 1..=text.len() {
                let mut bytes = text.as_bytes()[..end].to_vec();
                let rest = split_character(&mut bytes);
                let expected = if end == kept { kept } else { 1 };
                assert_eq!((bytes.len(), rest.len()), (expected, end - expected), "{text} {end}");
            }
        }
        // What is no text is not kept back for ever.
        let mut bytes = vec![0x80; 10];
        assert_eq!((split_character(&mut bytes).len(), bytes.len()), (0, 10));
    }
}
