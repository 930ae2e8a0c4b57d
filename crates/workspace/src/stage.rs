//! Staging: one read-only, verified copy of every tree, by digest.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::ioctl_ficlone;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::clean::remove_tree;
use crate::copies::{is_folder, restore};
use crate::encode::file_name;
use crate::layout::Workspaces;
use crate::manifest::{
    self, Deviation, DeviationKind, FOLDER_MODE, Manifest, file_mode, open_for_reading,
};
use crate::spans;
use crate::staged_entries::StagedEntries;

/// Names that metier puts into a staged skill; an entry of the skill with such a name is hidden.
pub const RESERVED: [&str; 4] = ["out", "work", "inputs", ".venv"];

/// A named folder with what is in it.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The name it is staged under.
    pub name: String,
    /// Where it is.
    pub folder: PathBuf,
    /// What tells this content from any other; letters and digits only. Staged content is found by it, and compared with
    /// the entries each time.
    pub digest: String,
    /// Everything in it.
    pub entries: Vec<TreeEntry>,
}

/// A file or link of a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeEntry {
    /// Path from the folder, with slashes, without `..`.
    pub path: String,
    /// What it is.
    pub kind: TreeKind,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TreeKind {
    /// A regular file.
    File {
        /// SHA-256 of its content.
        sha256: [u8; 32],
        /// Whether it may be executed.
        executable: bool,
    },
    /// A link that stays inside the tree.
    Link {
        /// What it says.
        target: String,
    },
}

impl Tree {
    /// A tree whose digest is made of its entries.
    pub fn new(name: impl Into<String>, folder: PathBuf, entries: Vec<TreeEntry>) -> Self {
        let mut digest = Sha256::new();
        let mut add = |part: &[u8]| {
            digest.update(part.len().to_string());
            digest.update(":");
            digest.update(part);
        };
        for TreeEntry { path, kind } in &entries {
            add(path.as_bytes());
            match kind {
                TreeKind::File { sha256, executable } => {
                    add(if *executable { b"program" } else { b"file" });
                    add(sha256);
                }
                TreeKind::Link { target } => {
                    add(b"link");
                    add(target.as_bytes());
                }
            }
        }
        let digest = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Self { name: name.into(), folder, digest, entries }
    }
}

/// Why a tree could not be staged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StageError {
    /// Its digest is none.
    #[error("the digest `{}` of `{tree}` is not made of letters and digits", digest.escape_debug())]
    Digest {
        /// The tree.
        tree: String,
        /// What it has for a digest.
        digest: String,
    },
    /// A file is not what it was a moment ago.
    #[error("`{path}` of `{tree}` changed while it was copied; run the command again")]
    Changed {
        /// The tree.
        tree: String,
        /// The file.
        path: String,
    },
    /// The staged copy was changed, and there is nothing else to make it from.
    #[error("`{path}` of `{tree}` was changed after it was staged; load the skill again")]
    Altered {
        /// The tree.
        tree: String,
        /// The first path that is not what it was.
        path: String,
    },
    /// Something cannot be read or written.
    #[error("`{tree}` cannot be copied into the workspace: `{path}`: {source}")]
    Io {
        /// The tree.
        tree: String,
        /// What it was about.
        path: String,
        /// Why.
        source: io::Error,
    },
}

/// Returns the staged copy of a tree, compared with what it should be; it is made if there is none, or made again if
/// somebody changed it.
///
/// # Errors
///
/// When it cannot be copied, changed in between, or was changed and there is nothing else to copy it from.
pub fn stage(workspaces: &Workspaces, tree: &Tree) -> Result<PathBuf, StageError> {
    stage_content(workspaces, tree).map(|staged| staged.folder)
}

/// A staged tree that was compared with its manifest.
#[derive(Debug)]
pub(crate) struct StagedContent {
    pub(crate) folder: PathBuf,
    pub(crate) manifest: Manifest,
    /// What somebody had changed in it.
    pub(crate) repaired: Vec<Deviation>,
}

/// The same as [`stage`], with what it was compared with.
pub(crate) fn stage_content(
    workspaces: &Workspaces,
    tree: &Tree,
) -> Result<StagedContent, StageError> {
    spans::step_now(&spans::stage(tree), || find_or_make(workspaces, tree))
}

fn find_or_make(workspaces: &Workspaces, tree: &Tree) -> Result<StagedContent, StageError> {
    if !is_digest(&tree.digest) {
        let (tree, digest) = (tree.name.clone(), tree.digest.clone());
        return Err(StageError::Digest { tree, digest });
    }
    let staged = workspaces.place_of(&tree.name, &tree.digest);
    let fail = |source| StageError::Io {
        tree: tree.name.clone(),
        path: workspaces.content().display().to_string(),
        source,
    };
    // A tree that is read where it was staged has nothing else to be compared with, and cannot be staged from there.
    if tree.folder == staged {
        return find_again(tree, staged, fail);
    }
    let manifest = Manifest::of(tree);
    if is_folder(&staged) {
        let repaired = restore(&manifest, &staged, &tree.folder).map_err(fail)?;
        note_use(&staged);
        manifest.keep_beside(&staged).map_err(fail)?;
        return Ok(StagedContent { folder: staged, manifest, repaired });
    }
    let repaired = remove_other(&staged).map_err(fail)?;
    let beside = unused_folder(workspaces.content()).map_err(fail)?;
    let copied = copy_tree(tree, &beside).and_then(|()| finish(tree, &beside).map_err(fail));
    let copied = copied.and_then(|()| manifest.keep_beside(&staged).map_err(fail));
    let result = copied.and_then(|()| match fs::rename(&beside, &staged) {
        Ok(()) => Ok(()),
        // Somebody else was faster with the same content.
        Err(_) if is_folder(&staged) => Ok(()),
        Err(error) => Err(fail(error)),
    });
    if beside.exists() {
        // What is left is cleaned away by `gc`.
        let _left = remove_tree(&beside);
    }
    result.map(|()| StagedContent { folder: staged, manifest, repaired })
}

/// Removes a file or link that was put in the place of a staged tree, and returns it as what was changed. The target of
/// the link stays.
fn remove_other(staged: &Path) -> io::Result<Vec<Deviation>> {
    if !fs::symlink_metadata(staged).is_ok_and(|it| !it.is_dir()) {
        return Ok(Vec::new());
    }
    let is_replaced = |error: &io::Error| {
        matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory)
    };
    match fs::remove_file(staged) {
        Ok(()) => Ok(vec![Deviation { path: PathBuf::from("."), kind: DeviationKind::Wrong }]),
        // Another process was faster, and may have staged the tree.
        Err(error) if is_replaced(&error) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Finds what was staged before, as long as it is what it was then.
fn find_again(
    tree: &Tree,
    staged: PathBuf,
    fail: impl Fn(io::Error) -> StageError,
) -> Result<StagedContent, StageError> {
    let manifest = Manifest::read(&manifest::beside(&staged)).map_err(&fail)?;
    let Some(manifest) = manifest.filter(|_| is_folder(&staged)) else {
        return Err(fail(io::ErrorKind::NotFound.into()));
    };
    if let Some(first) = manifest.compare(&staged).map_err(&fail)?.first() {
        let path = first.path.display().to_string().escape_debug().to_string();
        return Err(StageError::Altered { tree: tree.name.clone(), path });
    }
    note_use(&staged);
    Ok(StagedContent { folder: staged, manifest, repaired: Vec::new() })
}

impl Workspaces {
    /// The staged copy of a tree, if there is one. Whoever asks uses it.
    pub fn staged(&self, name: &str, digest: &str) -> Option<PathBuf> {
        let staged = is_digest(digest).then(|| self.place_of(name, digest));
        let staged = staged.filter(|it| is_folder(it))?;
        note_use(&staged);
        Some(staged)
    }

    fn place_of(&self, name: &str, digest: &str) -> PathBuf {
        self.content().join(format!("{digest}-{}", file_name(name)))
    }
}

/// Whether a text can be a part of the name of a folder and nothing else.
fn is_digest(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|letter| letter.is_ascii_alphanumeric())
}

/// Notes that a staged tree is still in use, once a day. Not being able to costs a copy later.
fn note_use(staged: &Path) {
    let changed = fs::metadata(staged).and_then(|it| it.modified()).ok();
    let age = changed.and_then(|changed| changed.elapsed().ok()).unwrap_or_default();
    if age > Duration::from_hours(24) {
        let _not_noted = File::open(staged).and_then(|it| it.set_modified(SystemTime::now()));
    }
}

fn unused_folder(content: &Path) -> io::Result<PathBuf> {
    let folder = content.join(format!(".staging-{}", uuid::Uuid::now_v7()));
    DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}

fn copy_tree(tree: &Tree, to: &Path) -> Result<(), StageError> {
    // Links come last, so that no file is written through one.
    let mut entries = StagedEntries::of(tree).staged;
    entries.sort_by_key(|entry| matches!(entry.kind, TreeKind::Link { .. }));
    for entry in entries {
        if !stays_inside(&entry.path) {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "it leaves the tree");
            let (tree, path) = (tree.name.clone(), entry.path.escape_debug().to_string());
            return Err(StageError::Io { tree, path, source });
        }
        let copied = match &entry.kind {
            TreeKind::Link { target } => make_link(target, &to.join(&entry.path)).map(|()| true),
            TreeKind::File { sha256, executable } => {
                let source = tree.folder.join(&entry.path);
                copy_file(&source, &to.join(&entry.path), *executable)
                    .map(|copied| copied == *sha256)
            }
        };
        match copied {
            Ok(true) => {}
            Ok(false) => {
                return Err(StageError::Changed {
                    tree: tree.name.clone(),
                    path: entry.path.clone(),
                });
            }
            Err(source) => {
                return Err(StageError::Io {
                    tree: tree.name.clone(),
                    path: entry.path.clone(),
                    source,
                });
            }
        }
    }
    Ok(())
}

/// Returns whether an entry has a name that metier needs for itself.
pub fn is_reserved(path: &str) -> bool {
    RESERVED.contains(&path.split('/').next().unwrap_or_default())
}

/// Whether a path is made of names only.
fn stays_inside(path: &str) -> bool {
    path.split('/').all(|name| !matches!(name, "" | "." | ".."))
}

fn make_link(target: &str, at: &Path) -> io::Result<()> {
    at.parent().map_or(Ok(()), fs::create_dir_all)?;
    symlink(target, at)
}

/// Copies a file and gives the digest of what was copied.
pub(crate) fn copy_file(from: &Path, to: &Path, executable: bool) -> io::Result<[u8; 32]> {
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    let from = open_for_reading(from)?;
    let mode = file_mode(executable);
    let mut to = File::options().read(true).write(true).create_new(true).mode(mode).open(to)?;
    // Whoever runs the program reads it, whatever mask the caller has.
    to.set_permissions(fs::Permissions::from_mode(mode))?;
    if ioctl_ficlone(&to, &from).is_err() {
        return copy_and_digest(from, &mut to);
    }
    digest(&mut to)
}

fn copy_and_digest(mut from: File, to: &mut File) -> io::Result<[u8; 32]> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 {
            return Ok(hasher.finalize().into());
        }
        hasher.update(&buffer[..count]);
        to.write_all(&buffer[..count])?;
    }
}

fn digest(file: &mut File) -> io::Result<[u8; 32]> {
    let mut hasher = Sha256::new();
    io::copy(file, &mut HashWriter(&mut hasher))?;
    Ok(hasher.finalize().into())
}

struct HashWriter<'a>(&'a mut Sha256);

impl Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Puts the links to the workspace's folders in, and lets nobody change anything any more.
fn finish(tree: &Tree, folder: &Path) -> io::Result<()> {
    for (name, target) in manifest::links(&tree.name) {
        symlink(target, folder.join(name))?;
    }
    make_read_only(folder)
}

fn make_read_only(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            make_read_only(&entry.path())?;
        }
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(FOLDER_MODE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_staged_tree_that_is_gone_is_not_made_again_without_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let workspaces = Workspaces::open(&at("workspaces"), &at("content")).unwrap();
        fs::create_dir(at("pdf")).unwrap();
        let tree = |folder| Tree {
            name: "pdf".to_owned(),
            folder,
            digest: "abc".to_owned(),
            entries: Vec::new(),
        };
        let staged = stage(&workspaces, &tree(at("pdf"))).unwrap();
        let known = tree(staged.clone());
        assert_eq!(stage(&workspaces, &known).unwrap(), staged);
        remove_tree(&staged).unwrap();
        assert!(stage(&workspaces, &known).is_err());
        assert!(!staged.exists());
    }

    #[test]
    fn a_staged_tree_that_was_changed_is_refused_without_its_files_and_restored_with_them() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let workspaces = Workspaces::open(&at("workspaces"), &at("content")).unwrap();
        fs::create_dir_all(at("pdf/scripts")).unwrap();
        fs::write(at("pdf/scripts/run.py"), "print(1)").unwrap();
        let sha256 = Sha256::digest("print(1)").into();
        let kind = TreeKind::File { sha256, executable: false };
        let tree =
            Tree::new("pdf", at("pdf"), vec![TreeEntry { path: "scripts/run.py".into(), kind }]);
        let staged = stage(&workspaces, &tree).unwrap();
        let known = Tree { folder: staged.clone(), entries: Vec::new(), ..tree.clone() };
        assert_eq!(stage(&workspaces, &known).unwrap(), staged);
        let script = staged.join("scripts/run.py");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(&script, "print(2)").unwrap();
        let refused = stage(&workspaces, &known).unwrap_err();
        insta::assert_snapshot!(refused, @"`scripts/run.py` of `pdf` was changed after it was staged; load the skill again");
        assert_eq!(stage(&workspaces, &tree).unwrap(), staged);
        assert_eq!(fs::read_to_string(&script).unwrap(), "print(1)");
        assert_eq!(stage(&workspaces, &known).unwrap(), staged);
    }

    #[test]
    fn a_digest_that_could_lead_elsewhere_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let workspaces = Workspaces::open(&at("workspaces"), &at("content")).unwrap();
        fs::create_dir(at("x-pdf")).unwrap();
        for digest in ["../x", "", "a/b", "."] {
            let tree =
                Tree { digest: digest.to_owned(), ..Tree::new("pdf", at("pdf"), Vec::new()) };
            let refused = stage(&workspaces, &tree).unwrap_err();
            assert!(matches!(refused, StageError::Digest { .. }), "{digest}: {refused}");
        }
    }

    #[test]
    fn a_digest_made_of_entries_tells_them_apart() {
        let file = |byte, executable| TreeKind::File { sha256: [byte; 32], executable };
        let link = |target: &str| TreeKind::Link { target: target.to_owned() };
        let entry = |path: &str, kind| TreeEntry { path: path.to_owned(), kind };
        let trees = [
            vec![],
            vec![entry("a", file(1, false))],
            vec![entry("b", file(1, false))],
            vec![entry("a", file(2, false))],
            vec![entry("a", file(1, true))],
            vec![entry("a", link("b"))],
            vec![entry("a", link("c"))],
            vec![entry("a", file(1, false)), entry("b", file(1, false))],
        ];
        let digest = |entries: &Vec<_>| Tree::new("pdf", PathBuf::new(), entries.clone()).digest;
        let digests: std::collections::BTreeSet<String> = trees.iter().map(digest).collect();
        assert_eq!(digests.len(), trees.len());
        assert!(digests.iter().all(|digest| is_digest(digest)));
    }
}
