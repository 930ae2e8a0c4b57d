//! Artifacts of a visit: those of its session, and those that its user has in every session.

use metier_workspace::SessionKey;
use metier_workspace::artifact::{ArtifactKey, Listed, Owner, VersionInfo};
use tokio::io::AsyncReadExt;

use super::{MAX_WHOLE_BYTES, Visit, VisitError};

/// A version of an artifact with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactBytes {
    /// Which version it is.
    pub version: VersionInfo,
    /// All of its bytes.
    pub bytes: Vec<u8>,
}

impl Visit {
    /// All artifacts, by name; those of the session come first.
    ///
    /// # Errors
    ///
    /// When they cannot be listed.
    pub async fn artifacts(&self) -> Result<Vec<Listed>, VisitError> {
        let (store, owner) = (&self.desk.visits.runner.artifacts, self.owner()?);
        let mut listed = store.list(&owner.session_scope()).await?;
        listed.extend(store.list(&owner.user_scope()).await?);
        Ok(listed)
    }

    /// The versions of an artifact that are there, ascending; none if there is no such artifact.
    ///
    /// # Errors
    ///
    /// When the name cannot be one, or they cannot be listed.
    pub async fn artifact_versions(&self, name: &str) -> Result<Vec<VersionInfo>, VisitError> {
        let key = ArtifactKey::new(&self.owner()?, name)?;
        Ok(self.desk.visits.runner.artifacts.versions(&key).await?)
    }

    /// A version of an artifact, or the newest, whole.
    ///
    /// # Errors
    ///
    /// When it is not there, larger than [`MAX_WHOLE_BYTES`], or cannot be read.
    pub async fn artifact(
        &self,
        name: &str,
        version: Option<u64>,
    ) -> Result<ArtifactBytes, VisitError> {
        let key = ArtifactKey::new(&self.owner()?, name)?;
        let mut loaded = self.desk.visits.runner.artifacts.load(&key, version).await?;
        let size = loaded.info.size;
        if size > MAX_WHOLE_BYTES {
            return Err(VisitError::TooLarge { name: name.to_owned(), size });
        }
        let mut bytes = Vec::new();
        let read = loaded.content.read_to_end(&mut bytes).await;
        read.map_err(|source| VisitError::Io { name: name.to_owned(), source })?;
        Ok(ArtifactBytes { version: loaded.info, bytes })
    }

    fn owner(&self) -> Result<Owner, VisitError> {
        let SessionKey { app, user, session, .. } = &self.desk.key;
        Ok(Owner::new(app, user, session)?)
    }
}
