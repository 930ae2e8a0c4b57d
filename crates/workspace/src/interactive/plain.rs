//! Reads what a program writes to a terminal as plain text.
//!
//! Escape sequences are taken out, whatever pieces they come in; what remains is text and the few
//! movements that matter for lines. What to make of those is the transcript's.

use std::ops::ControlFlow;

use metier_secrets::{TerminalState, TerminalStep};

/// Longest sequence of parameters that is looked at, in bytes.
const MAX_PARAMETERS: usize = 32;
/// Longest string (a title, a picture) that is taken out as one, in bytes.
const MAX_STRING: usize = 1 << 20;

/// Something that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Text, without control characters other than tabs.
    Text(&'a str),
    /// The line is over.
    Newline,
    /// Back to the beginning of the line.
    Return,
    /// Back by one character.
    Back,
    /// The rest of the line is empty.
    EraseRest,
    /// The line is empty.
    EraseLine,
}

/// Reads one stream.
#[derive(Debug, Default)]
pub(super) struct Plain {
    state: TerminalState,
    /// The beginning of a character whose end has not come.
    partial: Vec<u8>,
    parameters: Vec<u8>,
    length: usize,
}

impl Plain {
    /// Reads some bytes.
    pub(super) fn read(&mut self, mut bytes: &[u8], take: &mut dyn FnMut(Piece<'_>)) {
        while let Some((&first, rest)) = bytes.split_first() {
            if self.state == TerminalState::Ground && !is_special(first) {
                let end = bytes.iter().position(|byte| is_special(*byte)).unwrap_or(bytes.len());
                self.text(&bytes[..end], take);
                bytes = &bytes[end..];
            } else if self.step(first, take).is_continue() {
                bytes = rest;
            }
        }
    }

    /// The stream is over; what has begun will not go on.
    pub(super) fn end(&mut self, take: &mut dyn FnMut(Piece<'_>)) {
        self.give_up_lead(take);
        self.give_up_partial(take);
        self.state = TerminalState::Ground;
    }

    fn text(&mut self, bytes: &[u8], take: &mut dyn FnMut(Piece<'_>)) {
        if self.partial.is_empty() {
            self.partial = decode(bytes, take);
        } else {
            let mut whole = std::mem::take(&mut self.partial);
            whole.extend_from_slice(bytes);
            self.partial = decode(&whole, take);
        }
    }

    fn give_up_partial(&mut self, take: &mut dyn FnMut(Piece<'_>)) {
        if !std::mem::take(&mut self.partial).is_empty() {
            take(Piece::Text("\u{fffd}"));
        }
    }

    /// Gives the first byte of a character to the text if the character turned out not to be a control character.
    fn give_up_lead(&mut self, take: &mut dyn FnMut(Piece<'_>)) {
        if self.state == TerminalState::Lead {
            self.text(&[0xc2], take);
        }
    }

    /// Takes a byte that is not text. One that does not belong to a sequence ends it and is looked
    /// at again.
    fn step(&mut self, byte: u8, take: &mut dyn FnMut(Piece<'_>)) -> ControlFlow<()> {
        let before = self.state;
        self.state = match before.step(byte) {
            TerminalStep::Inside(state) => self.inside(state, byte, take),
            TerminalStep::Effect(state) => {
                plain_control(byte, take);
                state
            }
            TerminalStep::Last => {
                if before == TerminalState::Control {
                    self.control(byte, take);
                }
                TerminalState::Ground
            }
            TerminalStep::Again(state) => {
                self.give_up_lead(take);
                self.state = state;
                self.length = 0;
                return ControlFlow::Break(());
            }
            TerminalStep::Outside => {
                self.give_up_partial(take);
                plain_control(byte, take);
                TerminalState::Ground
            }
        };
        ControlFlow::Continue(())
    }

    /// Takes a byte of a sequence that goes on, and returns the state after it.
    fn inside(
        &mut self,
        state: TerminalState,
        byte: u8,
        take: &mut dyn FnMut(Piece<'_>),
    ) -> TerminalState {
        match self.state {
            TerminalState::Ground => {
                self.give_up_partial(take);
                self.length = 0;
                self.parameters.clear();
            }
            TerminalState::Control if self.parameters.len() < MAX_PARAMETERS => {
                self.parameters.push(byte);
            }
            _ => {}
        }
        self.length += 1;
        if self.length > MAX_STRING { TerminalState::Ground } else { state }
    }

    /// The end of a control sequence. Few matter to lines.
    fn control(&self, last: u8, take: &mut dyn FnMut(Piece<'_>)) {
        match (last, &self.parameters[..]) {
            (b'K', b"" | b"0") => take(Piece::EraseRest),
            (b'K', b"2") => take(Piece::EraseLine),
            // To the first column.
            (b'G', b"" | b"0" | b"1") => take(Piece::Return),
            _ => {}
        }
    }
}

/// Whether a byte is a control character other than a tab, or may be the first of one.
fn is_special(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\t') || matches!(byte, 0x7f | 0xc2)
}

/// A control character outside of sequences; most mean nothing to text.
fn plain_control(byte: u8, take: &mut dyn FnMut(Piece<'_>)) {
    match byte {
        b'\n' => take(Piece::Newline),
        b'\r' => take(Piece::Return),
        0x08 => take(Piece::Back),
        _ => {}
    }
}

/// Gives the text and returns the beginning of a character at the end.
fn decode(bytes: &[u8], take: &mut dyn FnMut(Piece<'_>)) -> Vec<u8> {
    let mut rest = bytes;
    loop {
        let error = match std::str::from_utf8(rest) {
            Ok(text) => {
                give(text, take);
                return Vec::new();
            }
            Err(error) => error,
        };
        let (valid, after) = rest.split_at(error.valid_up_to());
        give(std::str::from_utf8(valid).unwrap_or_default(), take);
        let Some(length) = error.error_len() else { return after.to_vec() };
        take(Piece::Text("\u{fffd}"));
        rest = &after[length..];
    }
}

/// Gives a text; control characters are not in it.
fn give(text: &str, take: &mut dyn FnMut(Piece<'_>)) {
    if !text.is_empty() {
        take(Piece::Text(text));
    }
}
