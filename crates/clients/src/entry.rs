//! Entries for a server, as each client words them in its file.
//!
//! A token is never written, only the name of the variable that has it.

use serde_json::{Map, Value, json};

use crate::client::{AgentClient, ClientScope};
use crate::error::ClientConfigError;
use crate::file::ClientFile;

/// The members of an entry.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EntryShape {
    /// `command` and `args`, or an address under a name of the client's own.
    Plain { url: &'static str },
    /// The same, and `type`.
    Typed,
    /// A list of words, `local` or `remote`.
    WordList,
    /// An extension of goose.
    Extension,
}

/// The way to tell a client of the variable that has a token.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TokenReference {
    /// In the value of a header, between these.
    Header(&'static str, &'static str),
    /// The same, in the file of a project only.
    ProjectHeader(&'static str, &'static str),
    /// By a key for it.
    Key(&'static str),
    /// Not at all.
    Unsupported(&'static str),
}

/// The server that a client is told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstalledServer {
    /// A program that the client starts.
    Program {
        /// The program, by a path that means the same everywhere.
        command: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// A server at an address.
    Address {
        /// The address.
        url: String,
        /// The variable with the token that the server wants. The client has it, not this process.
        token_env: String,
    },
}

/// An entry for a server, in the words of one client.
#[derive(Clone, Debug)]
pub struct ServerEntry {
    pub(crate) name: String,
    pub(crate) value: Value,
    /// Keys of a former entry that mean nothing for this one, or something else.
    pub(crate) other_keys: &'static [&'static str],
}

/// Keys of entries for programs, and of those for addresses. `type` tells one from the other.
const OF_PROGRAMS: &[&str] = &[
    "type",
    "command",
    "args",
    "cmd",
    "env",
    "envs",
    "env_keys",
    "env_vars",
    "environment",
    "cwd",
];
const OF_ADDRESSES: &[&str] = &[
    "type",
    "url",
    "serverUrl",
    "httpUrl",
    "uri",
    "headers",
    "http_headers",
    "env_http_headers",
    "bearer_token_env_var",
];

impl InstalledServer {
    /// Returns the keys of a former entry that mean nothing for this server, or something else.
    fn other_keys(&self) -> &'static [&'static str] {
        match self {
            Self::Program { .. } => OF_ADDRESSES,
            Self::Address { .. } => OF_PROGRAMS,
        }
    }
}

impl ClientFile {
    /// Words the entry of a name for a server.
    ///
    /// # Errors
    ///
    /// When the client would need the token itself.
    pub fn entry(
        &self,
        name: &str,
        server: &InstalledServer,
    ) -> Result<ServerEntry, ClientConfigError> {
        let (client, other_keys) = (self.client, server.other_keys());
        match client.entry(name, server, self.scope) {
            Ok(value) => Ok(ServerEntry { name: name.to_owned(), value, other_keys }),
            Err(reason) => {
                Err(ClientConfigError::TokenUnsupported { client: client.title, reason })
            }
        }
    }
}

impl AgentClient {
    /// Returns the entry for a server, or the reason why this client cannot be told of it.
    fn entry(
        &self,
        name: &str,
        server: &InstalledServer,
        scope: ClientScope,
    ) -> Result<Value, &'static str> {
        match server {
            InstalledServer::Program { command, args } => Ok(self.program(name, command, args)),
            InstalledServer::Address { url, token_env } => {
                let mut entry = self.address(url);
                let (key, value) = match (self.token, scope) {
                    (TokenReference::Header(open, close), _)
                    | (TokenReference::ProjectHeader(open, close), ClientScope::Project) => {
                        let value = format!("Bearer {open}{token_env}{close}");
                        ("headers", json!({ "Authorization": value }))
                    }
                    (TokenReference::Key(key), _) => (key, json!(token_env)),
                    (TokenReference::ProjectHeader(..), ClientScope::User) => {
                        return Err("it puts variables into the file of a project only");
                    }
                    (TokenReference::Unsupported(reason), _) => return Err(reason),
                };
                entry.insert(key.to_owned(), value);
                Ok(Value::Object(entry))
            }
        }
    }

    fn program(&self, name: &str, command: &str, args: &[String]) -> Value {
        match self.shape {
            EntryShape::Plain { .. } => json!({ "command": command, "args": args }),
            EntryShape::Typed => json!({ "type": "stdio", "command": command, "args": args }),
            EntryShape::WordList => {
                let words: Vec<&str> =
                    [command].into_iter().chain(args.iter().map(String::as_str)).collect();
                json!({ "type": "local", "command": words })
            }
            EntryShape::Extension => json!({
                "enabled": true,
                "type": "stdio",
                "name": name,
                "description": "Agent Skills: search, read and run them",
                "cmd": command,
                "args": args,
                "timeout": 300,
            }),
        }
    }

    fn address(&self, url: &str) -> Map<String, Value> {
        let members = match self.shape {
            EntryShape::Plain { url: key } => vec![(key.to_owned(), json!(url))],
            EntryShape::Typed => {
                vec![("type".to_owned(), json!("http")), ("url".to_owned(), json!(url))]
            }
            EntryShape::WordList => {
                vec![("type".to_owned(), json!("remote")), ("url".to_owned(), json!(url))]
            }
            EntryShape::Extension => {
                let kind = json!("streamable_http");
                vec![("type".to_owned(), kind), ("uri".to_owned(), json!(url))]
            }
        };
        Map::from_iter(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::AGENT_CLIENTS;

    #[test]
    fn a_token_is_never_written_only_the_name_of_its_variable() {
        let server = InstalledServer::Address {
            url: "http://127.0.0.1:7777/mcp".into(),
            token_env: "TOKEN".into(),
        };
        let seen: Vec<String> = AGENT_CLIENTS
            .iter()
            .flat_map(|client| {
                [ClientScope::User, ClientScope::Project].map(|scope| (client, scope))
            })
            .filter(|(client, scope)| *scope == ClientScope::User || client.project.is_some())
            .map(|(client, scope)| {
                let entry = client.entry("metier", &server, scope);
                let entry =
                    entry.map_or_else(|reason| format!("no: {reason}"), |it| it.to_string());
                format!("{} {}: {entry}", client.id, scope.id())
            })
            .collect();
        insta::assert_snapshot!(seen.join("\n"), @r#"
        claude-code user: no: it puts variables into the file of a project only
        claude-code project: {"type":"http","url":"http://127.0.0.1:7777/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}
        claude-desktop user: no: its file takes programs only
        codex user: {"url":"http://127.0.0.1:7777/mcp","bearer_token_env_var":"TOKEN"}
        codex project: {"url":"http://127.0.0.1:7777/mcp","bearer_token_env_var":"TOKEN"}
        cursor user: {"url":"http://127.0.0.1:7777/mcp","headers":{"Authorization":"Bearer ${env:TOKEN}"}}
        cursor project: {"url":"http://127.0.0.1:7777/mcp","headers":{"Authorization":"Bearer ${env:TOKEN}"}}
        vscode user: no: it does not always put variables into headers
        vscode project: no: it does not always put variables into headers
        windsurf user: {"serverUrl":"http://127.0.0.1:7777/mcp","headers":{"Authorization":"Bearer ${env:TOKEN}"}}
        zed user: no: it puts no variables into headers
        gemini user: {"httpUrl":"http://127.0.0.1:7777/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}
        gemini project: {"httpUrl":"http://127.0.0.1:7777/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}}
        opencode user: {"type":"remote","url":"http://127.0.0.1:7777/mcp","headers":{"Authorization":"Bearer {env:TOKEN}"}}
        opencode project: {"type":"remote","url":"http://127.0.0.1:7777/mcp","headers":{"Authorization":"Bearer {env:TOKEN}"}}
        goose user: no: it is not known to put variables into headers
        "#);
    }
}
