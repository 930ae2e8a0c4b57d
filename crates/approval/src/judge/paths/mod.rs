//! Paths and patterns of paths, as text. Nothing here looks at a disk.

use std::path::{Component, Path, PathBuf};

/// A path without `.` and `..`.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

/// Whether a path is one of some folders, or below one.
pub(super) fn is_within(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| folder.is_absolute() && path.starts_with(folder))
}

/// Whether a pattern has signs that stand for others.
pub(super) fn has_wildcards(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}

/// Whether a name is one of a pattern, in which `*` and `?` stand for signs other than `/`.
pub(super) fn is_name_like(pattern: &str, name: &str) -> bool {
    is_like(pattern.as_bytes(), name, false)
}

/// Whether a path is one of a pattern, in which `**` also stands for `/`.
pub(super) fn is_path_like(pattern: &str, path: &Path) -> bool {
    let normal = normal(Path::new(pattern));
    match (normal.to_str(), path.to_str()) {
        (Some(pattern), Some(path)) => is_like(pattern.as_bytes(), path, true),
        _ => false,
    }
}

/// Follows all places of the pattern at once, so that time grows with the product of both lengths and no further.
fn is_like(pattern: &[u8], text: &str, has_crossing: bool) -> bool {
    let is_star = |at: Option<usize>| at.and_then(|at| pattern.get(at)) == Some(&b'*');
    let crosses = |at: usize| has_crossing && (is_star(at.checked_sub(1)) || is_star(Some(at + 1)));
    // Places that the pattern may be at: one row for each sign of the text.
    let mut places = vec![false; pattern.len() + 1];
    places[0] = true;
    pass_stars(pattern, &mut places);
    for character in text.chars() {
        let mut next = vec![false; pattern.len() + 1];
        for at in (0..pattern.len()).filter(|at| places[*at]) {
            match pattern[at] {
                b'*' => next[at] |= character != '/' || crosses(at),
                b'?' => next[at + 1] |= character != '/',
                _ => {
                    let mut bytes = [0; 4];
                    let bytes = character.encode_utf8(&mut bytes).as_bytes();
                    if pattern[at..].starts_with(bytes) {
                        next[at + bytes.len()] = true;
                    }
                }
            }
        }
        pass_stars(pattern, &mut next);
        places = next;
    }
    places[pattern.len()]
}

/// A star may stand for nothing.
fn pass_stars(pattern: &[u8], places: &mut [bool]) {
    for at in 0..pattern.len() {
        if places[at] && pattern[at] == b'*' {
            places[at + 1] = true;
        }
    }
}

#[cfg(test)]
mod tests;
