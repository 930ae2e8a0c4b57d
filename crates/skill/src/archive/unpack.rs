//! The way from an archive to a folder that is either complete or absent.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use tempfile::TempDir;

use super::path::EntryPath;
use super::tree::{Contents, Tree};
use super::{ArchiveError, Format, Limits, Refusal, tarball, zipfile};

/// What to unpack and where to.
#[derive(Clone, Debug)]
pub struct UnpackRequest<'a> {
    /// The file name or URL path of the archive; its ending tells the format.
    pub name: &'a str,
    /// The folder to make. It must not exist yet, the folder above it must.
    pub into: &'a Path,
    /// The folder made inside `into` if the archive turns out to be a bare `SKILL.md`.
    pub skill_folder: &'a str,
    /// Leading folders of each path that are left out; what is not below so many is left out too.
    pub strip: usize,
    /// Which links it may have.
    pub links: LinkRule,
    /// What the archive may cost.
    pub limits: &'a Limits,
}

/// Which symbolic links an archive may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkRule {
    /// Those that provably stay inside.
    Inside,
    /// None.
    Refused,
}

/// What was unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unpacked {
    /// What the archive was read as.
    pub format: Format,
    /// Files written.
    pub files: u64,
    /// Folders made, named or implied.
    pub folders: u64,
    /// Symbolic links made.
    pub links: u64,
    /// Entries left out because they are litter of macOS, or not below the folders that are.
    pub skipped: u64,
    /// Bytes in all files.
    pub bytes: u64,
}

/// Unpacks an archive into a new folder.
///
/// ```
/// use std::io::Cursor;
///
/// use metier_skill::archive::{Limits, LinkRule, UnpackRequest, unpack};
///
/// let folder = tempfile::tempdir()?;
/// let into = folder.path().join("skills");
/// // A bare `SKILL.md` is the smallest archive; `.zip`, `.tar` and `.tar.gz` are the others.
/// let archive = "---\nname: pdf\ndescription: Reads PDF files.\n---\n\nRun it.\n";
/// let request = UnpackRequest {
///     name: "https://example.com/SKILL.md",
///     into: &into,
///     skill_folder: "pdf",
///     strip: 0,
///     links: LinkRule::Inside,
///     limits: &Limits::STANDARD,
/// };
/// assert_eq!(unpack(Cursor::new(archive), &request)?.files, 1);
/// assert_eq!(std::fs::read_to_string(into.join("pdf/SKILL.md"))?, archive);
///
/// // What is too much is refused, and nothing is left behind.
/// let (limits, into) = (Limits { max_archive_bytes: 10, ..Limits::STANDARD }, folder.path().join("more"));
/// let refused = unpack(Cursor::new(archive), &UnpackRequest { limits: &limits, into: &into, ..request });
/// assert!(refused.is_err() && !into.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Fails if the archive is damaged, breaks a rule or a limit, or cannot be written. Nothing is left
/// behind then. [`ArchiveError::TargetExists`] can mean that another process was faster.
pub fn unpack(
    mut archive: impl Read + Seek,
    request: &UnpackRequest<'_>,
) -> Result<Unpacked, ArchiveError> {
    let bytes = measure(&mut archive, request)?;
    let format = find_format(&mut archive, request)?;
    let staging = stage(request.into)?;
    let folder = Dir::open_ambient_dir(staging.path(), ambient_authority())
        .map_err(|source| write_error(staging.path(), source))?;
    let mut tree = Tree::new(folder, format, request, bytes);
    match format {
        Format::Zip => zipfile::unpack(archive, request.limits, &mut tree)?,
        Format::Tar => tarball::unpack(archive, request.limits, &mut tree)?,
        Format::TarGz => tarball::unpack_gzip(archive, request.limits, &mut tree)?,
        Format::SkillFile => unpack_skill_file(archive, bytes, request, &mut tree)?,
    }
    let links = tree.finish()?;
    publish(staging, request.into)?;
    Ok(Unpacked {
        format,
        files: tree.files,
        folders: tree.folders,
        links,
        skipped: tree.skipped,
        bytes: tree.bytes,
    })
}

fn measure(archive: &mut impl Seek, request: &UnpackRequest<'_>) -> Result<u64, ArchiveError> {
    let bytes = archive
        .seek(SeekFrom::End(0))
        .and_then(|bytes| archive.rewind().map(|()| bytes))
        .map_err(|source| unreadable(request, source))?;
    let limit = request.limits.max_archive_bytes;
    if bytes > limit {
        return Err(ArchiveError::ArchiveTooLarge { bytes, limit });
    }
    Ok(bytes)
}

fn find_format(
    archive: &mut (impl Read + Seek),
    request: &UnpackRequest<'_>,
) -> Result<Format, ArchiveError> {
    if let Some(format) = Format::of_name(request.name) {
        return Ok(format);
    }
    Format::sniff(archive)
        .map_err(|source| unreadable(request, source))?
        .ok_or_else(|| ArchiveError::UnknownFormat { name: request.name.to_owned() })
}

fn unpack_skill_file(
    mut file: impl Read,
    bytes: u64,
    request: &UnpackRequest<'_>,
    tree: &mut Tree<'_>,
) -> Result<(), ArchiveError> {
    let folder = request.skill_folder;
    let is_one_name = EntryPath::parse(folder.as_bytes(), request.limits)
        .map(|path| path.as_str() == folder && !path.is_root() && !folder.contains('/'))
        .map_err(|reason| ArchiveError::Refused { entry: folder.to_owned(), reason })?;
    if !is_one_name {
        let reason = Refusal::NoName;
        return Err(ArchiveError::Refused { entry: folder.to_owned(), reason });
    }
    let Some(item) = tree.admit(format!("{folder}/SKILL.md").as_bytes())? else {
        return Ok(());
    };
    tree.add_file(&item, &mut Contents { reader: &mut file, declared: bytes, mode: 0 })
}

/// Makes the temporary folder, on the same file system as the target.
fn stage(target: &Path) -> Result<TempDir, ArchiveError> {
    match fs::symlink_metadata(target) {
        Ok(_) => return Err(ArchiveError::TargetExists { path: target.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(source) => return Err(write_error(target, source)),
    }
    let parent = parent_of(target);
    tempfile::Builder::new()
        .prefix(".unpacking-")
        .tempdir_in(&parent)
        .map_err(|source| write_error(&parent, source))
}

/// Gives the finished folder its name.
fn publish(staging: TempDir, target: &Path) -> Result<(), ArchiveError> {
    open_to_all(staging.path()).map_err(|source| write_error(staging.path(), source))?;
    fs::rename(staging.path(), target).map_err(|source| match source.kind() {
        io::ErrorKind::DirectoryNotEmpty
        | io::ErrorKind::AlreadyExists
        | io::ErrorKind::NotADirectory => ArchiveError::TargetExists { path: target.to_owned() },
        _ => write_error(target, source),
    })?;
    let _moved_away = staging.keep();
    sync_folder(&parent_of(target)).map_err(|source| write_error(target, source))
}

/// Temporary folders are private; what is unpacked has the permissions of any other folder.
#[cfg(unix)]
fn open_to_all(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn open_to_all(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

fn parent_of(target: &Path) -> PathBuf {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn write_error(path: &Path, source: io::Error) -> ArchiveError {
    ArchiveError::Write { path: path.to_owned(), source }
}

fn unreadable(request: &UnpackRequest<'_>, source: io::Error) -> ArchiveError {
    ArchiveError::Unreadable { name: request.name.to_owned(), source }
}
