//! What is listed, what is left out and said to be, what a digest tells apart.

mod digest;
mod docs;
mod listing;
mod memo;

use std::path::Path;

use crate::files::{Digest, DigestCache, FileKind, digest_of, list};
use crate::scratch::Scratch;

/// Lists a folder and renders what is in it, with the problems below.
fn outcome(scratch: &Scratch, folder: &str) -> String {
    let tree = match list(&scratch.path(folder)) {
        Ok(tree) => tree,
        Err(error) => return scratch.shorten(&error.to_string()),
    };
    let mut text = String::new();
    for entry in &tree.entries {
        let what = match &entry.kind {
            FileKind::File { size, executable: false, .. } => format!("{size} bytes"),
            FileKind::File { size, executable: true, .. } => format!("{size} bytes, executable"),
            FileKind::Link { target } => format!("-> {target}"),
        };
        text.push_str(&format!("{}: {what}\n", entry.path));
    }
    text + &scratch.problems(&tree.problems)
}

fn digest(folder: &Path) -> Digest {
    digest_of(&list(folder).unwrap(), &DigestCache::in_memory()).unwrap().whole
}
