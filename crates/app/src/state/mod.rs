//! The state directory: where things are in it, and how they are written.

pub mod privacy;
pub mod replacement;

use std::io;
use std::path::PathBuf;

use metier_skill::files::{DigestCache, TokenCache};
use metier_skill::remote::RemoteStore;
use thiserror::Error;

use crate::app::App;
use crate::sources::roots::real;

/// A state directory, or a folder that the configuration names in its place, that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StateError {
    /// The state directory.
    #[error("the state directory `{}` cannot be used", folder.display())]
    Directory {
        /// The state directory.
        folder: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The folder of workspaces that the configuration names.
    #[error("`{}` cannot be used", folder.display())]
    WorkspaceFolder {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The folder of an agent.
    #[error("the agent's folder `{}` cannot be made", folder.display())]
    AgentFolder {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl App {
    /// Returns the folder of what only saves time.
    pub fn cache(&self) -> PathBuf {
        self.environment.state().join("cache")
    }

    /// Returns the folder of the tools that were installed for skills. Programs are shown it at this place, so it has
    /// no links on its way.
    pub fn tools(&self) -> PathBuf {
        real(self.environment.state()).join("tools")
    }

    /// Returns the file with the trusted projects and skills.
    pub fn trust_file(&self) -> PathBuf {
        self.environment.state().join("trust.json")
    }

    /// Returns the store of skills of servers; no skills are searched in it.
    pub fn remote_store(&self) -> RemoteStore {
        RemoteStore::new(self.environment.state().join("remote"))
    }

    /// Opens the digests of files that were read before.
    pub fn digests(&self) -> DigestCache {
        DigestCache::open(self.cache().join("digests"))
    }

    /// Opens the token counts of files that were read before.
    pub fn token_counts(&self) -> TokenCache {
        TokenCache::open(self.cache().join("tokens"))
    }

    /// Returns the error of a state directory that cannot be used.
    pub fn state_error(&self, source: io::Error) -> StateError {
        StateError::Directory { folder: self.environment.state().to_owned(), source }
    }
}
