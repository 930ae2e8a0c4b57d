//! Reads what a program writes to a terminal as plain text.
//!
//! Escape sequences are taken out, whatever pieces they come in; what remains is text and the few
//! movements that matter for lines. What to make of those is the transcript's.

use std::ops::ControlFlow;

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
    state: State,
    /// The beginning of a character whose end has not come.
    partial: Vec<u8>,
    parameters: Vec<u8>,
    length: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After an escape.
    Escape,
    /// After an escape and a sign that something follows.
    Designation,
    /// In a control sequence.
    Control,
    /// In a string that only text may be in.
    Title,
    /// In a string that anything may be in.
    Data,
    /// In a string, after an escape.
    StringEscape,
}

impl Plain {
    /// Reads some bytes.
    pub(super) fn read(&mut self, mut bytes: &[u8], take: &mut dyn FnMut(Piece<'_>)) {
        while let Some((&first, rest)) = bytes.split_first() {
            if self.state == State::Text && !is_control(first) {
                let end = bytes.iter().position(|byte| is_control(*byte)).unwrap_or(bytes.len());
                self.text(&bytes[..end], take);
                bytes = &bytes[end..];
            } else if self.step(first, take).is_continue() {
                bytes = rest;
            }
        }
    }

    /// The stream is over; what has begun will not go on.
    pub(super) fn end(&mut self, take: &mut dyn FnMut(Piece<'_>)) {
        self.give_up_partial(take);
        self.state = State::Text;
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

    /// Takes a byte that is not text. One that does not belong to a sequence ends it and is looked
    /// at again.
    fn step(&mut self, byte: u8, take: &mut dyn FnMut(Piece<'_>)) -> ControlFlow<()> {
        self.state = match (self.state, byte) {
            (State::Text, _) => {
                self.give_up_partial(take);
                if byte == 0x1b { State::Escape } else { plain_control(byte, take) }
            }
            // Cancelled.
            (_, 0x18 | 0x1a) => State::Text,
            (State::Data | State::Title, 0x1b) => State::StringEscape,
            (State::Data | State::Title, 0x07) => State::Text,
            (State::Title, ..0x20) => return self.again(),
            (string @ (State::Data | State::Title), _) => self.lengthen(string),
            (State::StringEscape, b'\\') => State::Text,
            (_, 0x1b) => State::Escape,
            (State::Escape | State::StringEscape, _) => return self.after_escape(byte),
            // Control characters do their work inside of a sequence, too.
            (state @ (State::Control | State::Designation), ..0x20) => {
                plain_control(byte, take);
                state
            }
            (State::Designation, 0x20..=0x2f) => State::Designation,
            (State::Designation, 0x30..=0x7e) => State::Text,
            (State::Control, 0x20..=0x3f) => {
                if self.parameters.len() < MAX_PARAMETERS {
                    self.parameters.push(byte);
                }
                State::Control
            }
            (State::Control, 0x40..=0x7e) => {
                self.control(byte, take);
                State::Text
            }
            _ => return self.again(),
        };
        ControlFlow::Continue(())
    }

    fn again(&mut self) -> ControlFlow<()> {
        self.state = State::Text;
        ControlFlow::Break(())
    }

    fn lengthen(&mut self, string: State) -> State {
        self.length += 1;
        if self.length > MAX_STRING { State::Text } else { string }
    }

    fn after_escape(&mut self, byte: u8) -> ControlFlow<()> {
        self.length = 0;
        self.parameters.clear();
        self.state = match byte {
            b'[' => State::Control,
            b']' => State::Title,
            b'P' | b'X' | b'^' | b'_' => State::Data,
            0x20..=0x2f => State::Designation,
            0x30..=0x7e => State::Text,
            _ => return self.again(),
        };
        ControlFlow::Continue(())
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

fn is_control(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\t') || byte == 0x7f
}

/// A control character outside of sequences; most mean nothing to text.
fn plain_control(byte: u8, take: &mut dyn FnMut(Piece<'_>)) -> State {
    match byte {
        b'\n' => take(Piece::Newline),
        b'\r' => take(Piece::Return),
        0x08 => take(Piece::Back),
        _ => {}
    }
    State::Text
}

/// Gives the text and returns the beginning of a character at the end.
fn decode(bytes: &[u8], take: &mut dyn FnMut(Piece<'_>)) -> Vec<u8> {
    let mut rest = bytes;
    loop {
        let error = match std::str::from_utf8(rest) {
            Ok(text) => {
                printable(text, take);
                return Vec::new();
            }
            Err(error) => error,
        };
        let (valid, after) = rest.split_at(error.valid_up_to());
        printable(std::str::from_utf8(valid).unwrap_or_default(), take);
        let Some(length) = error.error_len() else { return after.to_vec() };
        take(Piece::Text("\u{fffd}"));
        rest = &after[length..];
    }
}

/// Gives a text without the control characters beyond ASCII.
fn printable(text: &str, take: &mut dyn FnMut(Piece<'_>)) {
    let parts = text.split(|character| ('\u{80}'..='\u{9f}').contains(&character));
    parts.filter(|part| !part.is_empty()).for_each(|part| take(Piece::Text(part)));
}
