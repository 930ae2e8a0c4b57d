//! Artifacts in a folder, for any number of processes at once.
//!
//! ```text
//! sessions/<app>/<user>/<session>/<name>/<version>/   content, record.json
//! users/<app>/<user>/<name>/<version>/                the same
//! staging/<entry>/                                    a version being written
//! ```
//!
//! A version is written and brought to disk in `staging`, and then renamed into its place, so it is
//! there whole or not at all. There are no locks to be left behind: whoever is killed leaves at most
//! an entry in `staging`, which [`DirectoryStore::clean`] removes.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncWriteExt};

use super::folder::{Folder, is_foreign, present};
use super::intake::{BUFFER_BYTES, DEFAULT_MAX_BYTES, Intake};
use super::staging::{self, Staged};
use super::store::{now, to_milliseconds};
use super::versions::{Record, Versions};
use super::{About, ArtifactError, ArtifactKey, ArtifactStore, Listed, Loaded, Scope, VersionInfo};
use crate::encode::file_name;

/// Most artifacts of one session or user that are listed, which are held in memory.
const MAX_NAMES: usize = 100_000;

/// A store in a folder that belongs to it alone.
///
/// Folders are made for their owner alone, and symbolic links in them are refused. The path to the
/// store itself may lead through links.
#[derive(Clone, Debug)]
pub struct DirectoryStore {
    root: Arc<Root>,
    max_bytes: u64,
}

/// The folders that are always there.
#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
    folder: Folder,
    pub(super) staging: Folder,
}

impl DirectoryStore {
    /// Opens a store, and makes the folder if it is missing. This waits for the disk.
    ///
    /// # Errors
    ///
    /// When the folder cannot be made or opened.
    pub fn open(folder: &Path) -> Result<Self, ArtifactError> {
        // Nothing in it outlasts a save, so one that is there need not be made sure of.
        let staging =
            |root: &Folder| root.open("staging").or_else(|_| root.open_or_make("staging"));
        let opened = Folder::at(folder).and_then(|root| Ok((staging(&root)?, root)));
        let (staging, root) = opened.map_err(|error| ArtifactError::storage(folder, error))?;
        let root = Root { path: folder.to_owned(), folder: root, staging };
        Ok(Self { root: Arc::new(root), max_bytes: DEFAULT_MAX_BYTES })
    }

    /// Takes content of so many bytes; 1 GiB unless this is called.
    #[must_use]
    pub fn with_max_bytes(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    /// Removes what was never finished and not written to for so long. Returns how many there were.
    ///
    /// A save that is still going on fails if its entry is removed; it is not saved in part.
    ///
    /// # Errors
    ///
    /// When something in `staging` cannot be removed.
    pub async fn clean(&self, older_than: Duration) -> Result<usize, ArtifactError> {
        self.blocking(move |root| root.checked(staging::clean(&root.staging, older_than))).await
    }

    /// Runs what waits for the disk where waiting hurts nobody.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<Root>) -> Result<T, ArtifactError> + Send + 'static,
    ) -> Result<T, ArtifactError> {
        let root = Arc::clone(&self.root);
        let done = tokio::task::spawn_blocking(move || work(&root)).await;
        self.root.checked(done.map_err(io::Error::other))?
    }
}

#[async_trait]
impl ArtifactStore for DirectoryStore {
    async fn save(
        &self,
        key: &ArtifactKey,
        content: &mut (dyn AsyncRead + Send + Unpin),
        about: &About,
    ) -> Result<VersionInfo, ArtifactError> {
        let (staged, file) = self.blocking(Staged::new).await?;
        let mut file = tokio::fs::File::from_std(file);
        file.set_max_buf_size(BUFFER_BYTES);
        let mut intake = Intake::new(key.name(), self.max_bytes);
        while let Some(piece) = intake.next(content).await? {
            self.root.checked(file.write_all(piece).await)?;
        }
        self.root.checked(file.flush().await)?;
        let file = file.into_std().await;
        let (size, digest) = intake.finish();
        let (name, mime_type) = (key.name().to_owned(), about.mime_type().to_owned());
        let record = Record { name, size, digest, mime_type, created_ms: to_milliseconds(now()) };
        let key = key.clone();
        self.blocking(move |_| staged.publish(&file, &key, record)).await
    }

    async fn load(&self, key: &ArtifactKey, version: Option<u64>) -> Result<Loaded, ArtifactError> {
        let key = key.clone();
        self.blocking(move |root| root.load(&key, version)).await
    }

    async fn list(&self, scope: &Scope) -> Result<Vec<Listed>, ArtifactError> {
        let scope = scope.clone();
        self.blocking(move |root| root.list(&scope)).await
    }

    async fn versions(&self, key: &ArtifactKey) -> Result<Vec<VersionInfo>, ArtifactError> {
        let key = key.clone();
        self.blocking(move |root| match root.versions(&key)? {
            Some(versions) => versions.all(),
            None => Ok(Vec::new()),
        })
        .await
    }

    async fn delete(&self, key: &ArtifactKey, version: Option<u64>) -> Result<(), ArtifactError> {
        let key = key.clone();
        self.blocking(move |root| root.delete(&key, version)).await
    }
}

impl Root {
    fn load(&self, key: &ArtifactKey, version: Option<u64>) -> Result<Loaded, ArtifactError> {
        let versions = self.versions(key)?.ok_or_else(|| ArtifactError::missing(key, None))?;
        let loaded = match version {
            None => versions.open_newest(),
            Some(number) => versions.open(number),
        };
        loaded?.map_or_else(|| Err(versions.missing(key, version)?), Ok)
    }

    fn list(&self, scope: &Scope) -> Result<Vec<Listed>, ArtifactError> {
        let mut listed = Vec::new();
        let Some(folder) = self.checked(self.find(scope))? else { return Ok(listed) };
        for file_name in self.checked(folder.names())? {
            let file_name = self.checked(file_name)?;
            if is_foreign(&file_name) {
                continue;
            }
            let folder = self.checked(folder.open(&file_name))?;
            let name = &file_name.clone();
            listed.extend(Versions { store: &self.path, name, file_name, folder }.listed()?);
            if listed.len() > MAX_NAMES {
                return Err(ArtifactError::TooManyNames { limit: MAX_NAMES });
            }
        }
        listed.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(listed)
    }

    fn delete(&self, key: &ArtifactKey, version: Option<u64>) -> Result<(), ArtifactError> {
        let versions = self.versions(key)?.ok_or_else(|| ArtifactError::missing(key, None))?;
        let mut deleted = false;
        for number in version.map_or_else(|| versions.numbers(), |number| Ok(vec![number]))? {
            deleted |= versions.bury(number)?;
        }
        if deleted { Ok(()) } else { Err(versions.missing(key, version)?) }
    }

    /// The versions of an artifact, if any was ever saved.
    fn versions<'a>(&'a self, key: &'a ArtifactKey) -> Result<Option<Versions<'a>>, ArtifactError> {
        let file_name = file_name(key.name());
        let folder = self.find(key.scope()).and_then(|scope| match scope {
            Some(scope) => present(scope.open(&file_name)),
            None => Ok(None),
        });
        let folder = self.checked(folder)?;
        let (store, name) = (&*self.path, key.name());
        Ok(folder.map(|folder| Versions { store, name, file_name, folder }))
    }

    /// The versions of an artifact, with its folders made and on disk.
    pub(super) fn make<'a>(&'a self, key: &'a ArtifactKey) -> Result<Versions<'a>, ArtifactError> {
        let file_name = file_name(key.name());
        let mut folder = self.checked(self.folder.open_or_make(top(key.scope())))?;
        for name in below(key.scope()).iter().chain([&file_name]) {
            folder = self.checked(folder.open_or_make(name))?;
        }
        Ok(Versions { store: &self.path, name: key.name(), file_name, folder })
    }

    fn find(&self, scope: &Scope) -> io::Result<Option<Folder>> {
        let mut folder = present(self.folder.open(top(scope)))?;
        for name in below(scope) {
            let Some(above) = folder else { return Ok(None) };
            folder = present(above.open(&name))?;
        }
        Ok(folder)
    }

    /// Says of which store an error is.
    pub(super) fn checked<T>(&self, result: io::Result<T>) -> Result<T, ArtifactError> {
        result.map_err(|error| ArtifactError::storage(&self.path, error))
    }
}

/// The folder in which a scope has its own.
fn top(scope: &Scope) -> &'static str {
    if scope.session().is_some() { "sessions" } else { "users" }
}

/// The folders of a scope, each below the one before it.
fn below(scope: &Scope) -> Vec<String> {
    let ids = [Some(scope.app()), Some(scope.user()), scope.session()];
    ids.into_iter().flatten().map(file_name).collect()
}
