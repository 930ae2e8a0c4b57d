//! The entries of a tree that are staged: all but those that metier's own names hide.
//!
//! In a staged skill `work`, `out`, `inputs` and `.venv` are links of metier to folders that other skills write to. A link of
//! the skill through one of these names led to the skill's own files where it was trusted, and would lead to theirs once it
//! is staged.

use std::collections::{BTreeMap, VecDeque};

use crate::stage::{Tree, TreeEntry, TreeKind, is_reserved};

/// Most links that are followed for one, as the system does.
const MAX_HOPS: usize = 40;

/// The entries of a tree, by whether they are staged.
#[derive(Debug, Default)]
pub(crate) struct StagedEntries<'a> {
    pub(crate) staged: Vec<&'a TreeEntry>,
    /// Entries with a name that metier needs for itself.
    pub(crate) reserved: Vec<&'a TreeEntry>,
    /// Links that lead through such a name.
    pub(crate) diverted: Vec<&'a TreeEntry>,
}

impl<'a> StagedEntries<'a> {
    /// Sorts the entries of a tree.
    pub(crate) fn of(tree: &'a Tree) -> Self {
        let links: BTreeMap<&str, &str> = tree.entries.iter().filter_map(link_of).collect();
        let mut entries = Self::default();
        for entry in &tree.entries {
            let is_diverted = |target: &String| is_diverted(&entry.path, target, &links);
            match &entry.kind {
                _ if is_reserved(&entry.path) => entries.reserved.push(entry),
                TreeKind::Link { target } if is_diverted(target) => entries.diverted.push(entry),
                _ => entries.staged.push(entry),
            }
        }
        entries
    }
}

fn link_of(entry: &TreeEntry) -> Option<(&str, &str)> {
    match &entry.kind {
        TreeKind::Link { target } => Some((&entry.path, target)),
        TreeKind::File { .. } => None,
    }
}

/// Returns whether the way from a link of a tree to what it leads to passes a reserved name, by the other links of the tree
/// too.
fn is_diverted(path: &str, target: &str, links: &BTreeMap<&str, &str>) -> bool {
    let mut here: Vec<&str> = path.split('/').collect();
    here.pop();
    let mut ahead: VecDeque<&str> = target.split('/').collect();
    let mut hops = 0;
    while let Some(name) = ahead.pop_front() {
        match name {
            "" | "." => {}
            ".." => {
                here.pop();
            }
            name => here.push(name),
        }
        let reached = here.join("/");
        if is_reserved(&reached) {
            return true;
        }
        if let Some(target) = links.get(reached.as_str()) {
            hops += 1;
            if hops > MAX_HOPS {
                return false;
            }
            here.pop();
            target.split('/').rev().for_each(|name| ahead.push_front(name));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::fs;

    use sha2::{Digest, Sha256};

    use super::*;
    use crate::layout::Workspaces;
    use crate::stage::stage;

    fn link(path: &str, target: &str) -> TreeEntry {
        TreeEntry { path: path.to_owned(), kind: TreeKind::Link { target: target.to_owned() } }
    }

    #[test]
    fn a_link_to_a_reserved_name_is_not_staged() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let workspaces = Workspaces::open(&at("workspaces"), &at("content")).unwrap();
        fs::create_dir_all(at("ship/sub")).unwrap();
        fs::write(at("ship/sub/own.sh"), "echo own").unwrap();
        let kind = TreeKind::File { sha256: Sha256::digest("echo own").into(), executable: false };
        let own = TreeEntry { path: "sub/own.sh".to_owned(), kind };
        let diverted = [
            link("lib.sh", "work/lib.sh"),
            link("lib", "work"),
            link("sub/deep", "../out/deep"),
            link("dotted", "./sub/.././inputs"),
            link("passes", "work/../sub/own.sh"),
            link("twice", "lib/lib.sh"),
            link("around", "sub/up/.venv"),
        ];
        let kept = [
            link("sub/up", ".."),
            link("fine", "sub/own.sh"),
            link("also-fine", "sub/up/fine"),
            link("sub/work", "own.sh"),
            link("loop", "loop"),
        ];
        let entries = diverted.iter().chain(&kept).chain([&own]).cloned().collect();
        let tree = Tree::new("ship", at("ship"), entries);
        let staged = stage(&workspaces, &tree).unwrap();
        for TreeEntry { path, .. } in &diverted {
            assert!(staged.join(path).symlink_metadata().is_err(), "{path}");
        }
        for TreeEntry { path, .. } in &kept {
            assert!(staged.join(path).symlink_metadata().is_ok(), "{path}");
        }
        assert_eq!(fs::read_to_string(staged.join("also-fine")).unwrap(), "echo own");
        assert_eq!(stage(&workspaces, &tree).unwrap(), staged, "its manifest says the same");
    }
}
