//! Putting downloads and programs where they belong.
//!
//! A folder is complete or as it was before; a program is a regular file inside the folder that was
//! installed, or it is not linked.

use std::collections::VecDeque;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Seek};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::archive::{ArchiveError, Limits, LinkRule, UnpackRequest, unpack};
use crate::install::DownloadPlan;

const MEBIBYTE: u64 = 1 << 20;
/// What an archive of tools may cost: they are larger than skills.
const LIMITS: Limits = Limits {
    max_archive_bytes: 256 * MEBIBYTE,
    max_file_bytes: 512 * MEBIBYTE,
    max_total_bytes: 1024 * MEBIBYTE,
    ..Limits::STANDARD
};
/// Entries that are looked at for one program.
const MAX_LOOKED_AT: usize = 20_000;

/// Why something could not be put where it belongs.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// The archive is refused.
    #[error("the archive cannot be used")]
    Archive(#[from] ArchiveError),
    /// A program that was promised is not there.
    #[error("`{name}` is not in what was installed")]
    NoProgram {
        /// Which.
        name: String,
    },
    /// A program is not what it seems.
    #[error("`{name}` is not a file of what was installed")]
    Elsewhere {
        /// Which.
        name: String,
    },
    /// The disk did not take it.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// What was written.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A program that can be found now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linked {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What was found under this name before, if that was something else.
    pub replaced: Option<PathBuf>,
}

/// Puts what was downloaded into its folder, unpacked if it is an archive, in the place of what was
/// there.
///
/// # Errors
///
/// When the archive is refused or the disk does not take it; the folder is as it was before then.
pub fn place(mut download: impl Read + Seek, plan: &DownloadPlan) -> Result<(), PlaceError> {
    let parent = plan.folder.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(parent).map_err(|source| written(parent, source))?;
    let beside = tempfile::Builder::new()
        .prefix(".placing-")
        .tempdir_in(parent)
        .map_err(|source| written(parent, source))?;
    let fresh = beside.path().join("new");
    match plan.archive {
        Some(kind) => {
            let request = UnpackRequest {
                name: &format!("download{}", kind.ending()),
                into: &fresh,
                skill_folder: "download",
                strip: plan.strip,
                links: LinkRule::Refused,
                limits: &LIMITS,
            };
            unpack(download, &request)?;
        }
        None => {
            let file = fresh.join(&plan.file);
            fs::create_dir(&fresh)
                .and_then(|()| File::create_new(&file))
                .and_then(|mut file| {
                    io::copy(&mut download, &mut file)?;
                    file.sync_all()
                })
                .map_err(|source| written(&file, source))?;
        }
    }
    replace(&fresh, &plan.folder, &beside.path().join("old"))
        .map_err(|source| written(&plan.folder, source))
}

/// Puts a folder in the place of another, which goes.
fn replace(fresh: &Path, target: &Path, aside: &Path) -> io::Result<()> {
    match fs::rename(target, aside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::rename(fresh, target).inspect_err(|_| {
        let _nothing_was_there = fs::rename(aside, target);
    })
}

/// Links programs of a folder that was installed into the folder where runs look for them.
///
/// # Errors
///
/// When one is not there, is not a file of that folder, or cannot be linked.
pub fn link_programs(
    folder: &Path,
    names: &[String],
    bin: &Path,
) -> Result<Vec<Linked>, PlaceError> {
    let real = fs::canonicalize(folder).map_err(|source| written(folder, source))?;
    let found = names.iter().map(|name| {
        let path = find(&real, name).ok_or_else(|| PlaceError::NoProgram { name: name.clone() })?;
        let file = fs::canonicalize(&path).map_err(|source| written(&path, source))?;
        if !file.starts_with(&real) || !file.is_file() {
            return Err(PlaceError::Elsewhere { name: name.clone() });
        }
        make_executable(&file).map_err(|source| written(&file, source))?;
        Ok((name, path))
    });
    // All or none: half of what a skill needs is of no use.
    let found = found.collect::<Result<Vec<_>, _>>()?;
    DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(bin)
        .map_err(|source| written(bin, source))?;
    let linked = found.into_iter().map(|(name, path)| {
        let link = bin.join(name);
        let replaced = fs::read_link(&link).ok().filter(|other| *other != path);
        set_link(&link, &path).map_err(|source| written(&link, source))?;
        Ok(Linked { name: name.clone(), path, replaced })
    });
    linked.collect()
}

/// A program in a folder: where programs usually are, else nearest to the top.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let usual = [folder.join("bin").join(name), folder.join(name)];
    if let Some(path) = usual.into_iter().find(|path| path.is_file()) {
        return Some(path);
    }
    let mut folders = VecDeque::from([folder.to_owned()]);
    let mut left = MAX_LOOKED_AT;
    while let Some(folder) = folders.pop_front() {
        let mut entries: Vec<_> =
            fs::read_dir(&folder).into_iter().flatten().flatten().take(left).collect();
        left -= entries.len();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            match entry.file_type() {
                Ok(kind) if kind.is_file() && entry.file_name() == name => {
                    return Some(entry.path());
                }
                Ok(kind) if kind.is_dir() => folders.push_back(entry.path()),
                _ => {}
            }
        }
    }
    None
}

fn make_executable(file: &Path) -> io::Result<()> {
    let mode = fs::metadata(file)?.permissions().mode();
    if mode & 0o111 == 0o111 {
        return Ok(());
    }
    fs::set_permissions(file, fs::Permissions::from_mode(mode & 0o777 | 0o755))
}

/// Makes a link, in the place of another one or of nothing.
fn set_link(link: &Path, target: &Path) -> io::Result<()> {
    let folder = link.parent().unwrap_or(Path::new("/"));
    let beside = tempfile::Builder::new().prefix(".linking-").tempdir_in(folder)?;
    let fresh = beside.path().join("link");
    symlink(target, &fresh)?;
    fs::rename(&fresh, link)
}

fn written(path: &Path, source: io::Error) -> PlaceError {
    PlaceError::Write { path: path.to_owned(), source }
}
