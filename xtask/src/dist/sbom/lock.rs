//! The digests that the lock file has of crates from the registry.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::tree::Id;

/// By name and version; our own crates have none.
pub(super) fn digests(lock: &str) -> Result<BTreeMap<Id, String>> {
    let lock: toml::Table = lock.parse().context("Cargo.lock is not TOML")?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let digest = |package: &toml::Value| {
        let text = |field: &str| Some(package.get(field)?.as_str()?.to_owned());
        Some(((text("name")?, text("version")?), text("checksum")?))
    };
    Ok(packages.context("Cargo.lock lists no packages")?.iter().filter_map(digest).collect())
}
