//! The encodings that have escapes, and what an escape means in each.

use crate::terminal::{TerminalState, TerminalStep};

/// Longest escape that is decoded, in bytes: a control sequence of a terminal that sets both colours by their parts and
/// a few attributes, or a short title.
pub(crate) const MAX_ESCAPE: usize = 64;

/// How many encodings have escapes.
const ESCAPED: usize = 8;

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
    /// The same inside other JSON, where backslashes are escaped again, at up to ten levels. A backslash of the value
    /// itself is lost in it: how many are one depends on the depth.
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
    pub(crate) fn prefers_literal(self, byte: u8) -> bool {
        // Bytes in the middle of characters of UTF-8 are control characters of eight bits elsewhere.
        self == Self::Terminal && matches!(byte, 0x80..=0x9f)
    }

    /// Returns the meaning of an escape as far as it goes. Of a sequence of a terminal only the last byte is new.
    pub(crate) fn decode(self, escape: &[u8], sequence: &mut TerminalState) -> Decoded {
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
pub(crate) enum Decoded {
    /// It goes on.
    Unfinished,
    /// A unit of UTF-16, or a byte.
    Unit(u16),
    Byte(u8),
    /// Nothing that is part of a value.
    Gap,
    /// An escaped backslash, of which the second byte begins another escape.
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
