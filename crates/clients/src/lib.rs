//! The configuration files of other agents, edited so that those agents find this server.
//!
//! A file belongs to another program and to a person: a change is a plan first ([`ClientEdit`], with old text, new text
//! and the difference), and everything else in the file stays as it is, byte for byte. A file that is not understood is
//! not touched; then there is the entry alone, to be pasted.
//!
//! The crate takes a home directory, folders and variables as values ([`ClientHost`]) and returns plans and errors. It
//! does not print, ask, or know how the server is started: that comes as an [`InstalledServer`].
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::path::Path;
//!
//! use metier_clients::{AgentClient, ClientFile, ClientHost, ClientScope, InstalledServer};
//!
//! let folder = tempfile::tempdir()?;
//! let host = ClientHost {
//!     home: Some(folder.path()),
//!     working_directory: folder.path(),
//!     project_root: folder.path(),
//!     variables: &BTreeMap::new(),
//! };
//! let client = AgentClient::find("cursor").expect("it is a client");
//! let file = ClientFile::locate(client, ClientScope::User, &host)?;
//! let server = InstalledServer::Program { command: "/bin/server".into(), args: vec![] };
//! let plan = file.plan_addition(&file.entry("mine", &server)?)?;
//! let edit = plan.into_edit()?.expect("the entry is not there yet");
//! assert_eq!(edit.diff().hunks[0].added[0], "    \"mine\": {");
//! edit.apply()?;
//! assert!(file.plan_removal("mine")?.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blanked_json;
mod client;
mod diff;
mod edit;
mod entry;
mod error;
mod file;
mod format;
mod json;
mod status;
#[cfg(test)]
mod tests;
mod toml;
mod yaml;

pub use client::{AGENT_CLIENTS, AgentClient, ClientHost, ClientScope};
pub use diff::{EntryDiff, EntryHunk};
pub use edit::{AdditionPlan, ClientEdit};
pub use entry::{InstalledServer, ServerEntry};
pub use error::ClientConfigError;
pub use file::{ClientFile, ClientFileLocation};
pub use status::{ClientFileStatus, EntryState};
