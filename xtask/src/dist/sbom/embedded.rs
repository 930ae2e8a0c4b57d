//! What is in the binary and is no crate, but comes with one.
//!
//! SQLite is compiled from the source that its crate carries, Rust's own library comes with the compiler, and
//! the vocabulary is a file in the crate of a tokenizer: a build script makes of it what is in the binary.

use std::fs;

use anyhow::{Context, Result, bail};

use super::Sources;
use super::tree::{Id, Tree};
use crate::dist::sums::sha256;

/// A part of the binary that is no crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::dist) struct Embedded {
    /// What CycloneDX calls it: a library, or data.
    pub(in crate::dist) kind: &'static str,
    pub(in crate::dist) name: String,
    pub(in crate::dist) version: String,
    pub(in crate::dist) license: &'static str,
    pub(in crate::dist) copyright: Option<&'static str>,
    /// Its package URL.
    pub(in crate::dist) purl: String,
    /// The name that lists of vulnerabilities know it by.
    pub(in crate::dist) cpe: Option<String>,
    /// Of its source or its content.
    pub(in crate::dist) digest: Option<String>,
    /// What its licence asks to be passed on.
    pub(in crate::dist) notice: Option<String>,
    /// The crate that brings it.
    pub(in crate::dist) user: Id,
}

/// A vocabulary, which is a feature of the tokenizer, and who made it.
const VOCABULARIES: &[(&str, &str, &str)] = &[("o200k_base", "MIT", "Copyright (c) 2022 OpenAI")];

/// Looks into the crates that bring something, and into those that the tokens are counted with.
pub(super) fn find(tree: &Tree, counting: &Tree, sources: &Sources) -> Result<Vec<Embedded>> {
    let mut all = vec![rust(tree, sources)];
    for id in tree.crates.keys().filter(|id| id.0 == "libsqlite3-sys") {
        all.extend(sqlite(tree, id, sources)?);
    }
    for id in counting.crates.keys().filter(|id| id.0 == "tiktoken") {
        all.extend(vocabularies(counting, id, sources)?);
    }
    Ok(all)
}

fn rust(tree: &Tree, sources: &Sources) -> Embedded {
    let version = &sources.rust;
    Embedded {
        kind: "library",
        name: "rust-std".to_owned(),
        version: version.clone(),
        license: "MIT OR Apache-2.0",
        copyright: None,
        purl: format!("pkg:generic/rust-std@{version}"),
        cpe: Some(format!("cpe:2.3:a:rust-lang:rust:{version}:*:*:*:*:*:*:*")),
        digest: None,
        notice: None,
        user: tree.root.clone(),
    }
}

fn sqlite(tree: &Tree, id: &Id, sources: &Sources) -> Result<Option<Embedded>> {
    if !tree.crates[id].features.iter().any(|feature| feature == "bundled") {
        return Ok(None);
    }
    let folder = sources.folder(&id.0, &id.1)?.join("sqlite3");
    let read = |name: &str| {
        let file = folder.join(name);
        fs::read(&file).with_context(|| format!("cannot read `{}`", file.display()))
    };
    let header = read("sqlite3.h")?;
    let header = String::from_utf8_lossy(&header);
    let line = header.lines().find_map(|line| line.strip_prefix("#define SQLITE_VERSION "));
    let version = line.context("`sqlite3.h` has no version")?.trim().trim_matches('"').to_owned();
    Ok(Some(Embedded {
        kind: "library",
        name: "sqlite".to_owned(),
        license: "blessing",
        copyright: None,
        purl: format!("pkg:generic/sqlite@{version}"),
        cpe: Some(format!("cpe:2.3:a:sqlite:sqlite:{version}:*:*:*:*:*:*:*")),
        digest: Some(sha256(&read("sqlite3.c")?)),
        notice: None,
        user: id.clone(),
        version,
    }))
}

fn vocabularies(counting: &Tree, id: &Id, sources: &Sources) -> Result<Vec<Embedded>> {
    let features = counting.crates[id].features.iter();
    let folder = sources.folder(&id.0, &id.1)?;
    let names = features.filter_map(|feature| feature.strip_prefix("vocab-"));
    let one = |name: &str| {
        let Some((_, license, copyright)) = VOCABULARIES.iter().find(|known| known.0 == name)
        else {
            bail!("the licence of the vocabulary `{name}` is not known");
        };
        let path = format!("src/encodings/{name}.tkv.zst");
        let file = folder.join(&path);
        let bytes = fs::read(&file).with_context(|| format!("cannot read `{}`", file.display()))?;
        let notices = folder.join("LICENSE-3RD-PARTY");
        let notices = fs::read_to_string(&notices)
            .with_context(|| format!("cannot read `{}`", notices.display()))?;
        let notice = section(&notices, name);
        Ok(Embedded {
            kind: "data",
            name: name.to_owned(),
            // It has none of its own: this is the file that this version of the crate has.
            version: id.1.clone(),
            license,
            copyright: Some(copyright),
            purl: format!("pkg:cargo/{}@{}#{path}", id.0, id.1),
            cpe: None,
            digest: Some(sha256(&bytes)),
            notice: Some(notice.with_context(|| format!("`{name}` has no notice"))?),
            user: counting.root.clone(),
        })
    };
    names.map(one).collect()
}

/// The part of a Markdown text under the heading that has a word.
fn section(text: &str, word: &str) -> Option<String> {
    let sections = text.split("\n## ").skip(1);
    let has_word = |section: &&str| section.lines().next().is_some_and(|line| line.contains(word));
    sections.into_iter().find(has_word).map(|section| section.trim().to_owned())
}
