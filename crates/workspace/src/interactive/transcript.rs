//! What a program wrote and nobody has taken yet, as lines of plain text.
//!
//! Every character is given once, in order; all that was given, put together, is what was written.
//! A line that is rewritten (a progress bar) is given as it is when it is taken. What was given
//! already cannot be taken back, so a later state of such a line begins on a line of its own.

use std::collections::VecDeque;

use metier_sandbox::Stream;

use super::answer::Interaction;
use super::plain::{Piece, Plain};
use super::prompt::{self, LastLines};

/// Longest part of a line that is kept together, in bytes.
const MAX_PART: usize = 64 << 10;
/// Lines that are remembered to guess what the program waits for.
const REMEMBERED: usize = 32;
/// What is remembered of each, in bytes.
const REMEMBERED_BYTES: usize = 4 * prompt::MAX_HINT;

/// What is kept until it is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) lines: usize,
    pub(super) bytes: usize,
}

/// A part of the output.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) text: String,
    pub(super) offset: u64,
    pub(super) next_offset: u64,
    pub(super) dropped_lines: u64,
}

#[derive(Debug)]
pub(super) struct Transcript {
    bounds: Bounds,
    output: Plain,
    error: Plain,
    page: Page,
}

impl Transcript {
    pub(super) fn new(bounds: Bounds) -> Self {
        let page = Page { bounds, ..Page::default() };
        Self { bounds, output: Plain::default(), error: Plain::default(), page }
    }

    /// Writes down what came.
    pub(super) fn write(&mut self, stream: Stream, bytes: &[u8]) {
        let plain = match stream {
            Stream::Output => &mut self.output,
            Stream::Error => &mut self.error,
        };
        plain.read(bytes, &mut |piece| self.page.put(piece));
    }

    /// Nothing more will come.
    pub(super) fn end(&mut self) {
        self.output.end(&mut |piece| self.page.put(piece));
        self.error.end(&mut |piece| self.page.put(piece));
    }

    /// Whether there are so many lines or bytes to take.
    pub(super) fn has(&self, wanted: Bounds) -> bool {
        self.page.unread.len() >= wanted.lines || self.page.bytes >= wanted.bytes
    }

    /// Whether there is anything to take.
    pub(super) fn has_any(&self) -> bool {
        !self.page.unread.is_empty() || !self.page.open.is_empty()
    }

    /// Takes what comes next, but no more than so many lines and bytes.
    pub(super) fn take(&mut self, most: Bounds) -> Taken {
        self.page.take(most)
    }

    /// Input has been sent: what was asked before is answered.
    pub(super) fn answered(&mut self) {
        self.page.last_lines.clear();
        self.page.last_line.clear();
    }

    /// What the program seems to wait for.
    pub(super) fn interaction(&mut self) -> Option<Interaction> {
        let ended = self.page.last_lines.make_contiguous();
        prompt::guess(LastLines { ended, open: &self.page.last_line })
    }

    /// A whole text as it would have been taken.
    pub(super) fn plain(text: &str) -> String {
        let everything = Bounds { lines: usize::MAX, bytes: usize::MAX };
        let mut transcript = Self::new(everything);
        transcript.write(Stream::Output, text.as_bytes());
        transcript.end();
        transcript.take(transcript.bounds).text
    }
}

#[derive(Debug, Default)]
struct Page {
    bounds: Bounds,
    /// Lines with their ends, or parts of long ones.
    unread: VecDeque<String>,
    /// Bytes of all of them.
    bytes: usize,
    /// What there is of the line that is not over, and was not taken.
    open: String,
    /// Whether an earlier part of that line has left.
    has_left: bool,
    /// Whether what comes next is at the beginning of the line again.
    has_returned: bool,
    /// Where the next byte to be taken is.
    offset: u64,
    dropped_lines: u64,
    last_lines: VecDeque<String>,
    last_line: String,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { lines: usize::MAX, bytes: usize::MAX }
    }
}

impl Page {
    fn put(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Text(text) => self.text(text),
            Piece::Newline => self.newline(),
            Piece::Return => self.has_returned = true,
            Piece::Back => {
                self.open.pop();
                self.last_line.pop();
            }
            Piece::EraseRest if !self.has_returned => {}
            Piece::EraseRest | Piece::EraseLine => {
                self.open.clear();
                self.last_line.clear();
                self.has_returned = true;
            }
        }
    }

    fn text(&mut self, text: &str) {
        if self.has_returned {
            self.rewrite();
        }
        self.open.push_str(text);
        let room = REMEMBERED_BYTES.saturating_sub(self.last_line.len());
        self.last_line.push_str(&text[..text.floor_char_boundary(room)]);
        if self.open.len() > MAX_PART {
            self.has_left = true;
            self.leave();
        }
    }

    /// Begins the line anew.
    fn rewrite(&mut self) {
        self.has_returned = false;
        self.open.clear();
        self.last_line.clear();
        if std::mem::take(&mut self.has_left) {
            self.open.push('\n');
            self.leave();
        }
    }

    fn newline(&mut self) {
        self.has_returned = false;
        self.has_left = false;
        self.open.push('\n');
        self.leave();
        if self.last_lines.len() == REMEMBERED {
            self.last_lines.pop_front();
        }
        self.last_lines.push_back(std::mem::take(&mut self.last_line));
    }

    /// Puts the open line to the others; the oldest go when there are too many.
    fn leave(&mut self) {
        let line = std::mem::take(&mut self.open);
        self.bytes += line.len();
        self.unread.push_back(line);
        while self.unread.len() > self.bounds.lines || self.bytes > self.bounds.bytes {
            let Some(oldest) = self.unread.pop_front() else { return };
            self.bytes -= oldest.len();
            self.offset += oldest.len() as u64;
            self.dropped_lines += 1;
        }
    }

    fn take(&mut self, most: Bounds) -> Taken {
        let offset = self.offset;
        let mut text = String::new();
        let mut lines = 0;
        while lines < most.lines
            && text.len() < most.bytes
            && let Some(mut line) = self.unread.pop_front()
        {
            self.bytes -= line.len();
            let rest = move_over(&mut line, &mut text, most.bytes);
            if !rest.is_empty() {
                self.bytes += rest.len();
                self.unread.push_front(rest);
                break;
            }
            lines += 1;
        }
        if lines < most.lines && self.unread.is_empty() && !self.open.is_empty() {
            let before = text.len();
            self.open = move_over(&mut self.open, &mut text, most.bytes);
            self.has_left |= text.len() > before;
        }
        self.offset += text.len() as u64;
        let dropped_lines = std::mem::take(&mut self.dropped_lines);
        Taken { text, offset, next_offset: self.offset, dropped_lines }
    }
}

/// Moves as much of a line as fits into a text; gives the rest.
fn move_over(line: &mut String, text: &mut String, most: usize) -> String {
    let room = line.floor_char_boundary(most.saturating_sub(text.len()));
    let rest = line.split_off(room);
    text.push_str(line);
    rest
}
