//! A reader in which values are masked.

use std::io::{self, Read};

use crate::stream::RedactionStream;

/// How much is read at a time, in bytes.
const PIECE: usize = 16 << 10;

/// A reader that gives what another gives, without any of the values.
#[derive(Debug)]
pub struct RedactedReader<R> {
    stream: RedactionStream,
    inner: R,
    /// What is decided and was not given yet, and how much of it was given.
    ready: Vec<u8>,
    given: usize,
    is_over: bool,
}

impl<R: Read> RedactedReader<R> {
    pub(crate) fn new(stream: RedactionStream, inner: R) -> Self {
        Self { stream, inner, ready: Vec::new(), given: 0, is_over: false }
    }

    fn fill(&mut self) -> io::Result<()> {
        let mut piece = [0; PIECE];
        let length = self.inner.read(&mut piece)?;
        self.is_over = length == 0;
        self.given = 0;
        self.ready = match length {
            0 => self.stream.finish(),
            _ => self.stream.push(&piece[..length]).into_owned(),
        };
        Ok(())
    }
}

impl<R: Read> Read for RedactedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.ready.len() && !self.is_over {
            self.fill()?;
        }
        let rest = &self.ready[self.given..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.given += length;
        Ok(length)
    }
}
