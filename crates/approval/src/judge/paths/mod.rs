//! Paths and patterns of paths, as text. Nothing here looks at a disk.

mod glob;

use std::path::{Component, Path, PathBuf};

pub(super) use glob::{Budget, Glob};

/// A path without `.` and `..`, links not followed. Facts about paths and judgements of them agree by it.
pub fn normal(path: &Path) -> PathBuf {
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

#[cfg(test)]
mod tests;
