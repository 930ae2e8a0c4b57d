//! Reading a file as a whole, or not at all.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// Content of a length that is known before. If it turns out to be another, reading fails, so that
/// nobody takes a part of a file for all of it, or for one that is within a limit.
#[derive(Debug)]
pub(super) struct Whole<R> {
    content: R,
    left: u64,
}

impl<R> Whole<R> {
    pub(super) fn new(content: R, length: u64) -> Self {
        Self { content, left: length }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Whole<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // One more than is left tells whether there is more.
        let most = usize::try_from(self.left.saturating_add(1)).unwrap_or(usize::MAX);
        let most = most.min(buffer.remaining());
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(most));
        ready!(Pin::new(&mut self.content).poll_read(context, &mut part))?;
        let read = part.filled().len();
        let is_end = read == 0 && most > 0;
        self.left = match self.left.checked_sub(read as u64) {
            Some(left) if left == 0 || !is_end => left,
            _ => return Poll::Ready(Err(io::Error::other("it changed while it was read"))),
        };
        buffer.advance(read);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::*;

    async fn read(text: &str, length: u64) -> Result<String, String> {
        let mut content = String::new();
        let read = Whole::new(text.as_bytes(), length).read_to_string(&mut content).await;
        read.map(|_| content).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn only_content_of_the_length_that_was_said_is_read() {
        for text in ["", "a", "some text", &"long ".repeat(10_000)] {
            let length = text.len() as u64;
            assert_eq!(read(text, length).await.as_deref(), Ok(text));
            assert!(read(text, length + 1).await.is_err(), "{length}");
            assert!(read(text, length.wrapping_sub(1)).await.is_err(), "{length}");
        }
        assert_eq!(read("ab", 1).await, Err("it changed while it was read".to_owned()));
    }
}
