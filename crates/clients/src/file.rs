//! The file of a client: where it is, and reading and writing it.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use metier_config::{FileReaders, replace_file, resolve_links};

use crate::client::{AgentClient, ClientHost, ClientScope};
use crate::error::ClientConfigError;

/// Larger files are no configuration.
const MAX_BYTES: u64 = 64 << 20;

/// A file as the client names it, and where it is if links lead elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFileLocation {
    /// The path that the client uses.
    pub path: PathBuf,
    /// The path without links.
    pub real_path: PathBuf,
}

impl fmt::Display for ClientFileLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, real_path) = (self.path.display(), self.real_path.display());
        if self.path == self.real_path {
            write!(formatter, "{path}")
        } else {
            write!(formatter, "{path} -> {real_path}")
        }
    }
}

/// The configuration file of a client, which need not be there yet.
#[derive(Clone, Debug)]
pub struct ClientFile {
    pub(crate) client: &'static AgentClient,
    pub(crate) scope: ClientScope,
    pub(crate) location: ClientFileLocation,
}

impl ClientFile {
    /// Finds the file of a client. That of a project is in the project: a link of it may not lead to files of the person.
    ///
    /// # Errors
    ///
    /// When the client has no such file, it leads out of the project, or its place cannot be known.
    pub fn locate(
        client: &'static AgentClient,
        scope: ClientScope,
        host: &ClientHost<'_>,
    ) -> Result<Self, ClientConfigError> {
        let path = client.config_path(scope, host).ok_or(match scope {
            ClientScope::Project => ClientConfigError::NoProjectFile { client: client.title },
            ClientScope::User => ClientConfigError::NoHome { client: client.title },
        })?;
        let real_path = resolve_links(&path)
            .map_err(|source| ClientConfigError::Write { path: path.clone(), source })?;
        let location = ClientFileLocation { path, real_path };
        let root = fs::canonicalize(host.project_root);
        let root = root.as_deref().unwrap_or(host.project_root);
        if scope == ClientScope::Project && !location.real_path.starts_with(root) {
            return Err(ClientConfigError::OutsideProject { location });
        }
        Ok(Self { client, scope, location })
    }

    /// Returns where the file is.
    #[must_use]
    pub fn location(&self) -> &ClientFileLocation {
        &self.location
    }

    pub(crate) fn read(&self) -> Result<Option<String>, ClientConfigError> {
        read_text(&self.location.real_path)
    }

    /// Replaces the file, or makes it. A new one of the person is theirs alone.
    pub(crate) fn write(&self, text: &str) -> Result<(), ClientConfigError> {
        let readers = match self.scope {
            ClientScope::User => FileReaders::Owner,
            ClientScope::Project => FileReaders::Everybody,
        };
        let path = &self.location.real_path;
        replace_file(path, text, readers)
            .map_err(|source| ClientConfigError::Write { path: path.clone(), source })
    }
}

/// Reads a file; `None` if it is not there.
pub(crate) fn read_text(file: &Path) -> Result<Option<String>, ClientConfigError> {
    let failed = |source| ClientConfigError::Read { path: file.to_owned(), source };
    let not_text = || ClientConfigError::NotText { path: file.to_owned() };
    let metadata = match fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err(not_text());
    }
    let bytes = fs::read(file).map_err(failed)?;
    String::from_utf8(bytes).map(Some).map_err(|_| not_text())
}
