//! Patterns of files in a workspace.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use thiserror::Error;

use crate::path::{Inside, Meaning, PathError, resolve};

/// Why patterns are refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PatternError {
    /// It leaves the workspace.
    #[error(transparent)]
    Path(#[from] PathError),
    /// It is not a pattern.
    #[error("`{pattern}` is not a pattern: {why}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Why not.
        why: String,
    },
    /// There are more than can be looked for in a short time and little memory.
    #[error(
        "there are {count} patterns of {bytes} bytes; the limit is {MAX_PATTERNS} patterns of {MAX_BYTES} bytes together"
    )]
    TooMany {
        /// How many there are.
        count: usize,
        /// How many bytes they have together.
        bytes: usize,
    },
}

/// Most patterns of a run.
const MAX_PATTERNS: usize = 100;
/// Most bytes of all patterns of a run. Reading them takes several hundred times as much memory.
const MAX_BYTES: usize = 16 << 10;

/// Signs of patterns that do not stand for themselves.
const SPECIAL: [char; 5] = ['*', '?', '[', '{', '\\'];

/// Patterns of files in a workspace.
#[derive(Debug)]
pub(crate) struct Patterns {
    set: GlobSet,
    folders: Vec<Inside>,
    /// How many names a match can have at most, joined by slashes.
    most_names: usize,
    /// Folders outside of which nothing is found: those that the run writes to.
    reach: [Inside; 3],
}

impl Patterns {
    /// Reads patterns: `*`, `?`, `[…]`, `{a,b}` within a name, `**` for folders; relative to the
    /// workspace or to one of its variables. They find files in `work/`, `out/` and the folder of the run alone.
    pub(crate) fn parse(patterns: &[String], run: &Inside) -> Result<Self, PatternError> {
        check_size(patterns)?;
        let root = Inside::default();
        let reach = [Inside::known("work"), Inside::known("out"), run.clone()];
        let mut set = GlobSetBuilder::new();
        let mut folders = Vec::new();
        let mut most_names = 0;
        for pattern in patterns {
            let place = resolve(pattern, Meaning { base: &root, run })?;
            let start = literal_start(&place);
            if !start.as_str().is_empty() && !reach.iter().any(|it| is_at_or_below(&start, it)) {
                return Err(PathError::NotShared(pattern.clone()).into());
            }
            let refuse = |why: String| PatternError::Pattern { pattern: pattern.clone(), why };
            let glob = GlobBuilder::new(place.as_str())
                .literal_separator(true)
                .backslash_escape(true)
                .build()
                .map_err(|error| refuse(error.kind().to_string()))?;
            set.add(glob);
            folders.push(literal_folder(&place));
            most_names = most_names.max(names_of(&place));
        }
        let set = set.build().map_err(|error| PatternError::Pattern {
            pattern: patterns.join(", "),
            why: error.kind().to_string(),
        })?;
        folders.sort();
        folders.dedup();
        // A folder inside another one is looked at with it.
        let all = folders.clone();
        folders.retain(|it| !all.iter().any(|other| other != it && is_below(it, other)));
        Ok(Self { set, folders, most_names, reach })
    }

    /// The folders in which matches can be; none is inside another.
    pub(super) fn folders(&self) -> &[Inside] {
        &self.folders
    }

    /// Whether a match can be below a folder.
    pub(super) fn can_match_below(&self, folder: &Inside) -> bool {
        folder.as_str().split('/').count() < self.most_names
    }

    /// Whether a place is meant.
    pub(super) fn is_match(&self, place: &Inside) -> bool {
        self.set.is_match(place.as_str()) && self.reach.iter().any(|it| is_below(place, it))
    }

    /// Whether a folder is one in which something may be found, or is on the way to one.
    pub(super) fn reaches(&self, folder: &Inside) -> bool {
        self.reach.iter().any(|it| is_at_or_below(folder, it) || is_below(it, folder))
    }
}

fn check_size(patterns: &[String]) -> Result<(), PatternError> {
    let (count, bytes) = (patterns.len(), patterns.iter().map(String::len).sum());
    if count > MAX_PATTERNS || bytes > MAX_BYTES {
        return Err(PatternError::TooMany { count, bytes });
    }
    Ok(())
}

fn is_below(inner: &Inside, outer: &Inside) -> bool {
    let rest = inner.as_str().strip_prefix(outer.as_str());
    outer.as_str().is_empty() || rest.is_some_and(|rest| rest.starts_with('/'))
}

fn is_at_or_below(inner: &Inside, outer: &Inside) -> bool {
    inner == outer || is_below(inner, outer)
}

/// How many names a match of a pattern can have.
fn names_of(pattern: &Inside) -> usize {
    let text = pattern.as_str();
    // A class or an alternative may have slashes of its own.
    let any = text.contains("**") || text.contains(['[', '{', '\\']);
    if any { usize::MAX } else { text.split('/').count() }
}

/// The part of a pattern before its first special sign, up to a slash; all of it if there is none.
fn literal_start(pattern: &Inside) -> Inside {
    let is_literal = !pattern.as_str().contains(SPECIAL);
    if is_literal { pattern.clone() } else { literal_folder(pattern) }
}

/// The part of a pattern before its first special sign, up to a slash.
fn literal_folder(pattern: &Inside) -> Inside {
    let text = pattern.as_str();
    let special = text.find(SPECIAL).unwrap_or(text.len());
    let end = text[..special].rfind('/').unwrap_or_default();
    Inside::known(&text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(patterns: &[String]) -> Result<Patterns, PatternError> {
        Patterns::parse(patterns, &Inside::known("runs/1/files"))
    }

    #[test]
    fn patterns_are_bounded() {
        let many: Vec<String> = (0..=MAX_PATTERNS).map(|it| format!("out/{it}")).collect();
        assert!(parsed(&many[1..]).is_ok());
        let refused = parsed(&many).expect_err("too many");
        insta::assert_snapshot!(refused, @"there are 101 patterns of 597 bytes; the limit is 100 patterns of 16384 bytes together");
        let long = |bytes: usize| [format!("out/{}", "?".repeat(bytes - 4))];
        assert!(matches!(parsed(&long(MAX_BYTES + 1)), Err(PatternError::TooMany { .. })));
        let piece = "[!a]".repeat(MAX_BYTES / 16);
        let four = [(); 4].map(|()| format!("out/{piece}"));
        assert!(matches!(parsed(&four), Err(PatternError::TooMany { bytes: 16400, .. })));
    }
}
