//! Artifacts that end with the process: for tests, and for those who want no trace.

use std::collections::{BTreeMap, HashMap};
use std::io::Cursor;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::io::AsyncRead;

use super::intake::{DEFAULT_MAX_BYTES, Intake};
use super::store::now;
use super::{About, ArtifactError, ArtifactKey, ArtifactStore, Listed, Loaded, Scope, VersionInfo};

/// How much is held, unless the caller says otherwise: a session's reports, on a small machine.
const DEFAULT_MAX_TOTAL: u64 = 256 * 1024 * 1024;
/// What a name costs: with its scope it has at most 4 KiB, and the maps take some.
const NAME_BYTES: u64 = 8 * 1024;
/// What a version costs besides its content, so that empty ones are bounded too.
const VERSION_BYTES: u64 = 1024;

/// A store in memory.
#[derive(Debug)]
pub struct MemoryStore {
    max_bytes: u64,
    max_total: u64,
    held: Mutex<Held>,
}

/// All that is held, and how much that and what is being read take.
#[derive(Debug, Default)]
struct Held {
    bytes: u64,
    scopes: HashMap<Scope, BTreeMap<String, Artifact>>,
}

/// One artifact. It stays when its versions go, because it knows the next number.
#[derive(Debug, Default)]
struct Artifact {
    next: u64,
    versions: BTreeMap<u64, Version>,
}

#[derive(Clone, Debug)]
struct Version {
    info: VersionInfo,
    content: Arc<[u8]>,
}

impl MemoryStore {
    /// An empty store that holds 256 MiB.
    pub fn new() -> Self {
        let (max_bytes, max_total) = (DEFAULT_MAX_BYTES, DEFAULT_MAX_TOTAL);
        Self { max_bytes, max_total, held: Mutex::default() }
    }

    /// Takes content of so many bytes.
    #[must_use]
    pub fn with_max_bytes(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    /// Holds so many bytes in all. A version counts as its content and 1 KiB, a name as 8 KiB, which
    /// deleting does not give back.
    #[must_use]
    pub fn with_max_total(self, max_total: u64) -> Self {
        Self { max_total, ..self }
    }

    /// Nothing that holds the lock fails half-way, so what a panic leaves is whole.
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl ArtifactStore for MemoryStore {
    async fn save(
        &self,
        key: &ArtifactKey,
        content: &mut (dyn AsyncRead + Send + Unpin),
        about: &About,
    ) -> Result<VersionInfo, ArtifactError> {
        let mut intake = Intake::new(key.name(), self.max_bytes);
        let mut room = Reservation { store: self, bytes: 0 };
        room.take(VERSION_BYTES)?;
        let mut bytes = Vec::new();
        while let Some(piece) = intake.next(content).await? {
            room.take(piece.len() as u64)?;
            bytes.extend_from_slice(piece);
        }
        let (size, digest) = intake.finish();
        let mime_type = about.mime_type().to_owned();
        let info = VersionInfo { version: 0, size, digest, mime_type, created: now() };
        room.fill(key, Version { info, content: bytes.into() })
    }

    async fn load(&self, key: &ArtifactKey, version: Option<u64>) -> Result<Loaded, ArtifactError> {
        let held = self.lock();
        let versions = held.versions(key).ok_or_else(|| ArtifactError::missing(key, None))?;
        let found = match version {
            None => versions.values().next_back(),
            Some(number) => versions.get(&number),
        };
        let Version { info, content } =
            found.cloned().ok_or_else(|| ArtifactError::missing(key, version))?;
        Ok(Loaded { info, content: Box::new(Cursor::new(content)) })
    }

    async fn list(&self, scope: &Scope) -> Result<Vec<Listed>, ArtifactError> {
        let held = self.lock();
        let artifacts = held.scopes.get(scope).into_iter().flatten();
        let listed = artifacts.filter_map(|(name, Artifact { versions, .. })| {
            let newest = versions.values().next_back()?.info.clone();
            Some(Listed { name: name.clone(), newest, versions: versions.len() })
        });
        Ok(listed.collect())
    }

    async fn versions(&self, key: &ArtifactKey) -> Result<Vec<VersionInfo>, ArtifactError> {
        let held = self.lock();
        let versions = held.versions(key).into_iter().flat_map(BTreeMap::values);
        Ok(versions.map(|version| version.info.clone()).collect())
    }

    async fn delete(&self, key: &ArtifactKey, version: Option<u64>) -> Result<(), ArtifactError> {
        let mut held = self.lock();
        let artifact = held.scopes.get_mut(key.scope()).and_then(|names| names.get_mut(key.name()));
        let versions = &mut artifact.ok_or_else(|| ArtifactError::missing(key, None))?.versions;
        let is_meant = |number: &u64| version.is_none_or(|version| version == *number);
        if !versions.keys().any(is_meant) {
            let version = version.filter(|_| !versions.is_empty());
            return Err(ArtifactError::missing(key, version));
        }
        let gone = versions.extract_if(.., |number, _| is_meant(number));
        let freed: u64 = gone.map(|(_, version)| version.info.size + VERSION_BYTES).sum();
        held.bytes -= freed;
        Ok(())
    }
}

impl Held {
    fn reserve(&mut self, bytes: u64, limit: u64) -> Result<(), ArtifactError> {
        if bytes > limit.saturating_sub(self.bytes) {
            return Err(ArtifactError::Full { limit });
        }
        self.bytes += bytes;
        Ok(())
    }

    /// The versions of an artifact that has some.
    fn versions(&self, key: &ArtifactKey) -> Option<&BTreeMap<u64, Version>> {
        let artifact = self.scopes.get(key.scope())?.get(key.name())?;
        (!artifact.versions.is_empty()).then_some(&artifact.versions)
    }
}

/// Bytes that are spoken for, and given back unless something fills them.
struct Reservation<'a> {
    store: &'a MemoryStore,
    bytes: u64,
}

impl Reservation<'_> {
    fn take(&mut self, bytes: u64) -> Result<(), ArtifactError> {
        self.store.lock().reserve(bytes, self.store.max_total)?;
        self.bytes += bytes;
        Ok(())
    }

    /// Keeps a version under the next number.
    fn fill(mut self, key: &ArtifactKey, version: Version) -> Result<VersionInfo, ArtifactError> {
        let mut held = self.store.lock();
        if !held.scopes.get(key.scope()).is_some_and(|names| names.contains_key(key.name())) {
            held.reserve(NAME_BYTES, self.store.max_total)?;
        }
        let names = held.scopes.entry(key.scope().clone()).or_default();
        let artifact = names.entry(key.name().to_owned()).or_default();
        let info = VersionInfo { version: artifact.next, ..version.info };
        artifact.versions.insert(artifact.next, Version { info: info.clone(), ..version });
        artifact.next += 1;
        self.bytes = 0;
        Ok(info)
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.store.lock().bytes -= self.bytes;
    }
}
