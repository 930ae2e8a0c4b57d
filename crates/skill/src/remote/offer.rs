//! What a server tells of a skill, and why it may not be used.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::files::Digest;

/// Files a skill may have, by the extension for skills.
pub const MAX_FILES: usize = 512;
/// Bytes the files of a skill may have together, by the extension for skills.
pub const MAX_BYTES: u64 = 16 << 20;

/// A skill as its server tells of it.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// The address of its `SKILL.md`.
    pub uri: &'a str,
    /// Its header.
    pub frontmatter: &'a Map<String, Value>,
    /// Its files; nothing if they are made when they are asked for.
    pub files: Option<&'a [OfferedFile]>,
}

/// A file as its server tells of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedFile {
    /// Its address.
    pub uri: String,
    /// `sha256:` and 64 hexadecimal digits in lower case.
    pub digest: String,
    /// Bytes.
    pub size: u64,
}

/// Why what a server tells of a skill, or gives for it, is not used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RemoteFault {
    /// The address is not that of a `SKILL.md`.
    #[error("`{}` is not the address of a `SKILL.md`", uri.escape_debug())]
    Address {
        /// Which.
        uri: String,
    },
    /// The header cannot be used.
    #[error("its header cannot be used: {reason}")]
    Header {
        /// Why.
        reason: String,
    },
    /// The name is not the last part of the address.
    #[error("it is called `{}`, and its folder `{}`", name.escape_debug(), folder.escape_debug())]
    Name {
        /// What the header says.
        name: String,
        /// What the address says.
        folder: String,
    },
    /// The list of files lacks the most important one.
    #[error("its `SKILL.md` is not among its files")]
    NoSkillFile,
    /// A file is not inside the skill's folder.
    #[error("the file `{}` is not inside its folder", uri.escape_debug())]
    Outside {
        /// Which.
        uri: String,
    },
    /// Two files would be one.
    #[error("the file `{}` is listed twice, or is a folder too", path.escape_debug())]
    Twice {
        /// Which.
        path: String,
    },
    /// A digest is not one.
    #[error("the digest of `{}` is not `sha256:` and 64 digits", path.escape_debug())]
    Digest {
        /// Of which file.
        path: String,
    },
    /// More files than a skill may have.
    #[error("it has {count} files; {MAX_FILES} are allowed")]
    TooMany {
        /// How many.
        count: usize,
    },
    /// More bytes than a skill may have.
    #[error("its files have more than {} MiB", MAX_BYTES >> 20)]
    TooLarge,
    /// A file is longer or shorter than its server said.
    #[error("`{}` has {found} bytes; its server said {told}", path.escape_debug())]
    Size {
        /// Which.
        path: String,
        /// What was said.
        told: u64,
        /// What it is.
        found: u64,
    },
    /// A file is not the one its server told of.
    #[error("`{}` has the digest {found}; its server said {told}", path.escape_debug())]
    Content {
        /// Which.
        path: String,
        /// What was said.
        told: Digest,
        /// What it is.
        found: Digest,
    },
    /// A `SKILL.md` says something else than was told of it.
    #[error("its `SKILL.md` is not what its server said: {reason}")]
    HeaderDiffers {
        /// In what.
        reason: String,
    },
    /// A file is missing.
    #[error("`{}` is not there any more", path.escape_debug())]
    Gone {
        /// Which.
        path: String,
    },
    /// Something else is among the files.
    #[error("`{}` is not one of its files", path.escape_debug())]
    Unlisted {
        /// Which.
        path: String,
    },
}
