//! Staging: one read-only, verified copy of every tree, by digest.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{OFlags, ioctl_ficlone};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::clean::remove_tree;
use crate::encode::file_name;
use crate::layout::{INPUTS, Workspaces, venv};
use crate::spans;

/// Names that metier puts into a staged skill; an entry of the skill with such a name is hidden.
pub const RESERVED: [&str; 4] = ["out", "work", "inputs", ".venv"];

/// A named folder with what is in it.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The name it is staged under.
    pub name: String,
    /// Where it is.
    pub folder: PathBuf,
    /// What tells this content from any other; letters and digits only. Staged content is found by it and never compared
    /// again: with the same digest for other files, the old ones run.
    pub digest: String,
    /// Everything in it.
    pub entries: Vec<TreeEntry>,
}

/// A file or link of a tree.
#[derive(Clone, Debug)]
pub struct TreeEntry {
    /// Path from the folder, with slashes, without `..`.
    pub path: String,
    /// What it is.
    pub kind: TreeKind,
}

/// What an entry is.
#[derive(Clone, Debug)]
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

/// Gives the staged copy of a tree, made if there is none yet.
///
/// # Errors
///
/// When it cannot be copied, or changed in between.
pub fn stage(workspaces: &Workspaces, tree: &Tree) -> Result<PathBuf, StageError> {
    spans::step_now(&spans::stage(tree), || find_or_make(workspaces, tree))
}

fn find_or_make(workspaces: &Workspaces, tree: &Tree) -> Result<PathBuf, StageError> {
    if !is_digest(&tree.digest) {
        let (tree, digest) = (tree.name.clone(), tree.digest.clone());
        return Err(StageError::Digest { tree, digest });
    }
    let staged = workspaces.place_of(&tree.name, &tree.digest);
    if staged.is_dir() {
        note_use(&staged);
        return Ok(staged);
    }
    let fail = |source| StageError::Io {
        tree: tree.name.clone(),
        path: workspaces.content().display().to_string(),
        source,
    };
    // A tree that is read where it was staged cannot be staged from there once it is gone.
    if tree.folder == staged {
        return Err(fail(io::ErrorKind::NotFound.into()));
    }
    let beside = unused_folder(workspaces.content()).map_err(fail)?;
    let copied = copy_tree(tree, &beside).and_then(|()| finish(tree, &beside).map_err(fail));
    let result = copied.and_then(|()| match fs::rename(&beside, &staged) {
        Ok(()) => Ok(()),
        // Somebody else was faster with the same content.
        Err(_) if staged.is_dir() => Ok(()),
        Err(error) => Err(fail(error)),
    });
    if beside.exists() {
        // What is left is cleaned away by `gc`.
        let _left = remove_tree(&beside);
    }
    result.map(|()| staged)
}

impl Workspaces {
    /// The staged copy of a tree, if there is one. Whoever asks uses it.
    pub fn staged(&self, name: &str, digest: &str) -> Option<PathBuf> {
        let staged = is_digest(digest).then(|| self.place_of(name, digest));
        let staged = staged.filter(|it| it.is_dir())?;
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

/// Copies a staged tree to where a program can have it without mounts.
pub(crate) fn copy_staged(staged: &Path, to: &Path) -> io::Result<()> {
    remove_tree(to)?;
    copy_folder(staged, to)
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o755).create(to)?;
    fs::set_permissions(to, fs::Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&source, &target)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(&source)?, &target)?;
        } else {
            let from = File::open(&source)?;
            let mode = from.metadata()?.permissions().mode();
            let to = File::options().write(true).create_new(true).mode(mode).open(&target)?;
            to.set_permissions(fs::Permissions::from_mode(mode))?;
            clone_or_copy(&from, &to)?;
        }
    }
    Ok(())
}

fn unused_folder(content: &Path) -> io::Result<PathBuf> {
    let folder = content.join(format!(".staging-{}", uuid::Uuid::now_v7()));
    DirBuilder::new().mode(0o700).create(&folder)?;
    Ok(folder)
}

fn copy_tree(tree: &Tree, to: &Path) -> Result<(), StageError> {
    // Links come last, so that no file is written through one.
    let is_link = |entry: &&TreeEntry| matches!(entry.kind, TreeKind::Link { .. });
    let entries = || tree.entries.iter().filter(|entry| !is_reserved(&entry.path));
    for entry in entries().filter(|it| !is_link(it)).chain(entries().filter(is_link)) {
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

/// Whether an entry has a name that metier needs for itself.
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
fn copy_file(from: &Path, to: &Path, executable: bool) -> io::Result<[u8; 32]> {
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let from = File::options().read(true).custom_flags(flags).open(from)?;
    let mode = if executable { 0o555 } else { 0o444 };
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

fn clone_or_copy(mut from: &File, mut to: &File) -> io::Result<()> {
    if ioctl_ficlone(to, from).is_err() {
        io::copy(&mut from, &mut to)?;
    }
    Ok(())
}

/// Puts the links to the workspace's folders in, and lets nobody change anything any more.
fn finish(tree: &Tree, folder: &Path) -> io::Result<()> {
    let venv = format!("../../{}", venv(&tree.name));
    let inputs = format!("../../{INPUTS}");
    let links = [
        ("out", "../../out"),
        ("work", "../../work"),
        ("inputs", inputs.as_str()),
        (".venv", venv.as_str()),
    ];
    for (name, target) in links {
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
    fs::set_permissions(folder, fs::Permissions::from_mode(0o555))
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
