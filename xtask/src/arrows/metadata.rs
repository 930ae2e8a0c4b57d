//! The part of `cargo metadata` that the arrows are drawn from.
//!
//! Dependencies by path are the project's own crates. Names are the packages' real
//! ones, whatever a manifest renames them to.

use std::fmt;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// A member of the workspace.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) name: String,
    /// What it depends on by path.
    pub(super) internal: Vec<Dependency>,
    /// What it depends on from elsewhere.
    pub(super) external: Vec<Dependency>,
}

/// A dependency on another crate.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// Which table of the manifest a dependency stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Normal,
    Build,
    Dev,
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Normal => "dependency",
            Self::Build => "build-dependency",
            Self::Dev => "dev-dependency",
        })
    }
}

/// Reads what `cargo metadata --format-version 1 --no-deps` prints.
pub(super) fn parse(json: &str) -> Result<Vec<Package>> {
    let document: Value = serde_json::from_str(json).context("cargo's metadata is not JSON")?;
    array(&document, "packages")?.iter().map(package).collect()
}

fn package(value: &Value) -> Result<Package> {
    let (internal, external): (Vec<&Value>, Vec<&Value>) =
        array(value, "dependencies")?.iter().partition(|dependency| dependency["path"].is_string());
    let read = |those: Vec<&Value>| those.into_iter().map(dependency).collect::<Result<_>>();
    Ok(Package { name: name(value)?, internal: read(internal)?, external: read(external)? })
}

fn dependency(value: &Value) -> Result<Dependency> {
    let kind = match value["kind"].as_str() {
        None => Kind::Normal,
        Some("build") => Kind::Build,
        Some("dev") => Kind::Dev,
        Some(other) => bail!("cargo's metadata has a dependency of unknown kind `{other}`"),
    };
    Ok(Dependency { name: name(value)?, kind })
}

fn name(value: &Value) -> Result<String> {
    let name = value["name"].as_str().context("cargo's metadata has an entry without a name")?;
    Ok(name.to_owned())
}

fn array<'a>(value: &'a Value, key: &str) -> Result<&'a [Value]> {
    let entries = value[key].as_array();
    Ok(entries.with_context(|| format!("cargo's metadata has no list `{key}`"))?)
}
