//! The licences of others whose code is in the program, with the texts that their sources carry.
//!
//! Most licences ask that their text goes wherever the program goes. Equal texts are written once, with
//! the crates that have them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::sbom::{Embedded, Sources, Tree};

/// How names of files begin that are about licences, in capitals.
const BEGINNINGS: [&str; 7] =
    ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE", "AUTHORS"];
const RULE: &str = "------------------------------------------------------------------------";

/// All of them in one text.
pub(super) fn write(tree: &Tree, others: &[Embedded], sources: &Sources) -> Result<String> {
    let mut list = String::new();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // Our own have no digest from a registry, and the project's licence.
    for (id, known) in tree.crates.iter().filter(|(_, known)| known.digest.is_some()) {
        let name = format!("{} {}", id.0, id.1);
        let found = texts_in(sources.folder(&id.0, &id.1)?)?;
        let without = if found.is_empty() { " (its sources have no text)" } else { "" };
        list += &format!("{name}: {}{without}\n", known.license);
        for text in found {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    for it in others {
        let name = format!("{} {}", it.name, it.version);
        list += &format!("{name}: {}\n", it.license);
        if let Some(notice) = &it.notice {
            texts.entry(notice.clone()).or_default().push(name);
        }
    }
    let mut texts: Vec<(Vec<String>, String)> =
        texts.into_iter().map(|(text, users)| (users, text)).collect();
    texts.sort();
    let texts: String = texts
        .iter()
        .map(|(users, text)| format!("\n{RULE}\nIn {}:\n\n{text}\n", users.join(", ")))
        .collect();
    Ok(format!(
        "The program contains these works of others, each under the licence that stands beside it.\n\
         Below are the texts that their sources carry.\n\n{list}{texts}"
    ))
}

/// The texts about licences at the top of a crate's sources, sorted by the name of their files.
fn texts_in(folder: &Path) -> Result<Vec<String>> {
    let of_folder = || format!("cannot read `{}`", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(of_folder)? {
        let file = entry.with_context(of_folder)?.path();
        let name = file.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if file.is_file() && BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)) {
            files.push(file);
        }
    }
    files.sort();
    let text = |file: &std::path::PathBuf| {
        let bytes = fs::read(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n").trim().to_owned())
    };
    files.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_about_licences_are_found_whatever_their_ending() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("LICENSE-MIT", "mit\r\n"),
            ("license.md", "\nlicence"),
            ("COPYING", "copying"),
            ("README.md", "read me"),
            ("licensing.rs", "fn main() {}"),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        fs::create_dir(folder.path().join("LICENSES")).unwrap();
        assert_eq!(texts_in(folder.path()).unwrap(), ["copying", "mit", "licence"]);
    }
}
