//! What people allow.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// How much may run.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Nothing.
    Deny,
    /// What somebody allowed.
    #[default]
    Allowlist,
    /// Everything.
    Full,
}

/// When a person is asked.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Before everything.
    Always,
    /// Before what nobody allowed.
    #[default]
    OnMiss,
    /// Never; what nobody allowed is refused.
    Off,
}

/// Mode and asking together, as one place says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rules {
    /// How much may run.
    pub mode: Mode,
    /// When a person is asked.
    pub ask: Ask,
    /// What holds when a person should be asked and nobody can answer.
    pub fallback: Mode,
}

/// Everything that decides about commands of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How much may run, and when a person is asked.
    pub rules: Rules,
    /// Programs that people allowed.
    pub entries: Vec<Entry>,
    /// Exact commands that people allowed for good when they were asked.
    pub remembered: Vec<Remembered>,
    /// Names of programs that may be used as filters, within what the tables know to be harmless.
    pub safe_programs: Vec<String>,
    /// Folders whose programs are taken for what they are called.
    pub trusted_folders: Vec<PathBuf>,
    /// Programs that skills of this agent bring or need.
    pub skill_programs: Vec<SkillProgram>,
    /// Folders into which commands may write by redirection, with all links followed.
    pub writable: Vec<PathBuf>,
    /// Names of variables that a command may set for a program.
    pub variables: Vec<String>,
    /// Places that commands do not write unasked.
    pub protected: ProtectedPlaces,
}

/// Places that no entry and no remembered decision lets a command write. All paths are absolute; a place that is
/// reached by a link is there by both paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtectedPlaces {
    /// State and settings of the program that judges. Nobody is asked: what writes there is refused, except in
    /// a folder of [`Policy::writable`] that lies in one of them.
    pub own: Vec<PathBuf>,
    /// Folders of a session, which may lie in such a place. What is not in a folder of [`Policy::writable`] there is asked about.
    pub session: Vec<PathBuf>,
    /// Home directories, of which hidden files and folders are protected.
    pub homes: Vec<PathBuf>,
    /// Folders and archives in which skills are looked for.
    pub skills: Vec<PathBuf>,
    /// Folders in which programs are looked for.
    pub programs: Vec<PathBuf>,
}

/// A program that people allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What it is known by, for people and for counting.
    pub id: String,
    /// A bare name, or a path with `*`, `**` and `?`.
    pub pattern: String,
    /// The arguments that it covers.
    #[serde(default)]
    pub arguments: ArgumentRule,
    /// The folder it must run in, or below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
}

/// The arguments that an [`Entry`] covers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgumentRule {
    /// Those that the tables know to be harmless. They are none for a program in no table.
    #[default]
    Known,
    /// Those that match a regular expression: all of them together, written as for a shell.
    Like(String),
    /// Any, also those that make the program run others.
    Any,
}

/// An exact command that a person allowed for good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// What it is known by.
    pub id: String,
    /// The program, with all links followed.
    pub program: PathBuf,
    /// The digest of what was in the program, in hexadecimal.
    pub sha256: String,
    /// The program as it was written, and its arguments.
    pub words: Vec<String>,
    /// Where it ran, with all links followed.
    pub directory: PathBuf,
    /// Variables that were set for it.
    #[serde(default)]
    pub variables: Vec<(String, String)>,
}

/// A program that a skill brings or needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillProgram {
    /// Its bare name.
    pub name: String,
    /// Where it is, with all links followed.
    pub real: PathBuf,
    /// The skill.
    pub skill: String,
}

impl ArgumentRule {
    /// Returns the regular expression, if the rule is one.
    #[must_use]
    pub fn pattern(&self) -> Option<&str> {
        match self {
            Self::Like(pattern) => Some(pattern),
            Self::Known | Self::Any => None,
        }
    }
}

impl Rules {
    /// What is left when both must hold.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let mode = self.mode.min(other.mode);
        let fallback = self.fallback.min(other.fallback).min(mode);
        Self { mode, ask: self.ask.min(other.ask), fallback }
    }
}
