//! The reasons for which a file is not given by lines.

use std::io;

use metier_skill::files::TreeError;
use metier_workspace::artifact::ArtifactError;
use metier_workspace::path::PathError;
use thiserror::Error;
use tokio::task::JoinError;

use super::SkillUseError;

/// A file that cannot be read by lines.
#[derive(Debug, Error)]
#[error("{} cannot be read: {source}", shown(name, skill.as_deref()))]
pub struct FileReadError {
    /// The file, as the call names it.
    pub name: String,
    /// The skill that it is a file of, where the call names that apart.
    pub skill: Option<String>,
    /// The reason.
    pub source: FileReadFault,
}

/// The reason for which a file cannot be read by lines.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileReadFault {
    /// There is no such artifact, or it cannot be loaded.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The skill that it is a file of cannot be used.
    #[error(transparent)]
    Skill(#[from] SkillUseError),
    /// The files of the skill cannot be listed.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// Its path is none of the workspace, or none that a call may name.
    #[error(transparent)]
    Path(#[from] PathError),
    /// It cannot be opened or read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The program ended while it was read.
    #[error(transparent)]
    Ended(#[from] JoinError),
    /// The skill has no file of this path.
    #[error("`{skill}` has no such file")]
    NotInSkill {
        /// The skill.
        skill: String,
    },
    /// It is in no folder of this machine that may be read.
    #[error(
        "it is neither in your folder nor in one that may be read; `exec.host_inputs` has those"
    )]
    Outside,
    /// It is a folder, a device or something else.
    #[error("it is not a regular file")]
    NotRegular,
    /// It is a file of a skill, for which there is another tool.
    #[error("it is a file of a skill; use skill_read")]
    OfSkill,
    /// The call names two versions of an artifact.
    #[error("it is version {referred}, and `version` is {given}; give one of them")]
    TwoVersions {
        /// The version in the reference.
        referred: u64,
        /// The version beside it.
        given: u64,
    },
    /// It is not a text.
    #[error("it is not a text; {}", .0.where_not_text())]
    NotText(UnreadableAdvice),
    /// It is larger than is looked at.
    #[error("it has more than 64 MiB; {}", .0.where_too_large())]
    TooLarge(UnreadableAdvice),
}

/// The other way to a file that is not given by lines. It depends on the tools that there are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnreadableAdvice {
    /// A command can look into it.
    Command,
    /// A command of the skill can look into it, or the client reads it as a resource.
    SkillResource {
        /// The skill.
        skill: String,
        /// The path in it.
        path: String,
    },
    /// A command of a skill can be given the artifact, or the client reads it as a resource.
    ArtifactInput,
}

impl UnreadableAdvice {
    fn where_not_text(&self) -> String {
        match self {
            Self::Command => "use a command to look into it".to_owned(),
            Self::SkillResource { skill, path } => {
                format!("look into it with skill_run, or have the resource skill://{skill}/{path}")
            }
            Self::ArtifactInput => {
                "give it to skill_run as an input, or have the resource".to_owned()
            }
        }
    }

    fn where_too_large(&self) -> &'static str {
        match self {
            Self::Command => "use a command to look into it",
            Self::SkillResource { .. } => "use skill_run",
            Self::ArtifactInput => "give it to skill_run",
        }
    }
}

fn shown(name: &str, skill: Option<&str>) -> String {
    match skill {
        Some(skill) => format!("`{name}` of `{skill}`"),
        None => format!("`{name}`"),
    }
}
