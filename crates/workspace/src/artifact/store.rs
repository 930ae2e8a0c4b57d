//! What every store of artifacts does, and what it says about them.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use tokio::io::AsyncRead;

use super::error::shown;
use super::{ArtifactError, ArtifactKey, Scope};

/// Longest MIME type in bytes; RFC 6838 allows 127 on each side of the slash.
const MAX_MIME_BYTES: usize = 255;

/// A place for artifacts. [`MemoryStore`](super::MemoryStore) and
/// [`DirectoryStore`](super::DirectoryStore) implement it; an object store can, because content is
/// a stream both ways.
///
/// What a store must uphold:
///
/// - Versions of an artifact are 0, 1, 2, … in the order of saving, without gaps. However many save
///   at once, each gets its own. A number is never given again, also not when that version, or all
///   of them, were deleted.
/// - A version is there whole or not at all, and is kept for good before its number is returned.
/// - Scopes do not mix, whatever the ids and names are.
///
/// There is no limit of time: a caller who will not wait drops the future. What it was saving is
/// then there whole, or not at all.
#[async_trait]
pub trait ArtifactStore: fmt::Debug + Send + Sync {
    /// Saves a new version.
    ///
    /// # Errors
    ///
    /// When the content cannot be read to its end, is too large, or cannot be stored.
    async fn save(
        &self,
        key: &ArtifactKey,
        content: &mut (dyn AsyncRead + Send + Unpin),
        about: &About,
    ) -> Result<VersionInfo, ArtifactError>;

    /// Opens a version, or the newest there is.
    ///
    /// # Errors
    ///
    /// When it is not there, or damage shows before the content is read.
    async fn load(&self, key: &ArtifactKey, version: Option<u64>) -> Result<Loaded, ArtifactError>;

    /// All artifacts of a session or of a user, sorted by name.
    ///
    /// # Errors
    ///
    /// When one of them cannot be described, or there are too many.
    async fn list(&self, scope: &Scope) -> Result<Vec<Listed>, ArtifactError>;

    /// All versions that are there, ascending; none if there is no such artifact.
    ///
    /// # Errors
    ///
    /// When one of them cannot be described.
    async fn versions(&self, key: &ArtifactKey) -> Result<Vec<VersionInfo>, ArtifactError>;

    /// Deletes a version, or all there are. Content that is open can be read to its end.
    ///
    /// # Errors
    ///
    /// When there is nothing to delete, [`ArtifactError::NotFound`] or
    /// [`ArtifactError::NoVersion`]; of two who delete one version at once, one gets that.
    async fn delete(&self, key: &ArtifactKey, version: Option<u64>) -> Result<(), ArtifactError>;
}

/// What the one who saves says about the content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    mime_type: String,
}

impl About {
    /// Content of a MIME type, which may have parameters.
    ///
    /// # Errors
    ///
    /// When it is none: printable ASCII with a slash, at most 255 bytes.
    pub fn new(mime_type: &str) -> Result<Self, ArtifactError> {
        let is_printable = mime_type.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if !is_printable || !mime_type.contains('/') || mime_type.len() > MAX_MIME_BYTES {
            return Err(ArtifactError::MimeType { mime_type: shown(mime_type) });
        }
        Ok(Self { mime_type: mime_type.to_owned() })
    }

    /// The MIME type.
    pub fn mime_type(&self) -> &str {
        &self.mime_type
    }
}

impl Default for About {
    /// Bytes of which nothing is known.
    fn default() -> Self {
        Self { mime_type: "application/octet-stream".to_owned() }
    }
}

/// One version of an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct VersionInfo {
    /// Its number.
    pub version: u64,
    /// Bytes of content.
    pub size: u64,
    /// BLAKE3 of the content, in lowercase hexadecimal.
    pub digest: String,
    /// The MIME type it was saved with.
    pub mime_type: String,
    /// When it was saved, to the millisecond.
    pub created: SystemTime,
}

/// One artifact in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// Its name, as [`ArtifactKey::new`] takes it.
    pub name: String,
    /// The newest version there is.
    pub newest: VersionInfo,
    /// How many versions there are.
    pub versions: usize,
}

/// A version that is open.
#[non_exhaustive]
pub struct Loaded {
    /// What it is.
    pub info: VersionInfo,
    /// Its bytes. If they turn out not to be those that were saved, reading fails at the end with
    /// [`InvalidData`](std::io::ErrorKind::InvalidData): nothing is good before the end is.
    pub content: Box<dyn AsyncRead + Send + Unpin>,
}

impl fmt::Debug for Loaded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Loaded").field("info", &self.info).finish_non_exhaustive()
    }
}

/// The time, as exact as it is stored.
pub(super) fn now() -> SystemTime {
    from_milliseconds(to_milliseconds(SystemTime::now()))
}

/// Milliseconds since 1970, which is also the time of clocks that are set before it.
pub(super) fn to_milliseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The inverse. A number that is no time, which only damage can bring, is 1970.
pub(super) fn from_milliseconds(milliseconds: u64) -> SystemTime {
    UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds)).unwrap_or(UNIX_EPOCH)
}
