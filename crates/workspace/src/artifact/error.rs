//! Why an artifact was not saved, found or read.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::ArtifactKey;

/// Why an artifact was not saved, found or read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ArtifactError {
    /// A name breaks a rule.
    #[error("`{name}` cannot name an artifact: {rule}")]
    Name {
        /// Its beginning, made safe to show.
        name: String,
        /// The rule.
        rule: &'static str,
    },
    /// An app, user or session has no usable id.
    #[error("the id of the {of} cannot be used: {rule}")]
    Id {
        /// Whose it is.
        of: &'static str,
        /// The rule.
        rule: &'static str,
    },
    /// A MIME type breaks a rule.
    #[error("`{mime_type}` is not a MIME type, which looks like `text/plain`")]
    MimeType {
        /// Its beginning, made safe to show.
        mime_type: String,
    },
    /// A text does not refer to an artifact.
    #[error("`{text}` is not a reference like `artifact://name` or `artifact://name@2`: {rule}")]
    Reference {
        /// Its beginning, made safe to show.
        text: String,
        /// The rule.
        rule: &'static str,
    },
    /// Nothing was saved under this name here, or all of it was deleted.
    #[error("there is no artifact `{name}`: look for its name in the list of artifacts")]
    NotFound {
        /// The name.
        name: String,
    },
    /// The artifact is there, this version is not.
    #[error("`{name}` has no version {version}: look for one in the list of its versions")]
    NoVersion {
        /// The name.
        name: String,
        /// The version.
        version: u64,
    },
    /// The content is longer than the store takes. Nothing was saved.
    #[error("`{name}` is longer than {limit} bytes: save less, or raise the limit of the store")]
    TooLarge {
        /// The name.
        name: String,
        /// How long it may be.
        limit: u64,
    },
    /// The store in memory has no room. Nothing was saved.
    #[error("the store in memory is full at {limit} bytes: delete artifacts, or use a folder")]
    Full {
        /// How much it holds.
        limit: u64,
    },
    /// No further version of this artifact is taken.
    #[error("`{name}` has had {limit} versions, the most there are: save under another name")]
    TooManyVersions {
        /// The name.
        name: String,
        /// How many there may be.
        limit: u64,
    },
    /// There are more artifacts than are listed.
    #[error("one session or user has more than {limit} artifacts: begin another session")]
    TooManyNames {
        /// How many are listed.
        limit: usize,
    },
    /// What was to be saved could not be read to its end. Nothing was saved.
    #[error("the content of `{name}` could not be read to its end, so it was not saved")]
    Content {
        /// The name.
        name: String,
        /// What the reader said.
        source: io::Error,
    },
    /// Somebody cleaned the store while this was being saved. Nothing was saved.
    #[error("`{name}` was cleaned away while it was being saved: save it again")]
    CleanedAway {
        /// The name.
        name: String,
    },
    /// What is stored is not what was saved.
    #[error("version {version} of `{name}` is damaged, {fault}: delete it, or restore a backup")]
    Damaged {
        /// The name.
        name: String,
        /// The version.
        version: u64,
        /// What is wrong.
        fault: &'static str,
    },
    /// The disk or the quota is used up. Nothing was saved.
    #[error("no space is left for artifacts in `{}`: free some", folder.display())]
    NoSpace {
        /// The folder of the store.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder may not be changed or read.
    #[error("no access to the artifacts in `{}`: check its permissions", folder.display())]
    NoAccess {
        /// The folder of the store.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder does not work as folders do.
    #[error("cannot use the artifacts in `{}`: check the folder and its disk", folder.display())]
    Storage {
        /// The folder of the store.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl ArtifactError {
    /// Says that a version is not there or, without one, that the artifact is not.
    pub(super) fn missing(key: &ArtifactKey, version: Option<u64>) -> Self {
        let name = key.name().to_owned();
        match version {
            Some(version) => Self::NoVersion { name, version },
            None => Self::NotFound { name },
        }
    }

    /// Sorts what the system said about the folder of a store.
    pub(super) fn storage(folder: &Path, source: io::Error) -> Self {
        use io::ErrorKind::{
            PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull, WriteZero,
        };
        let folder = folder.to_owned();
        match source.kind() {
            StorageFull | QuotaExceeded | WriteZero => Self::NoSpace { folder, source },
            PermissionDenied | ReadOnlyFilesystem => Self::NoAccess { folder, source },
            _ => Self::Storage { folder, source },
        }
    }
}

/// The beginning of a text that nobody has judged, without anything a terminal would obey.
pub(super) fn shown(text: &str) -> String {
    /// Enough to recognise it.
    const MAX_CHARS: usize = 80;
    let mut shown: String = text.escape_debug().take(MAX_CHARS).collect();
    if text.escape_debug().nth(MAX_CHARS).is_some() {
        shown.push('…');
    }
    shown
}
