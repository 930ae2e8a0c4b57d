//! Errors of finding, reading and changing the file of a client.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::file::ClientFileLocation;

/// The reason why the configuration of a client cannot be read or changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClientConfigError {
    /// A person has no configuration where there is no home directory.
    #[error("without a home directory there is no configuration of {client} for its user")]
    NoHome {
        /// The title of the client.
        client: &'static str,
    },
    /// The client keeps nothing in projects.
    #[error("{client} has no configuration for a project")]
    NoProjectFile {
        /// The title of the client.
        client: &'static str,
    },
    /// A link of the project leads to a file outside of it.
    #[error("`{}` leads out of the project, to `{}`", location.path.display(), location.real_path.display())]
    OutsideProject {
        /// The file, and where it leads.
        location: ClientFileLocation,
    },
    /// The file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is not a configuration: a folder, a device, too large, or not UTF-8.
    #[error("cannot read `{}`: it is no file of text", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The client would need the token itself in its file.
    #[error("{client} cannot be given a server that wants a token: {reason}")]
    TokenUnsupported {
        /// The title of the client.
        client: &'static str,
        /// The reason, as a clause about the client.
        reason: &'static str,
    },
    /// The file is not laid out in a way in which an entry can be added.
    #[error("`{location}` is not understood well enough to be changed, and was left as it is")]
    AdditionNotUnderstood {
        /// The file.
        location: ClientFileLocation,
    },
    /// The file is not laid out in a way in which the entry can be removed.
    #[error("`{location}` is not understood well enough to be changed, and was left as it is")]
    RemovalNotUnderstood {
        /// The file.
        location: ClientFileLocation,
        /// The name of the entry.
        name: String,
    },
    /// The file is no longer what the change was made for.
    #[error("`{location}` was changed by somebody else meanwhile")]
    Changed {
        /// The file.
        location: ClientFileLocation,
    },
}
