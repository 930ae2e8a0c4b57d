//! The digest of a skill: SHA-256 over its sorted entries.
//!
//! Digests of contents are remembered by file identity, so that an unchanged
//! skill costs only `stat` calls.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::files::{FileKind, Identity, Memo, Tree};

/// A SHA-256 digest, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of some bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// A digest that somebody else made.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 64 {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            *byte = hex_value(pair[0])? << 4 | hex_value(pair[1])?;
        }
        Some(Self(bytes))
    }
}

/// The value of a hexadecimal digit. Written out by hand, because remembered headers contain thousands.
fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Written out by hand, because snapshots write thousands.
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digits = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let text: String = digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect();
        formatter.write_str(&text)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::from_hex(&text).ok_or_else(|| serde::de::Error::custom("not a SHA-256 digest"))
    }
}

/// Digests of parts of a skill, by path.
pub type FileDigests = BTreeMap<String, Digest>;

/// The digests of one skill, all of one reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeDigests {
    /// The digest of everything.
    pub whole: Digest,
    /// The digest of every entry: what kind of thing it is, and its content.
    pub entries: FileDigests,
    /// The digest of the content of every file; links have none.
    pub contents: FileDigests,
}

/// Digests one skill, entry by entry and as a whole. Every file is read once at most.
///
/// # Errors
///
/// When a file cannot be read.
pub fn digest_of(tree: &Tree, cache: &DigestCache) -> io::Result<TreeDigests> {
    digest_with(tree, |path, identity| cache.recall(path, identity, content_digest))
}

/// Digests the very files that were listed.
///
/// # Errors
///
/// When a file cannot be read, or is another one.
pub(crate) fn digest_of_listed(tree: &Tree, cache: &DigestCache) -> io::Result<TreeDigests> {
    digest_with(tree, |path, identity| cache.recall_listed(path, identity, content_digest))
}

fn digest_with(
    tree: &Tree,
    content: impl Fn(&Path, &Identity) -> io::Result<[u8; 32]>,
) -> io::Result<TreeDigests> {
    let (mut entries, mut contents) = (FileDigests::new(), FileDigests::new());
    for entry in &tree.entries {
        let digest = match &entry.kind {
            FileKind::File { executable, identity, .. } => {
                let path = tree.root.join(&entry.path);
                let content = Digest(content(&path, identity)?);
                contents.insert(entry.path.clone(), content);
                entry_digest(if *executable { "executable" } else { "file" }, content)
            }
            FileKind::Link { target } => entry_digest("link", Digest::of_bytes(target.as_bytes())),
        };
        entries.insert(entry.path.clone(), digest);
    }
    Ok(TreeDigests { whole: combine(&entries), entries, contents })
}

/// Digests one file by itself, wherever a link leads.
///
/// # Errors
///
/// When it cannot be read.
pub(crate) fn digest_of_file(path: &Path, cache: &DigestCache) -> io::Result<Digest> {
    let identity = Identity::of(&fs::metadata(path)?);
    cache.recall(path, &identity, content_digest).map(Digest)
}

/// The digest of a whole from the digests of its entries.
pub(crate) fn combine(files: &FileDigests) -> Digest {
    let mut hasher = Sha256::new();
    for (path, digest) in files {
        hasher.update((path.len() as u64).to_le_bytes());
        hasher.update(path.as_bytes());
        hasher.update(digest.0);
    }
    Digest(hasher.finalize().into())
}

/// The digest of one entry: what kind of thing it is, and its content.
pub(crate) fn entry_digest(kind: &str, content: Digest) -> Digest {
    let mut hasher = Sha256::new();
    hasher.update(kind.as_bytes());
    hasher.update([0]);
    hasher.update(content.0);
    Digest(hasher.finalize().into())
}

/// Content digests by file identity.
pub type DigestCache = Memo<[u8; 32]>;

fn content_digest(mut file: File) -> io::Result<[u8; 32]> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finalize().into()),
            count => hasher.update(&buffer[..count]),
        }
    }
}
