//! Reading and writing the file of a client.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use metier_config::{FileReaders, replace_file, resolve_links};

use crate::args::Scope;
use crate::failure::Failure;
use crate::roots::real;

/// Larger files are no configuration.
const MAX_BYTES: u64 = 64 << 20;

/// The text of a file; `None` if it is not there.
///
/// # Errors
///
/// When it cannot be read, or is no text.
pub(super) fn read(file: &Path) -> Result<Option<String>, Failure> {
    let failed = |why: &str| {
        Failure::new(format!("cannot read `{}`: {why}", file.display()))
            .hint("make it a file of text that you can read")
    };
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

/// Where a file really is. That of a project is in the project: a link of it may not lead to files of the person.
///
/// # Errors
///
/// When it is not, or cannot be known.
pub(super) fn place(file: &Path, scope: Scope, root: &Path) -> Result<PathBuf, Failure> {
    let shown = file.display();
    let place = resolve_links(file).map_err(|error| {
        Failure::new(format!("cannot write `{shown}`: {error}"))
            .hint("`--print` shows what to write there yourself")
    })?;
    if scope == Scope::Project && !place.starts_with(real(root)) {
        let place = place.display();
        return Err(Failure::new(format!("`{shown}` leads out of the project, to `{place}`"))
            .hint("put a file in place of the link, or leave out `--scope project`"));
    }
    Ok(place)
}

/// Replaces a file, or makes it. A new one of the person is theirs alone.
///
/// # Errors
///
/// When it cannot be written.
pub(super) fn write(file: &Path, text: &str, scope: Scope) -> Result<(), Failure> {
    let readers = match scope {
        Scope::User => FileReaders::Owner,
        Scope::Project => FileReaders::Everybody,
    };
    let failed = |error| {
        Failure::new(format!("cannot write `{}`: {error}", file.display()))
            .hint("`--print` shows what to write there yourself")
    };
    replace_file(file, text, readers).map_err(failed)
}
