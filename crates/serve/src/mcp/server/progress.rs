//! What a command prints, on its way to a client that wants to see it while it runs.
//!
//! All of it is in the result; this is for watching. So there is little of it: whole lines, gathered for a moment, and
//! of too many only the last.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metier_sandbox::Stream;
use metier_skill::name::is_invisible;
use metier_workspace::executor::Live;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};

/// Between two notices.
const PACE: Duration = Duration::from_millis(100);
/// Longest text of a notice, in bytes; a line that is longer is several.
const MAX_BYTES: usize = 4 << 10;
/// Kept free for saying that lines were left out.
const NOTE_BYTES: usize = 64;

/// The lines that were not told yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    /// Beginnings of lines, of each stream.
    begun: [Vec<u8>; 2],
    /// Whether a beginning has grown since it was last looked at.
    has_grown: bool,
    lines: VecDeque<String>,
    /// Bytes of these lines.
    bytes: usize,
    left_out: u64,
    /// Lines there were.
    total: u64,
}

/// Something to tell.
#[derive(Debug, PartialEq, Eq)]
struct Notice {
    total: u64,
    text: String,
}

impl Lines {
    /// What takes them from a run.
    pub(super) fn live(&self) -> Live {
        let lines = self.clone();
        Box::new(move |stream, bytes| lines.waiting().take(stream, bytes))
    }

    /// Tells a client about them for as long as it is waited for.
    pub(super) async fn tell(&self, token: &ProgressToken, peer: &Peer<RoleServer>) {
        loop {
            tokio::time::sleep(PACE).await;
            let notice = self.waiting().notice();
            self.send(notice, token, peer).await;
        }
    }

    /// Tells what is left.
    pub(super) async fn tell_rest(&self, token: &ProgressToken, peer: &Peer<RoleServer>) {
        let notice = self.waiting().rest();
        self.send(notice, token, peer).await;
    }

    async fn send(&self, notice: Option<Notice>, token: &ProgressToken, peer: &Peer<RoleServer>) {
        let Some(Notice { total, text }) = notice else { return };
        #[expect(clippy::cast_precision_loss, reason = "nobody prints that many lines")]
        let notice = ProgressNotificationParam::new(token.clone(), total as f64);
        // A client that is gone needs no progress; its call is stopped elsewhere.
        let _gone = peer.notify_progress(notice.with_message(text)).await;
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn take(&mut self, stream: Stream, bytes: &[u8]) {
        let index = usize::from(matches!(stream, Stream::Error));
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (text, is_whole) = match piece.split_last() {
                Some((b'\n' | b'\r', text)) => (text, true),
                _ => (piece, false),
            };
            for part in text.chunks(MAX_BYTES) {
                self.begun[index].extend_from_slice(part);
                self.cut(index);
            }
            if is_whole {
                let line = std::mem::take(&mut self.begun[index]);
                self.push(&line);
            }
        }
        self.has_grown = true;
    }

    /// Makes a line of one that is too long to be waited for.
    fn cut(&mut self, index: usize) {
        let begun = &mut self.begun[index];
        if begun.len() >= MAX_BYTES - NOTE_BYTES {
            let rest = begun.split_off(whole_characters(begun));
            let line = std::mem::replace(begun, rest);
            self.push(&line);
        }
    }

    fn push(&mut self, line: &[u8]) {
        let line = safe(&String::from_utf8_lossy(line));
        if line.is_empty() {
            return;
        }
        self.total += 1;
        self.bytes += line.len() + 1;
        self.lines.push_back(line);
        while self.bytes > MAX_BYTES - NOTE_BYTES && self.lines.len() > 1 {
            let gone = self.lines.pop_front().map_or(0, |line| line.len() + 1);
            self.bytes -= gone;
            self.left_out += 1;
        }
    }

    /// What to tell now. A line that was begun is told when it has not grown for a while: it may be a question.
    fn notice(&mut self) -> Option<Notice> {
        if self.lines.is_empty() && !self.has_grown {
            for index in 0..self.begun.len() {
                let rest = self.begun[index].split_off(whole_characters(&self.begun[index]));
                let line = std::mem::replace(&mut self.begun[index], rest);
                self.push(&line);
            }
        }
        self.has_grown = false;
        self.gathered()
    }

    fn rest(&mut self) -> Option<Notice> {
        for index in 0..self.begun.len() {
            let line = std::mem::take(&mut self.begun[index]);
            self.push(&line);
        }
        self.gathered()
    }

    fn gathered(&mut self) -> Option<Notice> {
        if self.lines.is_empty() {
            return None;
        }
        let mut text = String::new();
        if self.left_out > 0 {
            let _infallible = writeln!(text, "({} lines are left out here)", self.left_out);
        }
        let lines: Vec<String> = self.lines.drain(..).collect();
        text.push_str(&lines.join("\n"));
        (self.bytes, self.left_out) = (0, 0);
        text.truncate(text.floor_char_boundary(MAX_BYTES));
        Some(Notice { total: self.total, text })
    }
}

/// How many bytes are characters to their end.
fn whole_characters(bytes: &[u8]) -> usize {
    let end = bytes.len();
    let first = (end.saturating_sub(3)..end).rev().find(|&at| bytes[at] & 0xc0 != 0x80);
    match first {
        Some(at) if bytes[at] >= 0xf0 && end - at < 4 => at,
        Some(at) if bytes[at] >= 0xe0 && end - at < 3 => at,
        Some(at) if bytes[at] >= 0xc0 && end - at < 2 => at,
        _ => end,
    }
}

/// A line with whatever would move a cursor, hide or turn text written out.
fn safe(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for character in line.chars() {
        if character == '\t' || !is_invisible(character) {
            text.push(character);
        } else {
            let _infallible = write!(text, "\\u{{{:x}}}", u32::from(character));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told after each of these was printed, one notice a line.
    fn told(pieces: &[(Stream, &[u8])]) -> Vec<String> {
        let lines = Lines::default();
        let mut live = lines.live();
        let mut told = Vec::new();
        for (stream, bytes) in pieces {
            live(*stream, bytes);
            told.extend(lines.waiting().notice().map(|it| format!("{} {:?}", it.total, it.text)));
        }
        told.extend(lines.waiting().rest().map(|it| format!("{} {:?}", it.total, it.text)));
        told
    }

    #[test]
    fn lines_are_told_whole_and_streams_do_not_mix() {
        let told = told(&[
            (Stream::Output, b"one\ntw"),
            (Stream::Error, b"oops\n"),
            (Stream::Output, b"o\r\nthree"),
        ]);
        insta::assert_snapshot!(told.join("\n"), @r#"
        1 "one"
        2 "oops"
        3 "two"
        4 "three"
        "#);
    }

    #[test]
    fn a_character_is_not_cut_between_two_chunks() {
        let (head, tail) = "naïve 技能\n".as_bytes().split_at(3);
        assert_eq!(told(&[(Stream::Output, head), (Stream::Output, tail)]), ["1 \"naïve 技能\""]);
        let lines = Lines::default();
        lines.live()(Stream::Output, &"prompt 技".as_bytes()[..9]);
        assert_eq!(lines.waiting().notice(), None, "it has just grown");
        let notice = lines.waiting().notice().unwrap();
        assert_eq!(notice.text, "prompt ", "what is begun is told, but no half of a character");
    }

    #[test]
    fn escapes_and_direction_marks_are_written_out() {
        let text = "\u{1b}[2Jred\u{202e}\u{7}\n";
        let told = told(&[(Stream::Output, text.as_bytes())]);
        assert_eq!(told, ["1 \"\\\\u{1b}[2Jred\\\\u{202e}\\\\u{7}\""]);
    }

    #[test]
    fn a_flood_is_told_by_its_last_lines_within_the_bound() {
        let lines = Lines::default();
        let mut live = lines.live();
        for number in 0..10_000 {
            live(Stream::Output, format!("line {number}\n").as_bytes());
        }
        let notice = lines.waiting().notice().unwrap();
        assert!(notice.text.len() <= MAX_BYTES, "{}", notice.text.len());
        assert!(notice.text.starts_with('('), "{}", notice.text);
        assert!(notice.text.ends_with("line 9999"), "{}", notice.text);
        assert_eq!(notice.total, 10_000);
    }

    #[test]
    fn a_line_without_end_is_told_in_parts() {
        let lines = Lines::default();
        let mut live = lines.live();
        for _ in 0..100 {
            live(Stream::Output, "é".repeat(5_000).as_bytes());
            let notice = lines.waiting().notice().unwrap();
            assert!(notice.text.len() <= MAX_BYTES, "{}", notice.text.len());
            assert!(!notice.text.contains('\u{fffd}'), "{}", notice.text);
            assert!(lines.waiting().begun[0].len() <= MAX_BYTES);
        }
    }
}
