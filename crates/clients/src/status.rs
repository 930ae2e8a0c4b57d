//! The files of all clients, and whether they have an entry.

use std::path::{Path, PathBuf};

use crate::client::{AGENT_CLIENTS, AgentClient, ClientHost, ClientScope};
use crate::file::read_text;
use crate::format::find;

/// A file of a client, and whether it has the entry that was asked for.
#[derive(Clone, Debug)]
pub struct ClientFileStatus {
    /// The client.
    pub client: &'static AgentClient,
    /// Whose configuration it is.
    pub scope: ClientScope,
    /// The file as the client names it.
    pub path: PathBuf,
    /// Whether the entry is there.
    pub state: EntryState,
}

/// Whether a file has an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryState {
    /// The entry is there.
    Present,
    /// The file has no such entry.
    Absent,
    /// There is no file.
    NoFile,
    /// The file cannot be read, or is not understood.
    Unreadable,
}

impl ClientFileStatus {
    /// Looks for the entry of a name in every file of every client.
    #[must_use]
    pub fn of_all(name: &str, host: &ClientHost<'_>) -> Vec<Self> {
        let both = [ClientScope::User, ClientScope::Project];
        let files = AGENT_CLIENTS.iter().flat_map(|client| both.map(|scope| (client, scope)));
        let rows = files.filter_map(|(client, scope)| {
            let path = client.config_path(scope, host)?;
            let state = EntryState::of(client, name, &path);
            Some(Self { client, scope, path, state })
        });
        rows.collect()
    }
}

impl EntryState {
    fn of(client: &AgentClient, name: &str, file: &Path) -> Self {
        let text = match read_text(file) {
            Ok(Some(text)) => text,
            Ok(None) => return Self::NoFile,
            Err(_) => return Self::Unreadable,
        };
        match client.format.read(&text) {
            Some(document) if find(&document, &client.entry_path(&document, name)).is_some() => {
                Self::Present
            }
            Some(_) => Self::Absent,
            None => Self::Unreadable,
        }
    }
}
