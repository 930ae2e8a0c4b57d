//! Settings of projects and of the machine that are not in force, with the reason.

use std::fmt;
use std::path::PathBuf;

use crate::error::ConfigError;
use crate::key::ProjectNarrowing;

/// A setting, or a file of settings, that is not in force.
#[derive(Debug)]
pub struct ConfigWarning {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The reason.
    pub kind: ConfigWarningKind,
}

/// The reason why a setting is not in force.
#[derive(Debug)]
pub enum ConfigWarningKind {
    /// The file of a project cannot be used.
    UnusedFile(ConfigError),
    /// The setting cannot be used.
    UnusedSetting {
        /// The reason.
        error: ConfigError,
        /// The word that holds instead, which allows least.
        instead: Option<&'static str>,
        /// Whose file it is.
        layer: NarrowingLayer,
    },
    /// The setting would widen what the person allowed.
    NotNarrower {
        /// The setting.
        name: String,
        /// What such a file may do with it.
        narrowing: ProjectNarrowing,
        /// Whose file it is.
        layer: NarrowingLayer,
    },
}

/// Whose file can only narrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NarrowingLayer {
    /// That of the machine.
    Machine,
    /// That of a project.
    Project,
}

impl fmt::Display for ConfigWarning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ConfigWarningKind::UnusedFile(error) => {
                let error = error.without_place();
                write!(formatter, "the project's configuration is not used: {error}")
            }
            ConfigWarningKind::UnusedSetting { error, instead, layer } => {
                let owner = match layer {
                    NarrowingLayer::Machine => "machine's file",
                    NarrowingLayer::Project => "project",
                };
                write!(formatter, "not taken from the {owner}: {}", error.without_place())?;
                instead.map_or(Ok(()), |word| write!(formatter, "; it is `{word}` instead"))
            }
            ConfigWarningKind::NotNarrower { name, narrowing, layer } => {
                let owner = match layer {
                    NarrowingLayer::Machine => "the machine's file",
                    NarrowingLayer::Project => "a project",
                };
                let may = match narrowing {
                    ProjectNarrowing::Off => "which may only switch it off",
                    ProjectNarrowing::Smaller => "which may only lower it",
                    ProjectNarrowing::Tighter => "which may only tighten it",
                    ProjectNarrowing::Never | ProjectNarrowing::Longer | ProjectNarrowing::Also => {
                        "which may not set it"
                    }
                };
                write!(formatter, "`{name}` is not taken from {owner}, {may}")
            }
        }
    }
}

impl ConfigWarning {
    /// The error of the setting or the file, if there is one.
    pub fn error(&self) -> Option<&ConfigError> {
        match &self.kind {
            ConfigWarningKind::UnusedFile(error)
            | ConfigWarningKind::UnusedSetting { error, .. } => Some(error),
            ConfigWarningKind::NotNarrower { .. } => None,
        }
    }
}
