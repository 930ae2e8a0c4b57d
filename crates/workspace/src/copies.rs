//! Copies of staged trees in workspaces, for executors that mount nothing, and the repair of what was changed in them.
//!
//! On the host a program can write to the copy that it runs from, and to staged content. So every copy is compared
//! with its manifest right before a command starts, and put right. What a program changes while another one runs is
//! not noticed before the next run: the host isolates nothing.
//!
//! Making a copy takes longer than most commands run. So a session that is over gives its copies back, and the next one
//! takes them; they are compared as any other. Files are never hard links of staged content, which could be written
//! through them.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{Mode, OFlags};

use crate::clean::remove_tree;
use crate::executor::StagedTree;
use crate::layout::{Workspace, WorkspaceKey, Workspaces, make_private, private_workspaces};
use crate::manifest::{Deviation, DeviationKind, FOLDER_MODE, MAX_EXTRA, Manifest};
use crate::ownership::claim;
use crate::stage::{TreeKind, copy_file};

/// The folder beside all workspaces with copies that sessions gave back.
const SPARE: &str = ".spare";
/// Mode of a folder while something in it is repaired.
const OPEN_MODE: u32 = 0o755;
/// How often a tree is repaired that a program goes on changing.
const MAX_REPAIRS: u32 = 3;
/// Most paths that a warning names.
const MAX_NAMED: usize = 3;
/// The folder in which Python keeps what it compiled. It is removed, but no warning names it: wherever it can be made it is.
const PYTHON_CACHE: &str = "__pycache__";

/// Puts copies of the staged trees into the workspace, each exactly as its manifest says. Returns a warning for each copy
/// that had been changed.
pub(crate) fn place_copies(
    workspace: &Workspace,
    staged: &[StagedTree],
) -> io::Result<Vec<String>> {
    let _lock = workspace.lock()?;
    let mut metadata = workspace.metadata()?;
    let copies = workspace.copies()?;
    let mut warnings = Vec::new();
    for StagedTree { folder, digest, content, manifest, .. } in staged {
        let target = copies.join(folder);
        let is_known = metadata.skills.get(folder) == Some(digest);
        let is_there = is_folder(&target);
        if is_known && !is_there {
            warnings.push(format!("the copy of the skill `{folder}` was gone and was restored"));
        }
        // Made just now of content that was compared, so that nothing but time could have changed it.
        let mut is_new = false;
        if !is_known || !is_there {
            remove_tree(&target)?;
            if !take_spare(workspace, content, &target)? {
                copy_folder(content, &target)?;
                is_new = true;
            }
            metadata.skills.insert(folder.clone(), digest.clone());
            workspace.save(&metadata)?;
        }
        let repaired = restore(manifest, &target, content)?;
        warnings.extend(repair_warning("copy of the skill", folder, &repaired).filter(|_| !is_new));
    }
    Ok(warnings)
}

/// Compares a folder with a manifest and replaces what deviates by files of another folder. Returns what deviated.
///
/// It is an error if the folder is a link: what is elsewhere is not repaired.
pub(crate) fn restore(
    manifest: &Manifest,
    place: &Path,
    from: &Path,
) -> io::Result<Vec<Deviation>> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = rustix::fs::open(place, flags, Mode::empty())?;
    // The folder that is open, whatever has its name by now.
    let folder = &PathBuf::from(format!("/proc/self/fd/{}/.", open.as_raw_fd()));
    let mut repaired = Vec::new();
    for _ in 0..MAX_REPAIRS {
        let deviations = manifest.compare(folder)?;
        if deviations.is_empty() {
            return Ok(repaired);
        }
        let is_extra = |it: &&Deviation| it.kind == DeviationKind::Extra;
        if deviations.iter().filter(is_extra).count() >= MAX_EXTRA {
            empty(folder)?;
        } else {
            let mut each = deviations.iter();
            each.try_for_each(|it| repair(manifest, it, folder, from))?;
        }
        if repaired.is_empty() {
            repaired = deviations;
        }
    }
    let text = format!("`{}` is changed again and again", place.display());
    Err(io::Error::new(io::ErrorKind::ResourceBusy, text))
}

fn repair(
    manifest: &Manifest,
    deviation: &Deviation,
    folder: &Path,
    from: &Path,
) -> io::Result<()> {
    let Deviation { path, kind } = deviation;
    let place = folder.join(path);
    if *kind == DeviationKind::Mode {
        return set_mode(&place, FOLDER_MODE);
    }
    let above = place.parent().unwrap_or(folder);
    set_mode(above, OPEN_MODE)?;
    let repaired = match kind {
        DeviationKind::Extra => remove(&place),
        _ => replace(manifest, path, &place, from),
    };
    set_mode(above, FOLDER_MODE)?;
    repaired
}

/// Puts what belongs to a tree at its place. A file is replaced at once, so that whoever reads it has one or the other.
fn replace(manifest: &Manifest, path: &Path, place: &Path, from: &Path) -> io::Result<()> {
    let name = path.to_str().unwrap_or_default();
    if manifest.is_folder(name) {
        remove(place)?;
        return DirBuilder::new()
            .mode(OPEN_MODE)
            .create(place)
            .and_then(|()| set_mode(place, FOLDER_MODE));
    }
    if is_folder(place) {
        remove(place)?;
    }
    let beside = place.with_file_name(format!(".new-{}", uuid::Uuid::now_v7().simple()));
    match manifest.entry(name) {
        Some(TreeKind::Link { target }) => symlink(target, &beside)?,
        Some(TreeKind::File { sha256, executable }) => {
            if copy_file(&from.join(path), &beside, *executable)? != *sha256 {
                remove(&beside)?;
                let text = format!("`{}` changed, and there is no other copy", path.display());
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
        }
        None => return Ok(()),
    }
    fs::rename(beside, place)
}

/// Removes everything in a folder, however much that is.
fn empty(folder: &Path) -> io::Result<()> {
    set_mode(folder, OPEN_MODE)?;
    for entry in fs::read_dir(folder)? {
        remove(&entry?.path())?;
    }
    set_mode(folder, FOLDER_MODE)
}

/// Removes a file, link or folder, if it is there.
fn remove(place: &Path) -> io::Result<()> {
    if is_folder(place) {
        return remove_tree(place);
    }
    match fs::remove_file(place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Whether there is a folder at a place, not a link to one.
pub(crate) fn is_folder(place: &Path) -> bool {
    fs::symlink_metadata(place).is_ok_and(|it| it.is_dir())
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
}

/// Copies a staged tree that was compared with its manifest.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    DirBuilder::new().mode(OPEN_MODE).create(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_folder(&source, &target)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(&source)?, &target)?;
        } else {
            let executable = entry.metadata()?.permissions().mode() & 0o100 != 0;
            copy_file(&source, &target, executable)?;
        }
    }
    set_mode(to, FOLDER_MODE)
}

/// Says what was changed in a tree, if anything was.
pub(crate) fn repair_warning(what: &str, skill: &str, repaired: &[Deviation]) -> Option<String> {
    let is_cache = |it: &&Deviation| it.path.ends_with(PYTHON_CACHE);
    // A folder is opened by whoever adds something to it.
    let told = repaired.iter().filter(|it| it.kind != DeviationKind::Mode && !is_cache(it));
    let paths: Vec<String> = told.map(|it| it.path.display().to_string()).collect();
    let named: Vec<String> =
        paths.iter().take(MAX_NAMED).map(|path| format!("`{}`", path.escape_debug())).collect();
    let more = paths.len() - named.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    (!named.is_empty()).then(|| {
        format!(
            "the {what} `{skill}` had been changed and was restored: {}{more}",
            named.join(", ")
        )
    })
}

/// Returns the folder with copies that sessions gave back.
pub(crate) fn spare_copies(root: &Path) -> PathBuf {
    root.join(SPARE)
}

/// Takes the copy that another session gave back; returns whether there was one.
fn take_spare(workspace: &Workspace, content: &Path, target: &Path) -> io::Result<bool> {
    let name = content.file_name().unwrap_or_default();
    move_copy(&spare_copies(workspace.root_of_all()).join(name), target)
}

/// Moves a copy; returns whether there was one. It must be writable for its parent to change.
fn move_copy(from: &Path, to: &Path) -> io::Result<bool> {
    if !is_folder(from) {
        return Ok(false);
    }
    set_mode(from, OPEN_MODE)?;
    match fs::rename(from, to) {
        Ok(()) => {}
        // Somebody else was faster.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    }
    set_mode(to, FOLDER_MODE)?;
    Ok(true)
}

impl Workspaces {
    /// Gives the copies of skills in the workspace of a session back, for the next session that needs them. Runs of this
    /// session can go on afterwards; they have copies again then.
    ///
    /// # Errors
    ///
    /// When it is in use, or a copy cannot be moved.
    pub fn give_copies_back(&self, key: &WorkspaceKey) -> io::Result<()> {
        let root = self.folder_of(key);
        let _lock = claim(&root)?;
        self.give_back(&Self::claimed(key, &root))?;
        let private = private_workspaces(&root)?;
        private.iter().try_for_each(|folder| self.give_back(&Self::claimed(key, folder)))
    }

    fn give_back(&self, workspace: &Workspace) -> io::Result<()> {
        let mut metadata = workspace.metadata()?;
        if metadata.skills.is_empty() {
            return Ok(());
        }
        let copies = workspace.copies()?;
        let spare = spare_copies(self.root());
        make_private(&spare)?;
        for (folder, digest) in std::mem::take(&mut metadata.skills) {
            let copy = copies.join(&folder);
            let place = spare.join(format!("{digest}-{folder}"));
            // One is enough; this one goes with its workspace.
            if place.exists() {
                metadata.skills.insert(folder, digest);
            } else if move_copy(&copy, &place)? {
                // Its age is the time since somebody used it.
                File::open(&place)?.set_modified(SystemTime::now())?;
            }
        }
        workspace.save(&metadata)
    }
}
