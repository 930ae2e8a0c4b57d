//! The sources of skills: folders, archives and servers, from configuration and choices.

pub mod archives;
pub mod places;
pub mod remote;
pub mod roots;

use std::path::PathBuf;

pub use roots::DEFAULT_AGENT;

/// The sources of skills that are used, beside those of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceSelection {
    /// Folders of skills that win over all others, relative to the working directory.
    pub skills_dirs: Vec<PathBuf>,
    /// Whether only `skills_dirs` and `mcp` are used.
    pub no_default_sources: bool,
    /// Servers whose skills are used: commands or addresses.
    pub mcp: Vec<String>,
    /// Whether the project's skills are used although they are not trusted.
    pub trust_project: bool,
    /// Names or globs of the skills that are used; all if empty.
    pub only: Vec<String>,
    /// Whether no skills are used.
    pub no_skills: bool,
    /// The agent whose folder and skills are used.
    pub agent: String,
}

impl SourceSelection {
    /// Returns the sources of the configuration, for the default agent.
    #[must_use]
    pub fn configured() -> Self {
        Self {
            skills_dirs: Vec::new(),
            no_default_sources: false,
            mcp: Vec::new(),
            trust_project: false,
            only: Vec::new(),
            no_skills: false,
            agent: DEFAULT_AGENT.to_owned(),
        }
    }
}
