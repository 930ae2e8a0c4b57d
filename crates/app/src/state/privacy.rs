//! Files that hold keys: they and their folders are made for their owner alone, and those that are not are named.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use metier_config::{SettingOrigin, SettingValue};

use crate::app::App;
use crate::servers::named_variable;

/// Files in the state directory that hold keys, or what was said to models and programs.
const KEPT: [&str; 4] = ["chat_history", "mcp-token", "metier.db", "metier.db-wal"];
/// What others may not have of a file with keys.
const FOR_OTHERS: u32 = 0o077;
/// What others may not have of the folder: with it they could replace the files.
const WRITABLE_FOR_OTHERS: u32 = 0o022;

/// Makes a folder, and those above it that are missing, for their owner alone.
///
/// # Errors
///
/// When it cannot be made.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// A file or folder with keys that others than its owner can read or change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExposedFile {
    /// A file with keys that others can read.
    Readable(PathBuf),
    /// The folder with such files, which others can write to.
    WritableFolder(PathBuf),
}

impl App {
    /// Returns what others can read or change although it holds keys.
    pub fn exposed_files(&self) -> Vec<ExposedFile> {
        let state = self.environment.state();
        let files = self.files_with_secrets().into_iter().chain(KEPT.map(|name| state.join(name)));
        let files = files.filter_map(|file| exposed_file(&file));
        let folder = has_mode(state, WRITABLE_FOR_OTHERS)
            .then(|| ExposedFile::WritableFolder(state.to_owned()));
        files.chain(folder).collect()
    }

    /// Returns the files of settings in which a secret stands.
    fn files_with_secrets(&self) -> BTreeSet<PathBuf> {
        let secrets = self.config.values().filter(|(name, value, _)| {
            matches!(value, SettingValue::Secret(text) if !text.is_empty() && named_variable(name, text).is_none())
        });
        let origins = secrets.flat_map(|(_, _, origins)| origins);
        let files = origins.filter_map(|origin| match origin {
            SettingOrigin::File { path, .. } => Some(path.clone()),
            SettingOrigin::Default | SettingOrigin::Variable(_) | SettingOrigin::Flag(_) => None,
        });
        files.collect()
    }
}

/// Returns a file of keys as exposed if others than its owner can do anything with it.
pub fn exposed_file(file: &Path) -> Option<ExposedFile> {
    has_mode(file, FOR_OTHERS).then(|| ExposedFile::Readable(file.to_owned()))
}

/// Returns whether something is there that has any of these bits.
fn has_mode(path: &Path, bits: u32) -> bool {
    fs::metadata(path).is_ok_and(|it| it.permissions().mode() & bits != 0)
}
