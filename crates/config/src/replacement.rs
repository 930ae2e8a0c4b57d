//! Replaces a file whole: the new text is written beside it, and renamed.
//!
//! A reader sees the old text or the new one, never a part. Which file and which text is for the caller to decide.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Links that are followed from one to the next.
const MAX_LINKS: usize = 16;

/// The readers of a file once it is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileReaders {
    /// The same as before; of a new file its owner.
    Owner,
    /// The same as before; of a new file everybody.
    Everybody,
    /// Its owner alone, whatever its mode was before.
    OwnerOnly,
}

/// Replaces a file, or makes it and the folders it is in. A link stays one.
///
/// # Errors
///
/// When it cannot be written, or a link leads in a circle.
pub fn replace_file(file: &Path, text: &str, readers: FileReaders) -> io::Result<()> {
    let file = resolve_links(file)?;
    let folder = match file.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        folder => folder.unwrap_or(Path::new("/")),
    };
    let (mode, folder_mode) = match readers {
        FileReaders::Owner | FileReaders::OwnerOnly => (0o600, 0o700),
        FileReaders::Everybody => (0o644, 0o755),
    };
    DirBuilder::new().recursive(true).mode(folder_mode).create(folder)?;
    let mode = match fs::metadata(&file) {
        Ok(metadata) if readers != FileReaders::OwnerOnly => metadata.permissions().mode() & 0o777,
        _ => mode,
    };
    let mut beside = NamedTempFile::new_in(folder)?;
    beside.write_all(text.as_bytes())?;
    beside.as_file().set_permissions(Permissions::from_mode(mode))?;
    beside.as_file().sync_all()?;
    beside.persist(&file)?;
    Ok(())
}

/// Returns where a file really is, also when the last link leads to nothing yet.
///
/// # Errors
///
/// When a link leads in a circle, or a folder cannot be looked into.
pub fn resolve_links(file: &Path) -> io::Result<PathBuf> {
    let mut file = file.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&file) {
            Ok(next) => file = file.parent().unwrap_or(Path::new("/")).join(next),
            Err(_) => return resolve_folders(&file),
        }
    }
    Err(io::Error::other("it is a link that leads in a circle"))
}

/// Returns a path without links in that part of it which is there.
fn resolve_folders(file: &Path) -> io::Result<PathBuf> {
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(file: &Path) -> u32 {
        fs::metadata(file).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_link_stays_a_link_and_a_file_keeps_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("real.toml"), folder.path().join("link.toml"));
        fs::write(&file, "a = 1\n").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        symlink("real.toml", &link).unwrap();
        replace_file(&link, "a = 2\n", FileReaders::Owner).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "a = 2\n");
        assert_eq!(mode(&file), 0o640);
        replace_file(&link, "a = 3\n", FileReaders::OwnerOnly).unwrap();
        assert_eq!(mode(&file), 0o600);
    }

    #[test]
    fn a_new_file_is_made_where_a_link_to_nothing_leads() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link.toml");
        symlink("below/real.toml", &link).unwrap();
        let file = resolve_links(&link).unwrap();
        assert!(file.ends_with("below/real.toml"), "{}", file.display());
        replace_file(&link, "", FileReaders::Everybody).unwrap();
        assert_eq!(mode(&file), 0o644);
    }

    #[test]
    fn links_in_a_circle_lead_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("circle");
        symlink("circle", &link).unwrap();
        assert!(replace_file(&link, "", FileReaders::Owner).is_err());
    }
}
