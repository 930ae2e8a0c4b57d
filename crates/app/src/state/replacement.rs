//! Files that are written bit by bit and replaced whole. Texts go through [`metier_config::replace_file`].

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use metier_config::resolve_links;
use tempfile::{NamedTempFile, TempPath};

/// A file that is written bit by bit, and is in its place only when it is whole. What is no file, such as a device, is
/// written to as it is.
#[derive(Debug)]
pub enum Replacement {
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
    pub fn begin(file: &Path) -> io::Result<Self> {
        let mode = match fs::metadata(file) {
            Ok(metadata) if metadata.is_file() => Some(metadata.permissions()),
            Ok(_) => return File::create(file).map(Self::Direct),
            Err(_) => None,
        };
        let file = resolve_links(file)?;
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
    pub fn end(self) -> io::Result<()> {
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
