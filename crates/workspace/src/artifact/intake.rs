//! Taking in content: piece by piece, within a limit, with its digest.

use tokio::io::{AsyncRead, AsyncReadExt};

use super::ArtifactError;

/// Longest content, unless the caller says otherwise: more than runs make, less than disks have.
pub(super) const DEFAULT_MAX_BYTES: u64 = 1024 * 1024 * 1024;
/// Large enough that system calls do not matter, small enough for many savers at once.
pub(super) const BUFFER_BYTES: usize = 64 * 1024;

/// What has been read so far.
pub(super) struct Intake<'a> {
    name: &'a str,
    limit: u64,
    size: u64,
    digest: blake3::Hasher,
    buffer: Vec<u8>,
}

impl<'a> Intake<'a> {
    pub(super) fn new(name: &'a str, limit: u64) -> Self {
        let buffer = vec![0; BUFFER_BYTES];
        Self { name, limit, size: 0, digest: blake3::Hasher::new(), buffer }
    }

    /// The next piece, or nothing at the end.
    pub(super) async fn next(
        &mut self,
        content: &mut (dyn AsyncRead + Send + Unpin),
    ) -> Result<Option<&[u8]>, ArtifactError> {
        let name = || self.name.to_owned();
        let read = content.read(&mut self.buffer).await;
        let read = read.map_err(|source| ArtifactError::Content { name: name(), source })?;
        self.size += read as u64;
        if self.size > self.limit {
            return Err(ArtifactError::TooLarge { name: name(), limit: self.limit });
        }
        let piece = &self.buffer[..read];
        self.digest.update(piece);
        Ok((read > 0).then_some(piece))
    }

    /// How many bytes there were, and their digest.
    pub(super) fn finish(self) -> (u64, String) {
        (self.size, self.digest.finalize().to_hex().to_string())
    }
}
