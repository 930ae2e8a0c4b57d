//! Messages as lines of JSON: the reader and the writer of lines, and a first look at a message.
//!
//! Clients and servers use the same lines; what a message means is left to them.

use std::io;

use rmcp::model::RequestId;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

/// Room that a buffer keeps between lines.
const USUAL_LINE: usize = 64 << 10;

/// A reader of lines of bounded length.
#[derive(Debug)]
pub struct MessageLineReader<R> {
    reader: BufReader<R>,
    limit: usize,
    /// The beginning of the current line.
    line: Vec<u8>,
    /// Whether the line was given away, so that another begins.
    is_given: bool,
    /// Whether the rest of a line that is too long is skipped.
    is_skipped: bool,
}

/// The outcome of reading a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageLine {
    /// A whole line; [`MessageLineReader::text`] returns it.
    Whole,
    /// A line that exceeds the limit. The next read skips the rest of it.
    TooLong,
    /// The end of the input.
    End,
}

impl<R: AsyncRead + Unpin> MessageLineReader<R> {
    /// Returns a reader of lines of at most `limit` bytes.
    pub fn new(reader: R, limit: usize) -> Self {
        let reader = BufReader::with_capacity(USUAL_LINE, reader);
        Self { reader, limit, line: Vec::new(), is_given: false, is_skipped: false }
    }

    /// Reads a line; the last one need not be ended. Dropping the future loses nothing that was read.
    ///
    /// # Errors
    ///
    /// When the input cannot be read.
    pub async fn next(&mut self) -> io::Result<MessageLine> {
        if std::mem::take(&mut self.is_given) {
            self.line.clear();
            self.line.shrink_to(USUAL_LINE);
        }
        loop {
            let read = self.reader.fill_buf().await?;
            if read.is_empty() {
                self.is_given = !self.line.is_empty();
                return Ok(if self.is_given { MessageLine::Whole } else { MessageLine::End });
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
                return Ok(MessageLine::TooLong);
            }
            if end.is_some() && !was_skipped {
                self.is_given = true;
                return Ok(MessageLine::Whole);
            }
        }
    }

    /// Returns the line that was read, without its end.
    pub fn text(&self) -> &[u8] {
        &self.line
    }
}

/// Writes a message as a line.
///
/// # Errors
///
/// When the output is closed or cannot be written.
pub async fn write_message_line<W: AsyncWrite + Unpin>(
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

/// The method and the id of a text that may be a message.
#[derive(Debug, Deserialize)]
pub struct MessageEnvelope {
    /// The method, if it is a request or a notification.
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

impl MessageEnvelope {
    /// Returns the id of a request, under which the sender expects an answer.
    pub fn request_id(&self) -> Option<RequestId> {
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
        let mut reader = MessageLineReader::new(text.as_bytes(), 4);
        let mut lines = Vec::new();
        loop {
            match reader.next().await.unwrap() {
                MessageLine::Whole => {
                    lines.push(String::from_utf8_lossy(reader.text()).into_owned())
                }
                MessageLine::TooLong => lines.push("too long".to_owned()),
                MessageLine::End => return lines,
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
