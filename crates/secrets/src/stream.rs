//! A stream in which values are masked, in whatever pieces it comes.
//!
//! Bytes that may be the beginning of a value are held back until they are decided by what follows. The result does not depend
//! on where the stream was cut, and a value that a program writes slowly is not shown in part.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::automaton::FormAutomaton;
use crate::encoding::Encoding;
use crate::reading::Reading;
use crate::redactor::{REPLACEMENT, RedactionTables, Redactor};

/// Most readings of one encoding at a time. Escapes of eight backslashes may begin at each of them; more than twice as many
/// take values that overlap themselves in several ways.
const MAX_READINGS: usize = 16;

/// A stream in which values are masked.
///
/// It holds back at most the length of the longest value in its longest form.
pub struct RedactionStream {
    redactor: Redactor,
    plain: Reading,
    /// Readings that differ from the plain one because of an escape. Of one encoding there may be several: what looks like an
    /// escape before a value may have taken in its first bytes, so each escape is also read as the first one.
    others: Vec<Reading>,
    /// Bytes that were read and not given, and where the first of them is in the stream.
    held: Vec<u8>,
    given: u64,
    read: u64,
    found: Vec<Range<u64>>,
    /// Whether the last byte that was given belongs to a value.
    in_value: bool,
}

impl RedactionStream {
    pub(crate) fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            plain: Reading::new(),
            others: Vec::new(),
            held: Vec::new(),
            given: 0,
            read: 0,
            found: Vec::new(),
            in_value: false,
        }
    }

    /// Takes the next bytes and returns those that are decided.
    pub fn push<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let Some(tables) = self.redactor.tables.clone() else { return Cow::Borrowed(bytes) };
        self.search(&tables, bytes);
        let undecided = self.undecided();
        if self.held.is_empty() && self.found.is_empty() && undecided.is_none() {
            self.given = self.read;
            self.in_value &= bytes.is_empty();
            return Cow::Borrowed(bytes);
        }
        self.held.extend_from_slice(bytes);
        Cow::Owned(self.give(undecided.unwrap_or(self.read)))
    }

    /// The same for text. It is cut only where characters end.
    pub fn push_text(&mut self, text: &str) -> String {
        String::from_utf8_lossy(&self.push(text.as_bytes())).into_owned()
    }

    /// Returns what was held back, as text.
    pub fn finish_text(&mut self) -> String {
        String::from_utf8_lossy(&self.finish()).into_owned()
    }

    /// Returns what was held back: nothing more will come. After it another stream may begin.
    pub fn finish(&mut self) -> Vec<u8> {
        let Some(tables) = self.redactor.tables.clone() else { return Vec::new() };
        let mut search = tables.search(&mut self.found);
        for reading in &mut self.others {
            reading.end(self.read, &mut search);
        }
        let rest = self.give(self.read);
        *self = Self::new(self.redactor.clone());
        rest
    }

    fn search(&mut self, tables: &RedactionTables, bytes: &[u8]) {
        let mut rest = bytes;
        loop {
            if self.plain.is_idle() && self.others.is_empty() {
                let next = rest.iter().position(|byte| tables.wakes[usize::from(*byte)]);
                let inert = next.unwrap_or(rest.len());
                self.read += inert as u64;
                rest = &rest[inert..];
            }
            let Some((byte, others)) = rest.split_first() else { return };
            self.take(tables, *byte);
            rest = others;
        }
    }

    fn take(&mut self, tables: &RedactionTables, byte: u8) {
        if tables.escapes[usize::from(byte)] {
            let encodings = Encoding::ESCAPED.into_iter();
            encodings.for_each(|it| self.begin_reading(it, byte, &tables.automaton));
        }
        let mut search = tables.search(&mut self.found);
        for reading in &mut self.others {
            reading.take(byte, self.read, &mut search);
        }
        self.plain.take(byte, self.read, &mut search);
        self.read += 1;
        self.drop_covered(&tables.automaton);
    }

    /// Begins to decode the escapes of an encoding, if no reading does that would find the same.
    fn begin_reading(&mut self, encoding: Encoding, byte: u8, automaton: &FormAutomaton) {
        if !self.plain.needs(encoding, byte, automaton) {
            return;
        }
        let mut same = self.others.iter().filter(|it| it.encoding() == encoding);
        let is_new = same.clone().count() < MAX_READINGS
            && !same.any(|it| it.covers(&self.plain, automaton));
        if is_new {
            self.others.push(self.plain.with(encoding));
        }
    }

    /// Drops readings that find nothing which another does not find. A reading outside of escapes begins again from the
    /// plain one at the next escape.
    fn drop_covered(&mut self, automaton: &FormAutomaton) {
        let mut at = 0;
        while let Some(reading) = self.others.get(at) {
            let is_covered = |(other_at, other): (usize, &Reading)| {
                other_at != at
                    && other.encoding() == reading.encoding()
                    && other.covers(reading, automaton)
            };
            let is_dropped = reading.is_settled()
                && (self.plain.covers(reading, automaton)
                    || self.others.iter().enumerate().any(is_covered));
            if is_dropped {
                self.others.swap_remove(at);
            } else {
                at += 1;
            }
        }
    }

    /// The first byte that may belong to a value which has not ended.
    fn undecided(&self) -> Option<u64> {
        let readings = std::iter::once(&self.plain).chain(&self.others);
        readings.filter_map(|reading| reading.undecided(self.read)).min()
    }

    /// Gives what was held back before a place, and values that begin there or before.
    fn give(&mut self, limit: u64) -> Vec<u8> {
        let mut output = Vec::new();
        for value in self.values() {
            if value.start > limit {
                self.found.push(value);
                continue;
            }
            self.give_plain(value.start, &mut output);
            // Values that touch are one, whether or not the first has been given.
            if !self.in_value {
                output.extend_from_slice(REPLACEMENT.as_bytes());
            }
            self.forget(value.end);
            self.in_value = true;
        }
        self.give_plain(limit, &mut output);
        output
    }

    /// Takes the ranges that were found; those that overlap or touch become one.
    fn values(&mut self) -> Vec<Range<u64>> {
        self.found.sort_by_key(|range| range.start);
        let mut values: Vec<Range<u64>> = Vec::new();
        for range in self.found.drain(..) {
            match values.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => values.push(range),
            }
        }
        values
    }

    fn give_plain(&mut self, end: u64, output: &mut Vec<u8>) {
        if end > self.given {
            let length = usize::try_from(end - self.given).unwrap_or(usize::MAX);
            output.extend_from_slice(&self.held[..length]);
            self.forget(end);
            self.in_value = false;
        }
    }

    /// Counts bytes up to a place as given.
    fn forget(&mut self, end: u64) {
        let length = usize::try_from(end.saturating_sub(self.given)).unwrap_or(usize::MAX);
        self.held.drain(..length);
        self.given = self.given.max(end);
    }
}

impl fmt::Debug for RedactionStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(REPLACEMENT)
    }
}
