//! Paths of entries, and where a symbolic link may point.
//!
//! [`EntryPath`] can only be made from a name that obeys every rule, so whoever holds one may join
//! it to a folder. Judging is purely lexical; what else lies in the archive is known to the tree.

use unicode_normalization::UnicodeNormalization;

use super::error::shown;
use super::{Limits, Refusal};

/// A relative path with `/` between its parts: no `..`, no `.`, no empty part.
///
/// The root of the archive, which tar files like to name `./`, is the empty path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EntryPath(String);

impl EntryPath {
    /// Judges a name as it stands in the archive.
    pub(super) fn parse(name: &[u8], limits: &Limits) -> Result<Self, Refusal> {
        let name = text(name)?;
        if name.starts_with('/') {
            return Err(Refusal::Absolute);
        }
        let mut parts = Vec::new();
        for part in name.split('/').filter(|part| !part.is_empty() && *part != ".") {
            if part == ".." {
                return Err(Refusal::ParentFolder);
            }
            if has_drive_letter(part) {
                return Err(Refusal::DriveLetter);
            }
            if part.len() > limits.max_name_bytes {
                return Err(Refusal::NameTooLong { limit: limits.max_name_bytes });
            }
            parts.push(part);
        }
        if parts.len() > limits.max_depth {
            return Err(Refusal::TooDeep { limit: limits.max_depth });
        }
        Ok(Self(parts.join("/")))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The path without so many leading folders, if anything is left of it.
    pub(super) fn below(&self, folders: usize) -> Option<Self> {
        let mut parts = self.0.splitn(folders + 1, '/');
        parts.nth(folders).map(|rest| Self(rest.to_owned()))
    }

    /// The folders that must exist, outermost first.
    pub(super) fn ancestors(&self) -> impl Iterator<Item = &str> {
        self.0.match_indices('/').map(|(end, _)| &self.0[..end])
    }

    /// Whether this is one of the files that macOS scatters over archives.
    pub(super) fn is_finder_litter(&self) -> bool {
        let file = self.0.rsplit('/').next().unwrap_or_default();
        file == ".DS_Store"
            || file.starts_with("._")
            || self.0.split('/').any(|part| part == "__MACOSX")
    }

    /// Judges the target of a symbolic link at this path.
    ///
    /// A target is accepted if it climbs (`..`) only at its beginning and no higher than the root,
    /// and then only descends. Nothing is ever unpacked through a link, so the folder of the link is
    /// a real one and the climb ends inside; the descent may pass through other links, but those
    /// obey the same rule. A `..` after a name is refused: were that name a link, it would climb
    /// from somewhere else than it seems.
    pub(super) fn check_link<'target>(
        &self,
        target: &'target [u8],
    ) -> Result<&'target str, Refusal> {
        let escaping = || Refusal::EscapingLink { target: shown(target) };
        let target = text(target).map_err(|_| escaping())?;
        if target.is_empty() || target.starts_with('/') {
            return Err(escaping());
        }
        let mut parts =
            target.split('/').filter(|part| !part.is_empty() && *part != ".").peekable();
        let leaves = |part: &str| part == ".." || has_drive_letter(part);
        let mut climbed = 0;
        while parts.next_if(|part| *part == "..").is_some() {
            climbed += 1;
        }
        if climbed > self.ancestors().count() || parts.any(leaves) {
            return Err(escaping());
        }
        Ok(target)
    }
}

/// Brings a path to the form in which two names that some file system would confuse are equal.
///
/// Upper case before lower case makes pairs equal that lower case alone keeps apart, such as `ß` and
/// `SS`.
pub(super) fn folded(path: &str) -> String {
    path.nfd().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfc().collect()
}

fn text(name: &[u8]) -> Result<&str, Refusal> {
    let name = str::from_utf8(name).map_err(|_| Refusal::NotUtf8)?;
    if name.contains('\\') {
        return Err(Refusal::Backslash);
    }
    if name.contains(char::is_control) {
        return Err(Refusal::ControlCharacter);
    }
    Ok(name)
}

fn has_drive_letter(part: &str) -> bool {
    matches!(part.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}
