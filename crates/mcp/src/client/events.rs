//! Events of a server, each within a bound.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::Arc;

use futures_util::stream::{self, BoxStream, StreamExt};
use metier_net::Answer;
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::{Sse, SseStream};

use super::messages;
use super::streams::Streams;

/// An event is longer than it may be.
#[derive(Clone, Copy, Debug)]
struct TooLong {
    limit: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "an event is longer than {} bytes", self.limit)
    }
}

impl std::error::Error for TooLong {}

/// The events of an answer, their messages ready to be read. After one that is too long there are no more streams.
pub(super) fn stream(
    answer: Answer,
    max_event: usize,
    streams: Arc<Streams>,
) -> BoxStream<'static, Result<Sse, SseError>> {
    let state = Some((answer, Meter::new(max_event), streams));
    let bytes = stream::unfold(state, |state| async move {
        let (mut answer, mut meter, streams) = state?;
        let piece = match answer.chunk().await {
            Ok(piece) => piece?,
            Err(error) => return Some((Err(io::Error::other(error)), None)),
        };
        match meter.count(&piece) {
            Ok(()) => Some((Ok(VecDeque::from(piece)), Some((answer, meter, streams)))),
            Err(error) => {
                streams.end();
                Some((Err(io::Error::other(error)), None))
            }
        }
    });
    let events = SseStream::from_bytes_stream(bytes);
    let boxed = |mut event: Sse| {
        // What is no message still says where the stream can be taken up again.
        let is_message = matches!(event.event.as_deref(), None | Some("" | "message"));
        let data = event.data.take().filter(|_| is_message);
        event.data = data.as_deref().and_then(messages::boxed_text);
        event
    };
    events.map(move |event| event.map(boxed)).boxed()
}

/// Counts the bytes of an event.
struct Meter {
    limit: usize,
    event: usize,
    line: usize,
    after_return: bool,
}

impl Meter {
    fn new(limit: usize) -> Self {
        Self { limit, event: 0, line: 0, after_return: false }
    }

    fn count(&mut self, piece: &[u8]) -> Result<(), TooLong> {
        for byte in piece {
            match byte {
                b'\n' if self.after_return => {}
                b'\n' | b'\r' if self.line == 0 => self.event = 0,
                b'\n' | b'\r' => self.line = 0,
                _ => {
                    self.line += 1;
                    self.event += 1;
                }
            }
            self.after_return = *byte == b'\r';
            if self.event > self.limit {
                return Err(TooLong { limit: self.limit });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(text: &str) -> bool {
        Meter::new(8).count(text.as_bytes()).is_ok()
    }

    #[test]
    fn an_event_is_bounded_and_a_stream_is_not() {
        assert!(fits(&"data: a\n\n".repeat(100)));
        assert!(fits(&"data: a\r\n\r\n".repeat(100)));
        assert!(fits(&"data: a\r\r".repeat(100)));
        assert!(!fits("data: abc"));
        assert!(!fits("data\ndata\ndata\n\n"));
    }
}
