//! Paths and patterns of paths, as text. Nothing here looks at a disk.

use std::path::{Component, Path, PathBuf};

/// A path without `.` and `..`.
pub(super) fn normal(path: &Path) -> PathBuf {
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

/// Matches as far as it can and goes back to the last star of each sort, so that time grows with the product of
/// both lengths and no further.
fn is_like(pattern: &[u8], text: &str, has_crossing: bool) -> bool {
    let stars = |at: usize| pattern[at..].iter().take_while(|byte| **byte == b'*').count();
    // Places that the pattern may be at: one row for each sign of the text.
    let mut places = vec![false; pattern.len() + 1];
    places[0] = true;
    pass_stars(pattern, &mut places);
    for character in text.chars() {
        let mut next = vec![false; pattern.len() + 1];
        for at in (0..pattern.len()).filter(|at| places[*at]) {
            match pattern[at] {
                b'*' => {
                    let run = star_run(pattern, at, stars(at));
                    next[at] |= character != '/' || (has_crossing && run >= 2);
                }
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

/// How many stars stand together around a place.
fn star_run(pattern: &[u8], at: usize, after: usize) -> usize {
    after + pattern[..at].iter().rev().take_while(|byte| **byte == b'*').count()
}

#[cfg(test)]
mod tests;
