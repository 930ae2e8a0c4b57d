//! Docs of a skill: Markdown and text files beside `SKILL.md`, read one at a time.

use std::io::{self, Read};

use crate::files::tree::open_regular;
use crate::files::{FileEntry, FileKind, Tree};

/// Most bytes of a doc that are read; the rest is cut and said to be.
pub const MAX_DOC_BYTES: u64 = 1 << 20;

/// The text of a doc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doc {
    /// As much of it as may be read.
    pub text: String,
    /// Whether there is more, which was cut off.
    pub truncated: bool,
}

/// Whether a path is a doc: `.md` or `.txt` in any case, but no `SKILL.md`.
pub fn is_doc(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let text = extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("txt");
    text && !name.eq_ignore_ascii_case("SKILL.md")
}

impl Tree {
    /// The docs, sorted by path.
    pub fn docs(&self) -> impl Iterator<Item = &FileEntry> {
        self.entries.iter().filter(|entry| is_doc(&entry.path))
    }

    /// Every other regular file but `SKILL.md`, with its size, sorted by path.
    pub fn resources(&self) -> impl Iterator<Item = (&str, u64)> {
        self.entries.iter().filter_map(|entry| match entry.kind {
            FileKind::File { size, .. }
                if !is_doc(&entry.path) && !entry.path.eq_ignore_ascii_case("SKILL.md") =>
            {
                Some((entry.path.as_str(), size))
            }
            _ => None,
        })
    }

    /// Reads a doc that [`Tree::docs`] lists.
    ///
    /// # Errors
    ///
    /// When there is no such doc or it cannot be read.
    pub fn read_doc(&self, path: &str) -> io::Result<Doc> {
        if !is_doc(path) || self.find(path).is_none() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let (file, _) = open_regular(&self.root.join(path))?;
        let mut bytes = Vec::new();
        file.take(MAX_DOC_BYTES + 1).read_to_end(&mut bytes)?;
        let limit = usize::try_from(MAX_DOC_BYTES).unwrap_or(usize::MAX);
        let truncated = bytes.len() > limit;
        if truncated {
            bytes.truncate(boundary_before(&bytes, limit));
        }
        Ok(Doc { text: String::from_utf8_lossy(&bytes).into_owned(), truncated })
    }
}

/// The last place up to `limit` where no character is cut.
pub(crate) fn boundary_before(bytes: &[u8], limit: usize) -> usize {
    let is_continuation = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (limit.saturating_sub(3)..=limit).rev().find(|&at| !is_continuation(at)).unwrap_or(limit)
}
