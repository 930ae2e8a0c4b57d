//! What a person can do about a skill or a problem, as data.
//!
//! How advice is given depends on where it is given: a command line names a command or a setting, a page shows
//! a button. So the library says what is to be done, and each front end words it. The words of [`SkillAdvice`]
//! itself name no front end; they are for models and for programs that use the crate.

use std::fmt::{self, Display};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::discover::Source;
use crate::header::{InstallKind, RefusedOption};
use crate::library::EntryRefusal;
use crate::name::SkillName;

/// A step that removes a problem, or what keeps a skill from being used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SkillAdvice {
    /// Switch skills on.
    EnableSkills,
    /// Enable one skill.
    EnableSkill {
        /// Its key in the configuration.
        key: String,
    },
    /// Take a pattern out of the denied skills.
    RemoveDeniedPattern {
        /// The pattern.
        pattern: String,
    },
    /// Add the skill to a list of allowed skills.
    AllowSkill {
        /// The skill.
        skill: SkillName,
        /// The list, as the front end called it.
        list: String,
    },
    /// Trust the project after a look at its files.
    TrustProject,
    /// Trust a project's skill again after a look at what changed.
    TrustChanges,
    /// Trust a skill of another server after reading it.
    TrustRemoteSkill {
        /// The skill.
        skill: SkillName,
    },
    /// Trust a skill of another server again after a look at what changed.
    TrustRemoteChanges {
        /// The skill.
        skill: SkillName,
    },
    /// Trust those of the skills of another server that are wanted.
    TrustOfferedSkills {
        /// The server.
        server: SkillName,
    },
    /// Correct the header of a skill.
    CorrectHeader {
        /// The folder of the skill; none if only its author has it.
        folder: Option<PathBuf>,
    },
    /// Set a variable.
    SetVariable {
        /// The variable.
        variable: String,
        /// Where the configuration can hold its value for this skill alone.
        entry: Option<EntryVariable>,
    },
    /// Set a setting that the skill requires.
    SetSetting {
        /// Its dotted name.
        key: String,
    },
    /// Describe another server in the configuration, or find out why it is not used.
    DescribeServer {
        /// The server.
        server: String,
    },
    /// Let a tool of another server be used.
    AllowTool {
        /// The server.
        server: String,
    },
    /// Install programs.
    InstallPrograms {
        /// The skill that needs them.
        skill: SkillName,
        /// The programs; one of them is enough.
        programs: Vec<String>,
        /// The skill's own ways to install one of them.
        sources: Vec<ProgramSource>,
        /// Ways that the skill names and that are not offered.
        refused: Vec<RefusedOption>,
        /// Whether they have to be where all users find them, since runs do not see the person's own folders.
        is_for_system: bool,
    },
    /// Move a skill into its root, or allow the place that its link leads to.
    AllowLinkTarget,
    /// Move skills into their project, or allow the place that the link of their folder leads to.
    AllowFolderLinkTarget,
    /// Change the entry of the configuration that a skill does not get, or the name of the skill.
    CorrectEntry {
        /// The key of the entry.
        key: String,
        /// Why the skill does not get it.
        refusal: EntryRefusal,
    },
}

/// The place in the configuration of a variable's value for one skill.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EntryVariable {
    /// The key of the skill's entry.
    pub key: String,
    /// Whether the variable is the skill's main key, for which an entry has a field of its own.
    pub is_primary: bool,
    /// The source that the entry must name to be this skill's.
    pub source: Option<Source>,
}

/// A package that brings a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProgramSource {
    /// The package manager.
    pub kind: InstallKind,
    /// The package.
    pub target: String,
}

impl Display for ProgramSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} `{}`", self.kind.as_str(), self.target)
    }
}

impl Display for SkillAdvice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EnableSkills => formatter.write_str("switch skills on"),
            Self::EnableSkill { key } => write!(formatter, "enable `{key}`"),
            Self::RemoveDeniedPattern { pattern } => {
                write!(formatter, "take `{pattern}` out of the denied skills")
            }
            Self::AllowSkill { skill, list } => write!(formatter, "add `{skill}` to {list}"),
            Self::TrustProject => formatter.write_str("look at its files, then trust the project"),
            Self::TrustChanges | Self::TrustRemoteChanges { .. } => {
                formatter.write_str("look at the changes, then trust it again")
            }
            Self::TrustRemoteSkill { skill } => {
                write!(formatter, "read `skill://{skill}/SKILL.md`, then trust it")
            }
            Self::TrustOfferedSkills { server } => {
                write!(formatter, "read the skills of `{server}`, then trust those that are wanted")
            }
            Self::CorrectHeader { folder: Some(folder) } => {
                write!(formatter, "correct the header in {}", folder.display())
            }
            Self::CorrectHeader { folder: None } => {
                formatter.write_str("ask its author to correct its header")
            }
            Self::SetVariable { variable, entry: None } => write!(formatter, "set {variable}"),
            Self::SetVariable { variable, entry: Some(EntryVariable { key, source, .. }) } => {
                write!(formatter, "set {variable}, or give it to `{key}` in the configuration")?;
                source.map_or(Ok(()), |it| write!(formatter, " with `source = \"{it}\"`"))
            }
            Self::SetSetting { key } => write!(formatter, "set `{key}`"),
            Self::DescribeServer { server } => {
                write!(formatter, "describe the server `{server}` in the configuration")
            }
            Self::AllowTool { server } => {
                write!(formatter, "look at which tools of `{server}` the configuration offers")
            }
            Self::InstallPrograms { programs, sources, refused, is_for_system, .. } => {
                write!(formatter, "install {}", programs.join(" or "))?;
                for (at, source) in sources.iter().enumerate() {
                    let before = if at == 0 { ", for example with" } else { " or" };
                    write!(formatter, "{before} {source}")?;
                }
                for RefusedOption { id, reason } in refused {
                    write!(formatter, "; the install option `{id}` is refused: {reason}")?;
                }
                formatter.write_str(if *is_for_system { ", for all users" } else { "" })
            }
            Self::AllowFolderLinkTarget => formatter
                .write_str("move the skills into the project, or allow the target of the link"),
            Self::AllowLinkTarget => {
                formatter.write_str("move the skill into the root, or allow the target of the link")
            }
            Self::CorrectEntry { refusal, .. } => match refusal {
                EntryRefusal::SourceNotNamed(source) => write!(
                    formatter,
                    "if this skill should have it, add `source = \"{source}\"` to the entry"
                ),
                EntryRefusal::OtherSource(_) => {
                    formatter.write_str("give the skill a name of its own")
                }
                EntryRefusal::DottedKey => {
                    formatter.write_str("give the skill a name without dots")
                }
            },
        }
    }
}
