//! Sequences of a terminal (ECMA-48 and ECMA-35): where one begins and where it ends, byte by byte.
//!
//! What a sequence means and how long one may be is left to the callers: masking skips short ones, and a transcript
//! takes out all of them and follows a few.

/// The state of a terminal that reads a stream: outside of sequences, or somewhere in one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TerminalState {
    /// Outside of sequences.
    #[default]
    Ground,
    /// After the first byte of a character of UTF-8 that may be a control character (U+0080 to U+009F).
    Lead,
    /// After an escape.
    Escape,
    /// After an escape and a byte that another has to follow, as where a character set is chosen.
    Intermediate,
    /// In a control sequence.
    Control,
    /// In a control string.
    String(ControlString, StringByte),
    /// In a control string, after an escape.
    StringEscape,
}

/// The kind of a control string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlString {
    /// A command of the operating system, such as a title. No control character is in it.
    Command,
    /// Any other, which may contain control characters: DCS, SOS, PM or APC.
    Data,
}

/// The meaning of the next byte of a control string, in which characters are those of UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringByte {
    /// It begins a character or is one.
    First,
    /// It is the second byte of a character that may be a control character.
    AfterLead,
    /// It is one of so many that complete a character.
    Rest(u8),
}

/// The meaning of a byte for a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalStep {
    /// It belongs to a sequence that goes on.
    Inside(TerminalState),
    /// It is a control character that has its effect although it is inside a sequence, which goes on.
    Effect(TerminalState),
    /// It is the last of a sequence.
    Last,
    /// It belongs to no sequence that came before it, and has to be read again in this state.
    Again(TerminalState),
    /// It is in no sequence and begins none.
    Outside,
}

impl TerminalState {
    /// Whether a byte may begin a sequence.
    pub const fn is_introducer(byte: u8) -> bool {
        matches!(byte, 0x1b | LEAD | 0x80..=0x9f)
    }

    /// Returns the meaning of the next byte.
    pub fn step(self, byte: u8) -> TerminalStep {
        use TerminalStep::{Again, Effect, Inside, Last};
        match (self, byte) {
            (Self::Ground, _) => introduce(byte),
            (Self::Lead, 0x80..=0x9f) => introduce(byte),
            (Self::Lead, _) => Again(Self::Ground),
            // Cancelled.
            (_, 0x18 | 0x1a) => Last,
            (Self::String(..), 0x1b) => Inside(Self::StringEscape),
            (Self::String(_, expected), _) if ends_string(expected, byte) => Last,
            (Self::String(ControlString::Command, _), ..0x20) => Again(Self::Ground),
            (Self::String(string, expected), _) => {
                Inside(Self::String(string, expected.after(byte)))
            }
            (Self::StringEscape, b'\\') => Last,
            // Cut off by another sequence.
            (Self::StringEscape, _) => Again(Self::Escape),
            (_, 0x1b | 0x80..) => Again(Self::Ground),
            (_, ..0x20) => Effect(self),
            (_, 0x7f) => Inside(self),
            (Self::Escape, _) => after_escape(byte),
            (Self::Intermediate, 0x20..=0x2f) | (Self::Control, 0x20..=0x3f) => Inside(self),
            (Self::Intermediate | Self::Control, _) => Last,
        }
    }
}

impl StringByte {
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Rest(rest @ 2..), 0x80..=0xbf) => Self::Rest(rest - 1),
            (_, LEAD) => Self::AfterLead,
            (_, 0xc3..=0xdf) => Self::Rest(1),
            (_, 0xe0..=0xef) => Self::Rest(2),
            (_, 0xf0..=0xf7) => Self::Rest(3),
            _ => Self::First,
        }
    }
}

/// The first byte of U+0080 to U+00BF in UTF-8.
const LEAD: u8 = 0xc2;

fn introduce(byte: u8) -> TerminalStep {
    let state = match byte {
        0x1b => TerminalState::Escape,
        LEAD => TerminalState::Lead,
        // Eight bits stand for an escape and seven bits.
        0x80..=0x9f => return after_escape(byte - 0x40),
        _ => return TerminalStep::Outside,
    };
    TerminalStep::Inside(state)
}

fn after_escape(byte: u8) -> TerminalStep {
    let state = match byte {
        b'[' => TerminalState::Control,
        b']' => TerminalState::String(ControlString::Command, StringByte::First),
        b'P' | b'X' | b'^' | b'_' => TerminalState::String(ControlString::Data, StringByte::First),
        0x20..=0x2f => TerminalState::Intermediate,
        _ => return TerminalStep::Last,
    };
    TerminalStep::Inside(state)
}

/// Whether a byte ends a control string. Terminals end one at a bell, too.
fn ends_string(expected: StringByte, byte: u8) -> bool {
    byte == 0x07 || (byte == 0x9c && !matches!(expected, StringByte::Rest(_)))
}
