//! Skills inside a binary, and unpacking them.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::cache::make_private_folder;
use crate::files::{Digest, FileDigests};
use crate::files::{combine, entry_digest};

/// A skill compiled into a program.
#[derive(Clone, Copy, Debug)]
pub struct BundledSkill {
    /// The folder it would be in.
    pub folder: &'static str,
    /// Its files, `SKILL.md` among them.
    pub files: &'static [BundledFile],
}

/// One file of a [`BundledSkill`].
#[derive(Clone, Copy, Debug)]
pub struct BundledFile {
    /// Path from the skill's folder, with slashes.
    pub path: &'static str,
    /// What is in it.
    pub bytes: &'static [u8],
    /// Whether it can be executed.
    pub executable: bool,
}

impl BundledSkill {
    /// The text of `SKILL.md`.
    pub fn skill_file(&self) -> &'static [u8] {
        self.files.iter().find(|file| file.path == "SKILL.md").map_or(&[], |file| file.bytes)
    }

    /// The digest, which is that of the unpacked folder.
    pub fn digest(&self) -> Digest {
        let digests: FileDigests = self
            .files
            .iter()
            .map(|file| {
                let kind = if file.executable { "executable" } else { "file" };
                (file.path.to_owned(), entry_digest(kind, Digest::of_bytes(file.bytes)))
            })
            .collect();
        combine(&digests)
    }

    /// The folder `<content>/<digest>/<name>` with the files in it, made if it is not there.
    ///
    /// It is written beside and renamed, so that a half-written one is never seen.
    ///
    /// # Errors
    ///
    /// When the content folder cannot be written.
    pub fn unpack(&self, content: &Path) -> io::Result<PathBuf> {
        let home = content.join(self.digest().to_string());
        let folder = home.join(self.folder);
        if folder.join("SKILL.md").is_file() {
            return Ok(folder);
        }
        make_private_folder(content)?;
        let beside = tempfile::tempdir_in(content)?;
        for file in self.files {
            let path = beside.path().join(self.folder).join(file.path);
            fs::create_dir_all(path.parent().unwrap_or(content))?;
            let mode = if file.executable { 0o555 } else { 0o444 };
            let mut out =
                fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
            out.write_all(file.bytes)?;
            out.sync_all()?;
        }
        fs::set_permissions(beside.path(), fs::Permissions::from_mode(0o755))?;
        match fs::rename(beside.path(), &home) {
            Err(error) if !folder.join("SKILL.md").is_file() => Err(error),
            _ => Ok(folder),
        }
    }
}
