//! Versions on their way into a folder store, and what is left of those that never arrived.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::directory::Root;
use super::folder::{Folder, is_foreign, present};
use super::store::{now, to_milliseconds};
use super::versions::{CONTENT, Record};
use super::{ArtifactError, ArtifactKey, VersionInfo};

/// What is being removed is called this and its name.
const GONE: &str = "gone-";

/// A version that is being written. It goes with this value unless it was published.
pub(super) struct Staged {
    root: Arc<Root>,
    entry: String,
    folder: Folder,
    is_published: bool,
}

impl Staged {
    /// Makes an entry in `staging`, and the file for its content.
    pub(super) fn new(root: &Arc<Root>) -> Result<(Self, File), ArtifactError> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let count = COUNTER.fetch_add(1, Ordering::Relaxed);
        // Were two alike, making the second would fail.
        let entry = format!("{}-{}-{count}", to_milliseconds(now()), std::process::id());
        root.checked(root.staging.make(&entry))?;
        let folder = root.checked(root.staging.open(&entry))?;
        let staged = Self { root: Arc::clone(root), entry, folder, is_published: false };
        let file = root.checked(staged.folder.make_file(CONTENT))?;
        Ok((staged, file))
    }

    /// Brings everything to disk and then to its place.
    pub(super) fn publish(
        mut self,
        content: &File,
        key: &ArtifactKey,
        record: Record,
    ) -> Result<VersionInfo, ArtifactError> {
        let number = self.move_to_place(content, key, &record).map_err(|error| match error {
            ArtifactError::Storage { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                ArtifactError::CleanedAway { name: key.name().to_owned() }
            }
            error => error,
        })?;
        self.is_published = true;
        Ok(record.info(number))
    }

    fn move_to_place(
        &self,
        content: &File,
        key: &ArtifactKey,
        record: &Record,
    ) -> Result<u64, ArtifactError> {
        let written = content.sync_all().and_then(|()| record.write(&self.folder));
        self.root.checked(written.and_then(|()| self.folder.sync()))?;
        self.root.make(key)?.claim(&self.root.staging, &self.entry)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.is_published {
            // What cannot be removed now is removed by `clean`.
            let _ = self.root.staging.remove(&self.entry);
        }
    }
}

/// Removes what nobody has written to for so long, and returns how many there were.
///
/// An entry is renamed first: either this succeeds or the saver's own renaming, so no version is
/// ever taken apart.
pub(super) fn clean(staging: &Folder, older_than: Duration) -> io::Result<usize> {
    let mut removed = 0;
    for entry in staging.names()? {
        let entry = entry?;
        if is_foreign(&entry) || age(staging, &entry)?.is_none_or(|age| age < older_than) {
            continue;
        }
        let gone = format!("{GONE}{}", entry.trim_start_matches(GONE));
        if entry == gone || present(staging.rename(&entry, staging, &gone))?.is_some() {
            removed += usize::from(present(staging.remove(&gone))?.is_some());
        }
    }
    Ok(removed)
}

/// How long ago an entry was written to, unless it is gone or of the future.
fn age(staging: &Folder, entry: &str) -> io::Result<Option<Duration>> {
    let Some(folder) = present(staging.open(entry))? else { return Ok(None) };
    let content = present(folder.open_file(CONTENT))?;
    let written = content.map(|file| file.metadata()?.modified()).transpose()?;
    let touched = folder.modified()?.max(written.unwrap_or(SystemTime::UNIX_EPOCH));
    Ok(SystemTime::now().duration_since(touched).ok())
}
