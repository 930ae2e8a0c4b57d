//! What `cargo tree` says: which crates are compiled into the binary, with which features, and who uses whom.
//!
//! It is asked rather than `cargo metadata` because it resolves features for exactly this package and target,
//! as the build does.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};

/// What a line has, after its depth and before the sign that what follows was shown already.
pub(super) const FORMAT: &str = "|{p}|{l}|{f}|";

/// A name and a version.
pub(in crate::dist) type Id = (String, String);

/// Crates, and who uses whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::dist) struct Tree {
    /// The crate of the binary.
    pub(in crate::dist) root: Id,
    /// All crates, with the binary's own.
    pub(in crate::dist) crates: BTreeMap<Id, Crate>,
}

/// A crate that is in the binary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::dist) struct Crate {
    /// Under which licences, as an SPDX expression.
    pub(in crate::dist) license: String,
    /// What of it is compiled.
    pub(in crate::dist) features: Vec<String>,
    /// The crates that it uses.
    pub(in crate::dist) uses: BTreeSet<Id>,
    /// Of the file that the registry has, unless it is one of ours.
    pub(in crate::dist) digest: Option<String>,
}

impl Tree {
    /// Reads lines that begin with their depth.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut crates: BTreeMap<Id, Crate> = BTreeMap::new();
        // Those above the current line.
        let mut path: Vec<Id> = Vec::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            let of_line = || format!("cannot read `{line}`, a line of `cargo tree`");
            let [depth, package, license, features, _] =
                line.split('|').collect::<Vec<_>>()[..].try_into().with_context(of_line)?;
            let depth: usize = depth.parse().with_context(of_line)?;
            let mut words = package.split(' ');
            let (Some(name), Some(version)) = (words.next(), words.next()) else {
                bail!(of_line());
            };
            let version = version.strip_prefix('v').with_context(of_line)?;
            let id = (name.to_owned(), version.to_owned());
            if depth > path.len() {
                bail!(of_line());
            }
            path.truncate(depth);
            if let Some(user) = path.last() {
                crates.entry(user.clone()).or_default().uses.insert(id.clone());
            }
            let known = crates.entry(id.clone()).or_default();
            known.license = expression(license);
            let features = features.split(',').filter(|it| !it.is_empty());
            known.features = features.map(str::to_owned).collect();
            path.push(id);
        }
        let root = path.into_iter().next().context("`cargo tree` printed nothing")?;
        Ok(Self { root, crates })
    }

    /// Adds what the lock file knows.
    pub(super) fn add_digests(&mut self, digests: &BTreeMap<Id, String>) {
        for (id, known) in &mut self.crates {
            known.digest = digests.get(id).cloned();
        }
    }
}

/// Before expressions a `/` stood between the licences of which one may choose.
fn expression(license: &str) -> String {
    license.split('/').map(str::trim).collect::<Vec<_>>().join(" OR ")
}
