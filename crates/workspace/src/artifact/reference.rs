//! Artifacts as they are written in commands and conversations: `artifact://name[@version]`.

use std::fmt;

use super::error::shown;
use super::{ArtifactError, ArtifactKey, ArtifactName, Owner};

const SCHEME: &str = "artifact://";

/// A name, and a version unless the newest is meant.
///
/// The last `@` is followed by the version if digits and nothing else come after it, so `icon@2x.png`
/// is a name. A name that itself ends like a version, `notes@7`, can only be referred to with a
/// version: `artifact://notes@7@0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArtifactRef {
    name: ArtifactName,
    version: Option<u64>,
}

impl ArtifactRef {
    /// Refers to one version.
    pub fn to_version(name: ArtifactName, version: u64) -> Self {
        Self { name, version: Some(version) }
    }

    /// Refers to whatever is the newest version.
    ///
    /// # Errors
    ///
    /// When the name ends like a version.
    pub fn to_newest(name: ArtifactName) -> Result<Self, ArtifactError> {
        match split_version(name.as_str()) {
            (_, None) => Ok(Self { name, version: None }),
            _ => Err(wrong(name.as_str(), "its name ends like a version, so add the version")),
        }
    }

    /// Reads a reference.
    ///
    /// # Errors
    ///
    /// With what is wrong with the text or with the name in it.
    pub fn parse(text: &str) -> Result<Self, ArtifactError> {
        let rest = text.strip_prefix(SCHEME);
        let rest = rest.ok_or_else(|| wrong(text, "it does not begin with `artifact://`"))?;
        let (name, digits) = split_version(rest);
        let version = digits.map(str::parse).transpose();
        let version = version.map_err(|_| wrong(text, "no version is that large"))?;
        Ok(Self { name: ArtifactName::parse(name)?, version })
    }

    /// The name.
    pub fn name(&self) -> &ArtifactName {
        &self.name
    }

    /// The version, unless the newest is meant.
    pub fn version(&self) -> Option<u64> {
        self.version
    }

    /// The artifact that is meant when this owner says so.
    pub fn key(&self, owner: &Owner) -> ArtifactKey {
        ArtifactKey::of(owner, self.name.clone())
    }
}

impl fmt::Display for ArtifactRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{SCHEME}{}", self.name)?;
        self.version.map_or(Ok(()), |version| write!(formatter, "@{version}"))
    }
}

/// Takes the digits of a version off the end.
fn split_version(text: &str) -> (&str, Option<&str>) {
    let is_version =
        |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match text.rsplit_once('@') {
        Some((name, digits)) if is_version(digits) => (name, Some(digits)),
        _ => (text, None),
    }
}

fn wrong(text: &str, rule: &'static str) -> ArtifactError {
    ArtifactError::Reference { text: shown(text), rule }
}
