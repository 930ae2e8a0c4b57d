//! Files that are replaced whole: the new text is written beside, and renamed.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

/// Links that are followed from one to the next.
const MAX_LINKS: usize = 16;

/// Who may read a file once it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    /// The same as before; of a new file its owner.
    Owner,
    /// The same as before; of a new file everybody.
    Everybody,
    /// Its owner alone, whoever it was before.
    OwnerOnly,
}

/// Replaces a file, or makes it and the folders it is in. A link stays one.
///
/// # Errors
///
/// When it cannot be written, or a link leads in a circle.
pub(crate) fn write(file: &Path, text: &str, readers: Readers) -> io::Result<()> {
    let file = target(file)?;
    let folder = match file.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        folder => folder.unwrap_or(Path::new("/")),
    };
    let (mode, folder_mode) = match readers {
        Readers::Owner | Readers::OwnerOnly => (0o600, 0o700),
        Readers::Everybody => (0o644, 0o755),
    };
    DirBuilder::new().recursive(true).mode(folder_mode).create(folder)?;
    let mode = match fs::metadata(&file) {
        Ok(metadata) if readers != Readers::OwnerOnly => metadata.permissions().mode() & 0o777,
        _ => mode,
    };
    let mut beside = NamedTempFile::new_in(folder)?;
    beside.write_all(text.as_bytes())?;
    beside.as_file().set_permissions(Permissions::from_mode(mode))?;
    beside.as_file().sync_all()?;
    beside.persist(&file)?;
    Ok(())
}

/// A file that is written bit by bit, and is in its place only when it is whole. What is no file, such as a device, is
/// written to as it is.
#[derive(Debug)]
pub(crate) enum Replacement {
    /// Beside the file whose place it takes.
    Beside(NamedTempFile, PathBuf),
    /// Something that cannot be replaced.
    Direct(File),
}

impl Replacement {
    /// Begins to write. The file keeps its mode; a new one gets the usual one.
    ///
    /// # Errors
    ///
    /// When nothing can be written there.
    pub(crate) fn begin(file: &Path) -> io::Result<Self> {
        let mode = match fs::metadata(file) {
            Ok(metadata) if metadata.is_file() => Some(metadata.permissions()),
            Ok(_) => return File::create(file).map(Self::Direct),
            Err(_) => None,
        };
        let file = target(file)?;
        let folder = match file.parent() {
            Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
            folder => folder.unwrap_or(Path::new("/")),
        };
        // Errors of the crate would name the file beside, which nobody knows.
        let path = folder.join(format!(".metier-{}", uuid::Uuid::now_v7().simple()));
        let beside = OpenOptions::new().write(true).create_new(true).open(&path)?;
        let beside = NamedTempFile::from_parts(beside, TempPath::try_from_path(path)?);
        if let Some(mode) = mode {
            beside.as_file().set_permissions(mode)?;
        }
        Ok(Self::Beside(beside, file))
    }

    /// Puts it into its place.
    ///
    /// # Errors
    ///
    /// When it cannot be.
    pub(crate) fn end(self) -> io::Result<()> {
        match self {
            Self::Beside(beside, file) => Ok(beside.persist(file).map(drop)?),
            Self::Direct(_) => Ok(()),
        }
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Beside(beside, _) => beside.write(bytes),
            Self::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where a file really is, also when the last link leads to nothing yet.
///
/// # Errors
///
/// When a link leads in a circle, or a folder cannot be looked into.
pub(crate) fn target(file: &Path) -> io::Result<PathBuf> {
    let mut file = file.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&file) {
            Ok(next) => file = file.parent().unwrap_or(Path::new("/")).join(next),
            Err(_) => return resolved(&file),
        }
    }
    Err(io::Error::other("it is a link that leads in a circle"))
}

/// A path without links in that part of it which is there.
fn resolved(file: &Path) -> io::Result<PathBuf> {
    for above in file.ancestors().filter(|it| !it.as_os_str().is_empty()) {
        match fs::canonicalize(above) {
            Ok(real) => {
                let below = file.strip_prefix(above).into_iter().flat_map(Path::components);
                return Ok(below.fold(real, |path, part| path.join(part)));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(file.to_owned())
}
