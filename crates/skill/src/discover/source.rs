//! Sources of skills, from the one that yields to the one that wins.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::name::SkillName;

/// Where a skill comes from. For one name the greater source wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Offered by another server.
    Remote,
    /// `skills.extra_dirs` and `SKILLS_ROOT`.
    Extra,
    /// A plugin's folder of skills.
    Plugin,
    /// Inside the binary.
    Bundled,
    /// The state directory.
    Managed,
    /// The person's own.
    User,
    /// The repository's.
    Project,
    /// The agent's workspace.
    Workspace,
    /// Named on the command line.
    Flag,
}

impl Source {
    /// The name people and programs see.
    pub fn label(self) -> &'static str {
        match self {
            Self::Remote => "remote",
            Self::Extra => "extra",
            Self::Plugin => "plugin",
            Self::Bundled => "bundled",
            Self::Managed => "managed",
            Self::User => "user",
            Self::Project => "project",
            Self::Workspace => "workspace",
            Self::Flag => "flag",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.label())
    }
}

/// A folder to search.
#[derive(Clone, Debug)]
pub struct Root {
    /// What it counts as.
    pub source: Source,
    /// The folder.
    pub path: PathBuf,
    /// The address of the archive that was unpacked there, if it was one.
    pub address: Option<String>,
    /// Where its links may lead.
    pub links: Links,
    /// What to say when it is not there.
    pub absence: Absence,
    /// The plugin it belongs to.
    pub plugin: Option<SkillName>,
    /// The project it belongs to, which must be trusted.
    pub project: Option<PathBuf>,
}

impl Root {
    /// A folder that a person named: its skills are trusted, its links may lead anywhere, and that it is missing
    /// is reported.
    pub fn named(path: PathBuf) -> Self {
        Self {
            source: Source::Managed,
            path,
            address: None,
            links: Links::Anywhere,
            absence: Absence::Reported,
            plugin: None,
            project: None,
        }
    }
}

/// Where symlinked folders of a root may lead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Links {
    /// Anywhere: the person put them there.
    Anywhere,
    /// Inside the root, or inside one of these folders.
    Inside {
        /// Folders outside the root that are fine too.
        also: Vec<PathBuf>,
    },
}

/// What a missing root means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// Nothing: most people do not have every root.
    Silent,
    /// A mistake: somebody named it.
    Reported,
}
