//! The table of clients: the files in which each keeps its configuration, and the entries that it takes.
//!
//! A row says what the client documents. Where a client can name a variable with a token, the row says how;
//! a client that would need the token itself in its file is not given a server that asks for one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::entry::{EntryShape, TokenReference};
use crate::format::{DocumentFormat, find};

/// An agent that uses servers of the Model Context Protocol, and how it is configured.
#[derive(Debug)]
pub struct AgentClient {
    /// Its name in lists and commands, such as `claude-code`.
    pub id: &'static str,
    /// The name people know it by.
    pub title: &'static str,
    /// The format of its file.
    pub(crate) format: DocumentFormat,
    base: UserConfigBase,
    user: &'static str,
    /// The file of a project, from its root.
    pub(crate) project: Option<&'static str>,
    /// The objects that entries are in.
    path: &'static [&'static str],
    /// The members of its entries.
    pub(crate) shape: EntryShape,
    /// The way to tell it of a token.
    pub(crate) token: TokenReference,
}

/// The owner of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientScope {
    /// The person, in all projects.
    User,
    /// One project, for everybody who works in it.
    Project,
}

impl ClientScope {
    /// Returns the name in lists and commands.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// The facts about a person and a machine that decide where clients keep their files.
#[derive(Clone, Copy, Debug)]
pub struct ClientHost<'a> {
    /// The home directory, if there is one.
    pub home: Option<&'a Path>,
    /// The folder at which relative paths in variables start.
    pub working_directory: &'a Path,
    /// The root of the project that [`ClientScope::Project`] means.
    pub project_root: &'a Path,
    /// The variables of the environment. Some clients have one that names the folder of their file.
    pub variables: &'a BTreeMap<String, String>,
}

impl ClientHost<'_> {
    /// Returns a path in a variable that is set to something.
    fn path_in(&self, variable: &str) -> Option<PathBuf> {
        let value = self.variables.get(variable).filter(|value| !value.trim().is_empty());
        value.map(PathBuf::from)
    }
}

/// The folder at which the path of a person's file starts.
#[derive(Clone, Copy, Debug)]
enum UserConfigBase {
    /// The home directory.
    Home,
    /// A folder that a variable may name, else one in the home directory.
    Named { variable: &'static str, folder: &'static str },
    /// `XDG_CONFIG_HOME`, else `~/.config`.
    Config,
    /// The same, but on macOS always `~/.config`.
    ConfigExceptMac,
    /// The same, but on macOS `~/Library/Application Support`.
    Applications,
}

/// All clients.
pub const AGENT_CLIENTS: &[AgentClient] = &[
    AgentClient {
        id: "claude-code",
        title: "Claude Code",
        format: DocumentFormat::Json,
        base: UserConfigBase::Named { variable: "CLAUDE_CONFIG_DIR", folder: "" },
        user: ".claude.json",
        project: Some(".mcp.json"),
        path: &["mcpServers"],
        shape: EntryShape::Typed,
        token: TokenReference::ProjectHeader("${", "}"),
    },
    AgentClient {
        id: "claude-desktop",
        title: "Claude Desktop",
        format: DocumentFormat::Json,
        base: UserConfigBase::Applications,
        user: "Claude/claude_desktop_config.json",
        project: None,
        path: &["mcpServers"],
        shape: EntryShape::Plain { url: "url" },
        token: TokenReference::Unsupported("its file takes programs only"),
    },
    AgentClient {
        id: "codex",
        title: "Codex",
        format: DocumentFormat::Toml,
        base: UserConfigBase::Named { variable: "CODEX_HOME", folder: ".codex" },
        user: "config.toml",
        project: Some(".codex/config.toml"),
        path: &["mcp_servers"],
        shape: EntryShape::Plain { url: "url" },
        token: TokenReference::Key("bearer_token_env_var"),
    },
    AgentClient {
        id: "cursor",
        title: "Cursor",
        format: DocumentFormat::Json,
        base: UserConfigBase::Home,
        user: ".cursor/mcp.json",
        project: Some(".cursor/mcp.json"),
        path: &["mcpServers"],
        shape: EntryShape::Plain { url: "url" },
        token: TokenReference::Header("${env:", "}"),
    },
    AgentClient {
        id: "vscode",
        title: "VS Code",
        format: DocumentFormat::Json,
        base: UserConfigBase::Applications,
        user: "Code/User/mcp.json",
        project: Some(".vscode/mcp.json"),
        path: &["servers"],
        shape: EntryShape::Typed,
        token: TokenReference::Unsupported("it does not always put variables into headers"),
    },
    AgentClient {
        id: "windsurf",
        title: "Windsurf",
        format: DocumentFormat::Json,
        base: UserConfigBase::Home,
        user: ".codeium/windsurf/mcp_config.json",
        project: None,
        path: &["mcpServers"],
        shape: EntryShape::Plain { url: "serverUrl" },
        token: TokenReference::Header("${env:", "}"),
    },
    AgentClient {
        id: "zed",
        title: "Zed",
        format: DocumentFormat::Json,
        base: UserConfigBase::ConfigExceptMac,
        user: "zed/settings.json",
        project: None,
        path: &["context_servers"],
        shape: EntryShape::Plain { url: "url" },
        token: TokenReference::Unsupported("it puts no variables into headers"),
    },
    AgentClient {
        id: "gemini",
        title: "Gemini CLI",
        format: DocumentFormat::Json,
        base: UserConfigBase::Home,
        user: ".gemini/settings.json",
        project: Some(".gemini/settings.json"),
        path: &["mcpServers"],
        shape: EntryShape::Plain { url: "httpUrl" },
        token: TokenReference::Header("${", "}"),
    },
    AgentClient {
        id: "opencode",
        title: "opencode",
        format: DocumentFormat::Json,
        base: UserConfigBase::Config,
        user: "opencode/opencode.json",
        project: Some("opencode.json"),
        path: &["mcp"],
        shape: EntryShape::WordList,
        token: TokenReference::Header("{env:", "}"),
    },
    AgentClient {
        id: "goose",
        title: "goose",
        format: DocumentFormat::Yaml,
        base: UserConfigBase::Config,
        user: "goose/config.yaml",
        project: None,
        path: &["extensions"],
        shape: EntryShape::Extension,
        token: TokenReference::Unsupported("it is not known to put variables into headers"),
    },
];

impl AgentClient {
    /// Finds the client of an id.
    #[must_use]
    pub fn find(id: &str) -> Option<&'static Self> {
        AGENT_CLIENTS.iter().find(|it| it.id == id)
    }

    /// Returns the file for a scope; `None` if the client has none for it, or there is no home directory.
    #[must_use]
    pub fn config_path(&self, scope: ClientScope, host: &ClientHost<'_>) -> Option<PathBuf> {
        let file = match scope {
            ClientScope::Project => host.project_root.join(self.project?),
            ClientScope::User => self.base.folder(host, std::env::consts::OS)?.join(self.user),
        };
        // The same file with comments, if the person has that.
        let commented = file.with_extension("jsonc");
        let is_commented = matches!(self.shape, EntryShape::WordList) && commented.is_file();
        Some(if is_commented && !file.is_file() { commented } else { file })
    }

    /// Returns the keys that lead to the entry of a name in a document.
    pub(crate) fn entry_path<'a>(&'a self, document: &Value, name: &'a str) -> Vec<&'a str> {
        let mut path = self.path.to_vec();
        // Newer files of opencode have one level more; a server would have a type there.
        let below = find(document, &[self.path[0], "servers"]);
        if matches!(self.shape, EntryShape::WordList)
            && below.is_some_and(|it| it.get("type").is_none())
        {
            path.push("servers");
        }
        path.push(name);
        path
    }
}

impl UserConfigBase {
    fn folder(self, host: &ClientHost<'_>, os: &str) -> Option<PathBuf> {
        let home = host.home;
        let config = || {
            let set = host.path_in("XDG_CONFIG_HOME").filter(|it| it.is_absolute());
            set.or_else(|| Some(home?.join(".config")))
        };
        match self {
            Self::Home => Some(home?.to_owned()),
            Self::Named { variable, folder } => {
                let set = host.path_in(variable).map(|it| host.working_directory.join(it));
                set.or_else(|| Some(home?.join(folder)))
            }
            Self::ConfigExceptMac if os == "macos" => Some(home?.join(".config")),
            Self::Applications if os == "macos" => Some(home?.join("Library/Application Support")),
            Self::Config | Self::ConfigExceptMac | Self::Applications => config(),
        }
    }
}

/// The clients as a table of Markdown, for the page about them.
#[cfg(test)]
fn page() -> String {
    let mut text =
        String::from("| Client | `metier mcp install …` | File | In a project | With `--http` |\n");
    text += "|---|---|---|---|---|\n";
    for client in AGENT_CLIENTS {
        let file = match client.base {
            UserConfigBase::Home => format!("`~/{}`", client.user),
            UserConfigBase::Named { variable, folder: "" } => {
                format!("`~/{}`, or in `{variable}`", client.user)
            }
            UserConfigBase::Named { variable, folder } => {
                format!("`~/{folder}/{}`, or in `{variable}`", client.user)
            }
            _ => format!("`~/.config/{}`", client.user),
        };
        let file = match client.base {
            UserConfigBase::Applications => {
                format!("{file}; on macOS in `~/Library/Application Support`")
            }
            _ => file,
        };
        let project = client.project.map_or("no".to_owned(), |it| format!("`{it}`"));
        let http = match client.token {
            TokenReference::Header(..) | TokenReference::Key(_) => "yes".to_owned(),
            TokenReference::ProjectHeader(..) => "in a project".to_owned(),
            TokenReference::Unsupported(reason) => format!("no: {reason}"),
        };
        let id = client.id;
        text += &format!("| {} | `{id}` | {file} | {project} | {http} |\n", client.title);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_about_clients_has_this_table() {
        let page_file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mcp.md");
        let text = std::fs::read_to_string(page_file).expect("there is a page");
        assert!(text.contains(&page()), "docs/mcp.md must have:\n{}", page());
    }

    #[test]
    fn every_client_is_found_by_its_id() {
        for client in AGENT_CLIENTS {
            assert_eq!(AgentClient::find(client.id).map(|it| it.title), Some(client.title));
        }
        assert!(AgentClient::find("emacs").is_none());
    }

    #[test]
    fn files_are_where_the_system_and_variables_put_them() {
        let file = |id, os: &str, variables: &[(&str, &str)]| {
            let variables =
                variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            let host = ClientHost {
                home: Some(Path::new("/home/ann")),
                working_directory: Path::new("/work"),
                project_root: Path::new("/work"),
                variables: &variables.collect(),
            };
            let client = AgentClient::find(id).expect("it is a client");
            let folder = client.base.folder(&host, os).expect("a home");
            folder.join(client.user).display().to_string()
        };
        let xdg = [("XDG_CONFIG_HOME", "/x")];
        let seen = [
            file("vscode", "macos", &xdg),
            file("vscode", "linux", &xdg),
            file("vscode", "linux", &[("XDG_CONFIG_HOME", "relative")]),
            file("zed", "macos", &xdg),
            file("zed", "linux", &xdg),
            file("goose", "macos", &xdg),
            file("codex", "linux", &[]),
            file("codex", "linux", &[("CODEX_HOME", "/c")]),
            file("claude-code", "linux", &[]),
            file("claude-code", "linux", &[("CLAUDE_CONFIG_DIR", "/d")]),
        ];
        insta::assert_snapshot!(seen.join("\n"), @"
        /home/ann/Library/Application Support/Code/User/mcp.json
        /x/Code/User/mcp.json
        /home/ann/.config/Code/User/mcp.json
        /home/ann/.config/zed/settings.json
        /x/zed/settings.json
        /x/goose/config.yaml
        /home/ann/.codex/config.toml
        /c/config.toml
        /home/ann/.claude.json
        /d/.claude.json
        ");
    }
}
