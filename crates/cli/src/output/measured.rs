//! A file that something comes into, for whoever waits for it: how much has come.

use std::io::{self, Write};

use super::{Working, size};

/// Writes into something else, and says how much it was.
#[derive(Debug)]
pub(crate) struct Measured<'a, W> {
    into: &'a mut W,
    working: &'a Working,
    doing: &'a str,
    bytes: u64,
}

impl<'a, W: Write> Measured<'a, W> {
    /// Nothing has come yet; `doing` is what the line says, with a measure behind it.
    pub(crate) fn new(into: &'a mut W, working: &'a Working, doing: &'a str) -> Self {
        Self { into, working, doing, bytes: 0 }
    }
}

impl<W: Write> Write for Measured<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.into.write(bytes)?;
        self.bytes = self.bytes.saturating_add(count as u64);
        self.working.set(&format!("{}, {}", self.doing, size(self.bytes)));
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}
