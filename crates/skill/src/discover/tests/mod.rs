//! What a root holds: the walk, its bounds, links, headers, the cache, plugins.

mod bounds;
mod cache;
mod headers;
mod links;
mod plugins;
mod walk;

use std::path::{Path, PathBuf};

use crate::discover::{Absence, Links, Root, RootScan, ScanOptions, Source, scan};
use crate::scratch::Scratch;

fn root(path: PathBuf) -> Root {
    Root {
        source: Source::User,
        path,
        address: None,
        links: Links::Anywhere,
        absence: Absence::Silent,
        plugin: None,
        project: None,
    }
}

fn scan_one(root: Root, cache: Option<&Path>) -> RootScan {
    scan(&ScanOptions { roots: &[root], cache }).remove(0)
}

/// Skills by file, then problems.
fn render(scratch: &Scratch, scan: &RootScan) -> String {
    let mut text = String::new();
    for found in &scan.found {
        let file = scratch.shorten(&found.file.display().to_string());
        text.push_str(&format!("{file}: {}\n", found.manifest.name));
    }
    text + &scratch.problems(&scan.problems)
}

/// Scans the folder `root` as a user's root.
fn outcome(scratch: &Scratch) -> String {
    outcome_of(scratch, root(scratch.path("root")))
}

fn outcome_of(scratch: &Scratch, root: Root) -> String {
    render(scratch, &scan_one(root, None))
}
