//! What the files of a skill cost a model.

use std::io::{self, Read};

use crate::files::{FileEntry, FileKind, MAX_DOC_BYTES, Memo, Tree};
use crate::tokens;

/// Token counts of texts by file identity.
pub type TokenCache = Memo<u32>;

/// Tokens of a text file of a skill, as far as it would be read.
///
/// # Errors
///
/// When it cannot be read.
pub fn token_count(tree: &Tree, entry: &FileEntry, cache: &TokenCache) -> io::Result<u32> {
    let FileKind::File { identity, .. } = &entry.kind else { return Ok(0) };
    cache.recall(&tree.root.join(&entry.path), identity, |file| {
        let mut bytes = Vec::new();
        file.take(MAX_DOC_BYTES).read_to_end(&mut bytes)?;
        let count = tokens::count(&String::from_utf8_lossy(&bytes));
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    })
}
