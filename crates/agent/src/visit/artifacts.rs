//! Artifacts of a visit: those of its session, and those that its user has in every session.

use std::borrow::Cow;

use metier_workspace::artifact::{
    ArtifactKey, ArtifactName, ArtifactRef, Listed, Owner, VersionInfo,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::io::AsyncReadExt;

use super::lookup::part;
use super::tools::name;
use super::{MAX_WHOLE_BYTES, Visit, VisitError};
use crate::tools::Answer;
use crate::tools::answer::arguments;
use crate::tools::read::{Content, Lines, Shelves, artifact, in_skills, numbered, of_workspace};
use crate::tools::{FileReadError, FileReadFault, ToolCallError, UnreadableAdvice};

/// How references to artifacts begin.
const ARTIFACT: &str = "artifact://";
/// How references to files of the workspace begin.
const WORKSPACE: &str = "workspace://";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    name: String,
    #[serde(default)]
    version: Option<u64>,
    #[serde(default)]
    start_line: Option<usize>,
    #[serde(default)]
    num_lines: Option<usize>,
}

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

    /// Returns a version of an artifact, or the newest, whole; without the values of keys, if it has any. `admit` is told its
    /// size before it is read, and says whether there is room for it.
    ///
    /// # Errors
    ///
    /// When it is not there, larger than [`MAX_WHOLE_BYTES`], not admitted, or cannot be read.
    pub async fn artifact(
        &self,
        name: &str,
        version: Option<u64>,
        admit: impl FnOnce(u64) -> bool,
    ) -> Result<ArtifactBytes, VisitError> {
        let key = ArtifactKey::new(&self.owner()?, name)?;
        let mut loaded = self.desk.visits.runner.artifacts.load(&key, version).await?;
        let size = loaded.info.size;
        if size > MAX_WHOLE_BYTES {
            return Err(VisitError::TooLarge { name: name.to_owned(), size });
        }
        if !admit(size) {
            return Err(VisitError::NoRoom { name: name.to_owned(), size });
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        let read = loaded.content.read_to_end(&mut bytes).await;
        read.map_err(|source| VisitError::Io { name: name.to_owned(), source })?;
        let masked = match self.desk.visits.runner.redactor.redact_bytes(&bytes) {
            Cow::Owned(masked) => Some(masked),
            Cow::Borrowed(_) => None,
        };
        Ok(ArtifactBytes { version: loaded.info, bytes: masked.unwrap_or(bytes) })
    }

    fn owner(&self) -> Result<Owner, VisitError> {
        Ok(Owner::of(&self.desk.key)?)
    }

    /// `artifact_read`.
    pub(super) async fn read_artifact(&self, given: &Value) -> Result<Answer, ToolCallError> {
        let ReadArguments { name, version, start_line, num_lines } =
            arguments(given, name::ARTIFACT)?;
        let unreadable =
            |source: FileReadFault| FileReadError { name: name.clone(), skill: None, source };
        let content = self.open(&name, version).await.map_err(unreadable)?;
        let lines = Lines { start: start_line, count: num_lines };
        let content = self.desk.visits.runner.redactor.reader(content);
        let read = self.apart(move |_| numbered(lines, Box::new(content))).await;
        let read =
            read.map_err(|problem| unreadable(problem.fault(UnreadableAdvice::ArtifactInput)))?;
        Ok(part("name", &name, read))
    }

    /// Opens an artifact, or a file of the workspace that a run referred to.
    async fn open(&self, name: &str, version: Option<u64>) -> Result<Content, FileReadFault> {
        let runner = &self.desk.visits.runner;
        let (workspaces, key) = (&runner.workspaces, &self.desk.key);
        if let Some(path) = name.strip_prefix(WORKSPACE) {
            if in_skills(path).is_some() {
                return Err(FileReadFault::OfSkill);
            }
            return of_workspace(&workspaces.workspace(key)?, path);
        }
        let (name, version) = meant(name, version)?;
        let (artifacts, redactor) = (&*runner.artifacts, &runner.redactor);
        let shelves = Shelves { workspaces, key, artifacts, redactor, host: None };
        artifact(&name, version, shelves).await
    }
}

/// Which artifact and version a name, or a reference, and a version mean.
fn meant(name: &str, version: Option<u64>) -> Result<(ArtifactName, Option<u64>), FileReadFault> {
    if !name.starts_with(ARTIFACT) {
        return Ok((ArtifactName::parse(name)?, version));
    }
    let reference = ArtifactRef::parse(name)?;
    match (reference.version(), version) {
        (Some(referred), Some(given)) if referred != given => {
            Err(FileReadFault::TwoVersions { referred, given })
        }
        (one, other) => Ok((reference.name().clone(), one.or(other))),
    }
}
