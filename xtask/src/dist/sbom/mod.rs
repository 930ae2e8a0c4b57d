//! The list of what is in the binary, as CycloneDX 1.6: crates, and what crates bring with them.
//!
//! [`tree`] is what cargo says of the crates, [`lock`] has their digests, [`embedded`] is what is in the
//! binary and is no crate: SQLite, the vocabulary of the tokenizer, Rust's own library. The list has no time
//! in it, and its number follows from its content, so the same sources give the same bytes.

mod document;
mod embedded;
mod lock;
mod tree;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::project::{Project, output};

pub(super) use document::document;
pub(super) use embedded::Embedded;
pub(super) use tree::Tree;

/// The crates of the binary `metier` for a target.
pub(super) fn crates(project: &Project, target: &str) -> Result<Tree> {
    // What runs while others are compiled is not in the binary.
    let mut tree = ask(project, target, "--package metier --edges normal,no-proc-macro")?;
    let lock = fs::read_to_string(project.file("Cargo.lock")).context("cannot read Cargo.lock")?;
    tree.add_digests(&lock::digests(&lock)?);
    Ok(tree)
}

/// What is in the binary besides the crates.
pub(super) fn others(
    project: &Project,
    target: &str,
    tree: &Tree,
    sources: &Sources,
) -> Result<Vec<Embedded>> {
    let counting = ask(project, target, "--package metier-skill --edges build --depth 1")?;
    embedded::find(tree, &counting, sources)
}

fn ask(project: &Project, target: &str, what: &str) -> Result<Tree> {
    let mut command = project.cargo("tree --locked --prefix depth");
    command.args(what.split(' ')).args(["--target", target, "--format", tree::FORMAT]);
    Tree::parse(&output(command)?)
}

/// Where the sources of crates are, and with what they are compiled.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    folders: Vec<(String, String, PathBuf)>,
    /// The version of the compiler, which is that of its library.
    rust: String,
}

impl Sources {
    /// Asks cargo and the compiler.
    pub(super) fn find(project: &Project, target: &str) -> Result<Self> {
        let mut command = project.cargo("metadata --locked --format-version 1 --filter-platform");
        command.arg(target);
        let metadata: Value = serde_json::from_str(&output(command)?)?;
        let folder = |package: &Value| {
            let manifest = PathBuf::from(package["manifest_path"].as_str()?);
            let text = |field: &str| Some(package[field].as_str()?.to_owned());
            Some((text("name")?, text("version")?, manifest.parent()?.to_owned()))
        };
        let packages = metadata["packages"].as_array().context("cargo lists no packages")?;
        let mut rustc = project.command("rustc");
        rustc.arg("-vV");
        let about = output(rustc)?;
        let rust = about.lines().find_map(|line| line.strip_prefix("release: "));
        let rust = rust.context("`rustc -vV` tells no release")?.to_owned();
        Ok(Self { folders: packages.iter().filter_map(folder).collect(), rust })
    }

    /// The folder with the sources of a crate.
    pub(super) fn folder(&self, name: &str, version: &str) -> Result<&PathBuf> {
        let is_it = |(one, other, _): &&(String, String, PathBuf)| one == name && other == version;
        let found = self.folders.iter().find(is_it).map(|(_, _, folder)| folder);
        found.with_context(|| format!("the sources of `{name} {version}` are not there"))
    }
}
