//! Files that are replaced whole: the new text is written beside, and renamed.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

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
    let mut beside = tempfile::NamedTempFile::new_in(folder)?;
    beside.write_all(text.as_bytes())?;
    beside.as_file().set_permissions(Permissions::from_mode(mode))?;
    beside.as_file().sync_all()?;
    beside.persist(&file)?;
    Ok(())
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
