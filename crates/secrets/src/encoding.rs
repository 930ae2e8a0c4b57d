//! One reading of a stream: its bytes with the escapes of one encoding decoded, and where forms are in it.

use std::collections::VecDeque;
use std::ops::Range;

use crate::automaton::{FormAutomaton, ROOT};
use crate::forms::{is_skipped, unit_bytes};
use crate::terminal::{TerminalState, TerminalStep};

/// Most skipped bytes and escapes between two bytes of a form, beside those that the value itself has: a line break
/// and the indentation of the next line, or the colours around a character. What is held back of a stream depends on it.
pub(crate) const MAX_GAP: usize = 16;
/// Longest escape that is decoded, in bytes: a control sequence of a terminal that sets both colours by their parts and
/// a few attributes, or a short title.
const MAX_ESCAPE: usize = 64;

/// How many encodings have escapes.
pub(crate) const ESCAPED: usize = 8;

/// How a program may have written a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// As it is.
    Plain,
    /// With `%2B`.
    Percent,
    /// The same, with `+` for blanks.
    Form,
    /// With `\n`, `\u002b` and `\x2b`.
    Json,
    /// The same inside other JSON, where backslashes are escaped again, at any depth. A backslash of the value itself
    /// is lost in it: how many are one depends on the depth.
    NestedJson,
    /// JSON in JSON, where four backslashes are one of the value.
    JsonInJson,
    /// The same once more: eight are one.
    JsonInJsonInJson,
    /// With capital letters among hexadecimal digits, beside small ones.
    MixedHexadecimal,
    /// With control sequences of a terminal.
    Terminal,
}

impl Encoding {
    /// The encodings that have escapes.
    pub(crate) const ESCAPED: [Self; ESCAPED] = [
        Self::Percent,
        Self::Form,
        Self::Json,
        Self::NestedJson,
        Self::JsonInJson,
        Self::JsonInJsonInJson,
        Self::MixedHexadecimal,
        Self::Terminal,
    ];

    /// Whether a byte means something else than itself.
    pub(crate) fn is_special(self, byte: u8) -> bool {
        match self {
            Self::Plain => false,
            Self::Percent => byte == b'%',
            Self::Form => byte == b'%' || byte == b'+',
            Self::Json | Self::NestedJson | Self::JsonInJson | Self::JsonInJsonInJson => {
                byte == b'\\'
            }
            Self::MixedHexadecimal => matches!(byte, b'A'..=b'F'),
            Self::Terminal => TerminalState::is_introducer(byte),
        }
    }

    /// Whether a byte stands for itself where a form has begun that it continues, although it may begin an escape.
    fn prefers_literal(self, byte: u8) -> bool {
        // Bytes in the middle of characters of UTF-8 are control characters of eight bits elsewhere.
        self == Self::Terminal && matches!(byte, 0x80..=0x9f)
    }

    /// Returns the meaning of an escape as far as it goes. Of a sequence of a terminal only the last byte is new.
    fn decode(self, escape: &[u8], sequence: &mut TerminalState) -> Decoded {
        match self {
            Self::Plain => Decoded::Literal,
            Self::Percent => percent(escape),
            Self::Form => {
                if escape == b"+" {
                    Decoded::Gap
                } else {
                    percent(escape)
                }
            }
            Self::NestedJson if escape == br"\\" => Decoded::Again,
            Self::Json | Self::NestedJson => json(escape),
            Self::JsonInJson => nested_json(escape, 4),
            Self::JsonInJsonInJson => nested_json(escape, 8),
            Self::MixedHexadecimal => Decoded::Byte(escape[0].to_ascii_lowercase()),
            Self::Terminal => terminal(escape, sequence),
        }
    }
}

/// The meaning of the beginning of an escape.
enum Decoded {
    /// It goes on.
    Unfinished,
    /// A unit of UTF-16, or a byte.
    Unit(u16),
    Byte(u8),
    /// Nothing that is part of a value.
    Gap,
    /// Nothing, and the last byte begins an escape.
    Again,
    /// Nothing, and so many bytes at the end do not belong to it.
    GapBefore(usize),
    /// No escape: each byte stands for itself.
    Literal,
}

fn percent(escape: &[u8]) -> Decoded {
    match number(&escape[1..], 2) {
        Some(Some(byte)) => Decoded::Byte(byte as u8),
        Some(None) => Decoded::Unfinished,
        None => Decoded::Literal,
    }
}

fn json(escape: &[u8]) -> Decoded {
    let Some(kind) = escape.get(1) else { return Decoded::Unfinished };
    let length = match kind {
        b'"' | b'\\' | b'/' | b'\'' => return Decoded::Byte(*kind),
        b'b' | b'f' | b'n' | b'r' | b't' => return Decoded::Gap,
        b'u' => 4,
        b'x' => 2,
        _ => return Decoded::Literal,
    };
    match number(&escape[2..], length) {
        Some(Some(unit)) if length == 2 => Decoded::Byte(unit as u8),
        Some(Some(unit)) => Decoded::Unit(unit),
        Some(None) => Decoded::Unfinished,
        None => Decoded::Literal,
    }
}

/// Decodes an escape of JSON inside JSON, where so many backslashes are one of the value. The last of fewer begins an
/// escape, of whichever depth.
fn nested_json(escape: &[u8], backslashes: usize) -> Decoded {
    let leading = escape.iter().take_while(|byte| **byte == b'\\').count();
    if leading == backslashes { Decoded::Byte(b'\\') } else { json(&escape[leading - 1..]) }
}

/// Decodes a sequence of a terminal, of which all bytes but the last have been read.
fn terminal(escape: &[u8], sequence: &mut TerminalState) -> Decoded {
    let [.., last] = escape else { return Decoded::Literal };
    match sequence.step(*last) {
        TerminalStep::Inside(state) | TerminalStep::Effect(state) => {
            *sequence = state;
            if escape.len() < MAX_ESCAPE { Decoded::Unfinished } else { Decoded::Literal }
        }
        TerminalStep::Last => Decoded::Gap,
        TerminalStep::Outside => Decoded::Literal,
        TerminalStep::Again(_) if *sequence == TerminalState::Lead => Decoded::Literal,
        TerminalStep::Again(TerminalState::Ground) => Decoded::GapBefore(1),
        // The escape that cut a string off begins the next sequence.
        TerminalStep::Again(_) => Decoded::GapBefore(2),
    }
}

/// Reads so many hexadecimal digits: nothing if these are none, and no number if there are too few yet.
fn number(digits: &[u8], length: usize) -> Option<Option<u16>> {
    let mut number = 0;
    for digit in digits {
        number = number << 4 | char::from(*digit).to_digit(16)? as u16;
    }
    Some((digits.len() == length).then_some(number))
}

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

    /// Whether both readings find the same from here on, as far as there are no further escapes.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        self.escaped == 0
            && self.state == other.state
            && self.gap == other.gap
            && self.starts == other.starts
    }

    /// The first byte that may belong to a form that has not ended, in a stream of which so many bytes were read.
    pub(crate) fn undecided(&self, read: u64) -> Option<u64> {
        let escape = (self.escaped > 0).then(|| read - self.escaped as u64);
        self.starts.front().copied().or(escape)
    }

    /// Takes the byte at a place of the stream.
    pub(crate) fn take(&mut self, byte: u8, at: u64, search: &mut Search<'_>) {
        if self.escaped == 0 {
            if !self.begins_escape(byte, search) {
                return self.put(byte, at..at + 1, search);
            }
            self.sequence = TerminalState::Ground;
        }
        self.escape[self.escaped] = byte;
        self.escaped += 1;
        let range = at + 1 - self.escaped as u64..at + 1;
        match self.encoding.decode(&self.escape[..self.escaped], &mut self.sequence) {
            Decoded::Unfinished => return,
            Decoded::Literal => return self.spell_out(at + 1, search),
            Decoded::Again => {
                self.skip(search);
                self.escaped = 1;
                return;
            }
            Decoded::GapBefore(bytes) => {
                self.skip(search);
                return self.take_last(bytes, at + 1, search);
            }
            Decoded::Gap => self.skip(search),
            Decoded::Byte(byte) => self.put(byte, range, search),
            Decoded::Unit(unit) => {
                unit_bytes(unit).for_each(|byte| self.put(byte, range.clone(), search));
            }
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
            self.state = ROOT;
            self.starts.clear();
        }
    }

    fn put(&mut self, byte: u8, range: Range<u64>, search: &mut Search<'_>) {
        if is_skipped(byte) {
            return self.skip(search);
        }
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
