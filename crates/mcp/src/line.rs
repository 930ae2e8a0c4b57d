//! Lines of messages, as both sides read and write them.

use std::io;

use rmcp::model::RequestId;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

/// Room that a buffer keeps between lines.
const USUAL_LINE: usize = 64 << 10;

/// Reads lines within a bound.
#[derive(Debug)]
pub struct LineReader<R> {
    reader: BufReader<R>,
    limit: usize,
    /// What there is of a line.
    line: Vec<u8>,
    /// Whether the line was given away, so that another begins.
    is_given: bool,
    /// Whether the rest of a line that is too long is skipped.
    is_skipped: bool,
}

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// A line, which [`LineReader::text`] has.
    Whole,
    /// More than a line may have. What is left of it is passed over when the next one is read.
    TooLong,
    /// Nothing more will come.
    End,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Returns a reader of lines of at most `limit` bytes.
    pub fn new(reader: R, limit: usize) -> Self {
        let reader = BufReader::with_capacity(USUAL_LINE, reader);
        Self { reader, limit, line: Vec::new(), is_given: false, is_skipped: false }
    }

    /// Reads a line; the last one need not be ended. What was read stays when this is dropped.
    ///
    /// # Errors
    ///
    /// When the input cannot be read.
    pub async fn next(&mut self) -> io::Result<Line> {
        if std::mem::take(&mut self.is_given) {
            self.line.clear();
            self.line.shrink_to(USUAL_LINE);
        }
        loop {
            let read = self.reader.fill_buf().await?;
            if read.is_empty() {
                self.is_given = !self.line.is_empty();
                return Ok(if self.is_given { Line::Whole } else { Line::End });
            }
            let end = read.iter().position(|&byte| byte == b'\n');
            let part = &read[..end.unwrap_or(read.len())];
            let is_too_long = !self.is_skipped && self.line.len() + part.len() > self.limit;
            if !self.is_skipped && !is_too_long {
                self.line.extend_from_slice(part);
            }
            let was_skipped = self.is_skipped;
            self.is_skipped = (was_skipped || is_too_long) && end.is_none();
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if is_too_long {
                self.line = Vec::new();
                return Ok(Line::TooLong);
            }
            if end.is_some() && !was_skipped {
                self.is_given = true;
                return Ok(Line::Whole);
            }
        }
    }

    /// The line that was read, without its end.
    pub fn text(&self) -> &[u8] {
        &self.line
    }
}

/// Writes a message as a line, if the way is open.
///
/// # Errors
///
/// When it is not, or the output cannot be written.
pub async fn write_line<W: AsyncWrite + Unpin>(
    writer: &Mutex<Option<W>>,
    message: &impl Serialize,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut writer = writer.lock().await;
    let writer = writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    writer.write_all(&line).await?;
    writer.flush().await
}

/// What is seen of a message that may be none.
#[derive(Debug, Deserialize)]
pub struct Glimpse {
    /// What it asks for, if it does.
    pub method: Option<String>,
    #[serde(default)]
    id: Option<Id>,
}

/// The id of a message, as far as it can be one.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Id {
    Usable(RequestId),
    Other(IgnoredAny),
}

impl Glimpse {
    /// The id under which an answer is waited for.
    pub fn waits_as(&self) -> Option<RequestId> {
        match &self.id {
            Some(Id::Usable(id)) if self.method.is_some() => Some(id.clone()),
            Some(_) | None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read of a text, in lines of at most four bytes.
    async fn lines(text: &str) -> Vec<String> {
        let mut reader = LineReader::new(text.as_bytes(), 4);
        let mut lines = Vec::new();
        loop {
            match reader.next().await.unwrap() {
                Line::Whole => lines.push(String::from_utf8_lossy(reader.text()).into_owned()),
                Line::TooLong => lines.push("too long".to_owned()),
                Line::End => return lines,
            }
        }
    }

    #[tokio::test]
    async fn the_last_line_need_not_be_ended() {
        assert_eq!(lines("a\n\nbc").await, ["a", "", "bc"]);
        assert_eq!(lines("a\n").await, ["a"]);
        assert!(lines("").await.is_empty());
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_told_once_and_passed_over() {
        assert_eq!(lines("12345\nabcd\n123456789").await, ["too long", "abcd", "too long"]);
        let long = "x".repeat(3 * USUAL_LINE);
        assert_eq!(lines(&format!("{long}\na")).await, ["too long", "a"]);
    }
}
