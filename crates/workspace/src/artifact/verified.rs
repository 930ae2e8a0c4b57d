//! Reading content back, and noticing when it is not what was saved.

use std::cmp::Ordering::{Equal, Greater, Less};
use std::fs::File;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use super::intake::BUFFER_BYTES;
use super::{ArtifactError, VersionInfo};

/// A file that fails at its end, and never after, unless it held exactly the bytes of a version.
pub(super) struct Verified {
    file: tokio::fs::File,
    name: String,
    info: VersionInfo,
    size: u64,
    digest: blake3::Hasher,
}

impl Verified {
    pub(super) fn new(file: File, name: &str, info: VersionInfo) -> Self {
        let mut file = tokio::fs::File::from_std(file);
        file.set_max_buf_size(BUFFER_BYTES);
        Self { file, name: name.to_owned(), info, size: 0, digest: blake3::Hasher::new() }
    }

    /// Judges what has been read so far.
    fn judge(&self, is_end: bool) -> io::Result<()> {
        let is_same = || self.digest.finalize().to_hex().as_str() == self.info.digest;
        match self.size.cmp(&self.info.size) {
            Less if is_end => Err(self.damaged("its end is missing")),
            Greater => Err(self.damaged("it has grown")),
            Equal if is_end && !is_same() => Err(self.damaged("it has other bytes")),
            _ => Ok(()),
        }
    }

    fn damaged(&self, fault: &'static str) -> io::Error {
        let (name, version) = (self.name.clone(), self.info.version);
        let error = ArtifactError::Damaged { name, version, fault };
        io::Error::new(io::ErrorKind::InvalidData, error)
    }
}

impl AsyncRead for Verified {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.file).poll_read(context, buffer))?;
        let piece = &buffer.filled()[before..];
        this.size += piece.len() as u64;
        this.digest.update(piece);
        let is_end = piece.is_empty();
        let outcome = this.judge(is_end);
        if outcome.is_err() {
            // Who fails may not hand over bytes.
            buffer.set_filled(before);
        }
        Poll::Ready(outcome)
    }
}
