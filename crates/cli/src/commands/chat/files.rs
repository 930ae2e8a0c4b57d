//! Names of files, completed.

use std::fs;
use std::path::Path;

use crate::output::plain;

/// Most names that are shown.
const MAX_NAMES: usize = 200;

/// How the name of a file could go on, seen from a folder. Names that would do something to the terminal
/// are left out.
pub(super) fn completions(begun: &str, folder: &Path) -> Vec<String> {
    let (parents, start) = begun.rsplit_once('/').map_or(("", begun), |(it, start)| (it, start));
    let parents = if begun.starts_with('/') && parents.is_empty() { "/" } else { parents };
    let Ok(entries) = fs::read_dir(folder.join(parents)) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_asked_for = name.starts_with(start) && (!start.is_empty() || !name.starts_with('.'));
        if is_asked_for && plain(&name) == name && found.len() < MAX_NAMES {
            let end = if entry.path().is_dir() { "/" } else { "" };
            found.push(format!("{}{name}{end}", &begun[..begun.len() - start.len()]));
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_completed_and_folders_go_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = folder.path();
        fs::create_dir(at.join("data")).expect("a folder");
        for name in ["data.csv", "data/my notes.txt", ".hidden", "dat\u{1b}[2J", "other"] {
            fs::write(at.join(name), "").expect("a file");
        }
        assert_eq!(completions("dat", at), ["data.csv", "data/"]);
        assert_eq!(completions("", at), ["data.csv", "data/", "other"]);
        assert_eq!(completions(".h", at), [".hidden"]);
        assert_eq!(completions("data/m", at), ["data/my notes.txt"]);
        let absolute = format!("{}/oth", at.display());
        assert_eq!(completions(&absolute, Path::new("/")), [format!("{}/other", at.display())]);
        assert_eq!(completions("/et", at).first().map(String::as_str), Some("/etc/"));
        assert!(completions("nowhere/x", at).is_empty());
    }
}
