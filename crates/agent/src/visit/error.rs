//! Why a file or an artifact is not given whole.

use std::io;

use metier_workspace::artifact::ArtifactError;
use thiserror::Error;

use crate::library::LibraryError;
use crate::tools::SkillUseError;

/// Why a file or an artifact is not given whole.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VisitError {
    /// There is no such skill, or it may not be used.
    #[error(transparent)]
    Skill(#[from] SkillUseError),
    /// The skill has no such file.
    #[error("`{skill}` has no file `{path}`")]
    NoFile {
        /// The skill.
        skill: String,
        /// The path.
        path: String,
    },
    /// There is more than is given whole.
    #[error(
        "`{name}` has {size} bytes, more than are given at once; use a command to look into it"
    )]
    TooLarge {
        /// The file or artifact.
        name: String,
        /// How many bytes it has.
        size: u64,
    },
    /// There is no room for it in memory now.
    #[error(
        "`{name}` has {size} bytes, for which there is no room now; read other answers first, or read it by lines"
    )]
    NoRoom {
        /// The file or artifact.
        name: String,
        /// How many bytes it has.
        size: u64,
    },
    /// A file is not what it was a moment ago.
    #[error("`{path}` of `{skill}` changed while it was read; read it again")]
    Changed {
        /// The skill.
        skill: String,
        /// The file.
        path: String,
    },
    /// The skill cannot be read.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// An artifact is not there or cannot be read.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// Something cannot be read.
    #[error("`{name}` cannot be read")]
    Io {
        /// What.
        name: String,
        /// Why.
        source: io::Error,
    },
}

impl VisitError {
    /// Whether what was asked for is not there, rather than out of reach for now.
    pub fn is_missing(&self) -> bool {
        let missing = |error: &ArtifactError| {
            matches!(
                error,
                ArtifactError::NotFound { .. }
                    | ArtifactError::NoVersion { .. }
                    | ArtifactError::Name { .. }
            )
        };
        match self {
            Self::Skill(_) | Self::NoFile { .. } => true,
            Self::Artifact(error) => missing(error),
            _ => false,
        }
    }
}
