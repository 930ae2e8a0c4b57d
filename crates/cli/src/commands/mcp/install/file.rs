//! Reading and writing the file of a client.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::args::Scope;
use crate::failure::Failure;

/// Larger files are no configuration.
const MAX_BYTES: u64 = 64 << 20;
/// Links that are followed from one to the next.
const MAX_LINKS: usize = 16;

/// The text of a file; `None` if it is not there.
///
/// # Errors
///
/// When it cannot be read, or is no text.
pub(super) fn read(file: &Path) -> Result<Option<String>, Failure> {
    let failed = |why: &str| Failure::new(format!("cannot read `{}`: {why}", file.display()));
    let metadata = match fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(&error.to_string())),
    };
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err(failed("it is no file of text"));
    }
    let bytes = fs::read(file).map_err(|error| failed(&error.to_string()))?;
    String::from_utf8(bytes).map(Some).map_err(|_| failed("it is no file of text"))
}

/// Writes a file beside and renames it. A link stays one; a file keeps its permissions, and a new one of the
/// person is theirs alone.
///
/// # Errors
///
/// When it cannot be written.
pub(super) fn write(file: &Path, text: &str, scope: Scope) -> Result<(), Failure> {
    let (mode, folder_mode) = match scope {
        Scope::User => (0o600, 0o700),
        Scope::Project => (0o644, 0o755),
    };
    let written = || -> io::Result<()> {
        let file = target(file)?;
        let folder = file.parent().unwrap_or(Path::new("/"));
        DirBuilder::new().recursive(true).mode(folder_mode).create(folder)?;
        let mode = fs::metadata(&file).map_or(mode, |it| it.permissions().mode() & 0o7777);
        let mut beside = tempfile::NamedTempFile::new_in(folder)?;
        beside.write_all(text.as_bytes())?;
        beside.as_file().set_permissions(Permissions::from_mode(mode))?;
        beside.as_file().sync_all()?;
        beside.persist(&file)?;
        Ok(())
    };
    written().map_err(|error| Failure::new(format!("cannot write `{}`: {error}", file.display())))
}

/// Where a file really is, also when the last link leads to nothing yet.
fn target(file: &Path) -> io::Result<PathBuf> {
    let mut file = file.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&file) {
            Ok(next) => file = file.parent().unwrap_or(Path::new("/")).join(next),
            Err(_) => return Ok(file),
        }
    }
    Err(io::Error::other("it is a link that leads in a circle"))
}
