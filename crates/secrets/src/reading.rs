//! One reading of a stream: its bytes with the escapes of one encoding decoded, and where forms are in it.

use std::collections::VecDeque;
use std::ops::Range;

use crate::automaton::{FormAutomaton, ROOT};
use crate::encoding::{Decoded, Encoding, MAX_ESCAPE};
use crate::forms::{is_skipped, unit_bytes};
use crate::terminal::TerminalState;

/// Most skipped bytes and escapes between two bytes of a form, beside those that the value itself has: a line break
/// and the indentation of the next line, or the colours around a character. What is held back of a stream depends on it.
pub(crate) const MAX_GAP: usize = 16;

/// One reading of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    encoding: Encoding,
    state: u32,
    /// Where the bytes are in the stream that may be the beginning of a form.
    starts: VecDeque<u64>,
    gap: usize,
    escape: [u8; MAX_ESCAPE],
    escaped: usize,
    /// The state of a terminal after these bytes.
    sequence: TerminalState,
    /// How many escaped backslashes precede these bytes.
    backslashes: usize,
    /// The first half of a character beyond U+FFFF, and where it is.
    half: Option<(u16, u64)>,
}

/// What a reading needs to take a byte.
pub(crate) struct Search<'a> {
    pub(crate) automaton: &'a FormAutomaton,
    /// Most bytes that are skipped between two bytes of a form.
    pub(crate) max_gap: usize,
    /// Where forms were found.
    pub(crate) found: &'a mut Vec<Range<u64>>,
}

impl Reading {
    pub(crate) fn new() -> Self {
        Self {
            encoding: Encoding::Plain,
            state: ROOT,
            starts: VecDeque::new(),
            gap: 0,
            escape: [0; MAX_ESCAPE],
            escaped: 0,
            sequence: TerminalState::Ground,
            backslashes: 0,
            half: None,
        }
    }

    /// Returns the same reading, from here on with the escapes of an encoding.
    pub(crate) fn with(&self, encoding: Encoding) -> Self {
        Self { encoding, ..self.clone() }
    }

    /// Whether nothing has begun that could become a form.
    pub(crate) fn is_idle(&self) -> bool {
        self.state == ROOT && self.escaped == 0
    }

    /// The encoding whose escapes are decoded.
    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Whether it makes a difference to decode an escape that begins with a byte.
    pub(crate) fn needs(&self, encoding: Encoding, byte: u8, automaton: &FormAutomaton) -> bool {
        let has_begun = self.state != ROOT;
        encoding.is_special(byte)
            && match encoding {
                // These separate the bytes of a form that has begun.
                Encoding::Terminal => has_begun,
                Encoding::Form => has_begun || byte != b'+',
                Encoding::MixedHexadecimal => {
                    has_begun || automaton.begins(byte.to_ascii_lowercase())
                }
                // Nested JSON has the same escapes, and differs in those of a backslash.
                Encoding::Json | Encoding::JsonInJson | Encoding::JsonInJsonInJson => {
                    automaton.has_backslash()
                }
                Encoding::Plain | Encoding::Percent | Encoding::NestedJson => true,
            }
    }

    /// Whether it is outside of escapes or has just begun one: only then another reading may newly cover it.
    pub(crate) fn is_settled(&self) -> bool {
        self.escaped < 2
    }

    /// Whether this reading finds all that another finds from here on, if both decode the same escapes.
    pub(crate) fn covers(&self, other: &Self, automaton: &FormAutomaton) -> bool {
        self.escaped == other.escaped
            && self.half == other.half
            && automaton.includes(self.state, other.state)
            && (other.state == ROOT || (self.gaps_before(other) && self.starts_before(other)))
    }

    /// Whether as much or more may be skipped in this reading.
    fn gaps_before(&self, other: &Self) -> bool {
        self.gap <= other.gap && (self.escaped == 0 || self.backslashes == other.backslashes)
    }

    /// Whether what has begun in another reading began there or before in this one.
    fn starts_before(&self, other: &Self) -> bool {
        self.starts.iter().rev().zip(other.starts.iter().rev()).all(|(own, other)| own <= other)
    }

    /// The first byte that may belong to a form that has not ended, in a stream of which so many bytes were read.
    pub(crate) fn undecided(&self, read: u64) -> Option<u64> {
        let half = self.half.map(|(_, at)| at);
        let escape = (self.escaped > 0).then(|| read - self.escaped as u64);
        self.starts.front().copied().or(half).or(escape)
    }

    /// Takes the byte at a place of the stream.
    pub(crate) fn take(&mut self, byte: u8, at: u64, search: &mut Search<'_>) {
        if self.escaped == 0 {
            if !self.begins_escape(byte, search) {
                return self.put(byte, at..at + 1, search);
            }
            self.sequence = TerminalState::Ground;
            self.backslashes = 0;
        }
        self.escape[self.escaped] = byte;
        self.escaped += 1;
        let range = at + 1 - self.escaped as u64..at + 1;
        match self.encoding.decode(&self.escape[..self.escaped], &mut self.sequence) {
            Decoded::Unfinished => return,
            Decoded::Literal => return self.spell_out(at + 1, search),
            Decoded::Again => {
                // Many in a row are as much of a gap as one sequence of a terminal.
                if self.backslashes.is_multiple_of(MAX_ESCAPE) {
                    self.skip(search);
                }
                self.backslashes += 1;
                self.escaped = 1;
                return;
            }
            Decoded::GapBefore(bytes) => {
                self.skip(search);
                return self.take_last(bytes, at + 1, search);
            }
            Decoded::Gap => self.skip(search),
            Decoded::Byte(byte) => self.put(byte, range, search),
            Decoded::Unit(unit) => self.put_unit(unit, range, search),
        }
        self.escaped = 0;
    }

    fn begins_escape(&self, byte: u8, search: &Search<'_>) -> bool {
        let is_literal = || {
            let next = search.automaton.next(self.state, byte);
            self.encoding.prefers_literal(byte) && search.automaton.depth(next) > 1
        };
        self.encoding.is_special(byte) && !is_literal()
    }

    /// Takes the stream's end: an escape that has begun will not go on.
    pub(crate) fn end(&mut self, read: u64, search: &mut Search<'_>) {
        while self.escaped > 0 {
            self.spell_out(read, search);
        }
    }

    /// Takes the first byte of what was no escape as itself, and then the others.
    fn spell_out(&mut self, end: u64, search: &mut Search<'_>) {
        let first = end - self.escaped as u64;
        self.put(self.escape[0], first..first + 1, search);
        self.take_last(self.escaped - 1, end, search);
    }

    /// Forgets the escape that has begun, and takes so many of its last bytes again.
    fn take_last(&mut self, count: usize, end: u64, search: &mut Search<'_>) {
        let (bytes, length) = (self.escape, std::mem::take(&mut self.escaped));
        for (at, byte) in (end - count as u64..).zip(&bytes[length - count..length]) {
            self.take(*byte, at, search);
        }
    }

    fn skip(&mut self, search: &Search<'_>) {
        self.gap += 1;
        if self.gap > search.max_gap {
            self.give_up();
        }
    }

    /// Forgets what has begun.
    fn give_up(&mut self) {
        self.state = ROOT;
        self.starts.clear();
        self.half = None;
    }

    /// Takes a unit of UTF-16. Both halves of a character are taken together, as the character.
    fn put_unit(&mut self, unit: u16, range: Range<u64>, search: &mut Search<'_>) {
        if let (Some((first, start)), 0xdc00..=0xdfff) = (self.half, unit) {
            self.half = None;
            for character in char::decode_utf16([first, unit]).flatten() {
                let bytes = character.encode_utf8(&mut [0; 4]).to_owned();
                bytes.bytes().for_each(|byte| self.put(byte, start..range.end, search));
            }
        } else if let 0xd800..=0xdbff = unit {
            self.give_up_half();
            self.gap = 0;
            self.half = Some((unit, range.start));
        } else {
            unit_bytes(unit).for_each(|byte| self.put(byte, range.clone(), search));
        }
    }

    /// Forgets what has begun if its last character is a half one: no value has any.
    fn give_up_half(&mut self) {
        if self.half.is_some() {
            self.give_up();
        }
    }

    fn put(&mut self, byte: u8, range: Range<u64>, search: &mut Search<'_>) {
        if is_skipped(byte) {
            return self.skip(search);
        }
        self.give_up_half();
        self.gap = 0;
        self.state = search.automaton.next(self.state, byte);
        self.starts.push_back(range.start);
        let excess = self.starts.len() - search.automaton.depth(self.state);
        self.starts.drain(..excess);
        let matched = search.automaton.matched(self.state);
        if matched > 0 {
            search.found.push(self.starts[self.starts.len() - matched]..range.end);
        }
    }
}
