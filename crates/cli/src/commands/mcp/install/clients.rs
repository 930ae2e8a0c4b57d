//! The clients that can be told of this server: where each keeps its configuration, and what it takes there.
//!
//! A row says what the client documents. Where a client can name a variable with a token, the row says how;
//! a client that would need the token itself in its file is not given a server that asks for one.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::entry::{Shape, Token};
use super::format::{Format, find};
use crate::args::{ClientName, Scope};
use crate::environment::Environment;

/// A client, and how it is configured.
#[derive(Debug)]
pub(super) struct Client {
    /// Its name here.
    pub name: ClientName,
    /// The name people know it by.
    pub title: &'static str,
    /// How its file is written.
    pub format: Format,
    base: Base,
    user: &'static str,
    /// The file of a project, from its root.
    pub project: Option<&'static str>,
    /// The objects that entries are in.
    path: &'static [&'static str],
    /// What an entry is.
    pub shape: Shape,
    /// How it is told of a token.
    pub token: Token,
}

/// Where the file of a person is looked for.
#[derive(Clone, Copy, Debug)]
enum Base {
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
pub(super) const CLIENTS: &[Client] = &[
    Client {
        name: ClientName::ClaudeCode,
        title: "Claude Code",
        format: Format::Json,
        base: Base::Named { variable: "CLAUDE_CONFIG_DIR", folder: "" },
        user: ".claude.json",
        project: Some(".mcp.json"),
        path: &["mcpServers"],
        shape: Shape::Typed,
        token: Token::ProjectHeader("${", "}"),
    },
    Client {
        name: ClientName::ClaudeDesktop,
        title: "Claude Desktop",
        format: Format::Json,
        base: Base::Applications,
        user: "Claude/claude_desktop_config.json",
        project: None,
        path: &["mcpServers"],
        shape: Shape::Plain { url: "url" },
        token: Token::No("its file takes programs only"),
    },
    Client {
        name: ClientName::Codex,
        title: "Codex",
        format: Format::Toml,
        base: Base::Named { variable: "CODEX_HOME", folder: ".codex" },
        user: "config.toml",
        project: Some(".codex/config.toml"),
        path: &["mcp_servers"],
        shape: Shape::Plain { url: "url" },
        token: Token::Key("bearer_token_env_var"),
    },
    Client {
        name: ClientName::Cursor,
        title: "Cursor",
        format: Format::Json,
        base: Base::Home,
        user: ".cursor/mcp.json",
        project: Some(".cursor/mcp.json"),
        path: &["mcpServers"],
        shape: Shape::Plain { url: "url" },
        token: Token::Header("${env:", "}"),
    },
    Client {
        name: ClientName::Vscode,
        title: "VS Code",
        format: Format::Json,
        base: Base::Applications,
        user: "Code/User/mcp.json",
        project: Some(".vscode/mcp.json"),
        path: &["servers"],
        shape: Shape::Typed,
        token: Token::No("it does not always put variables into headers"),
    },
    Client {
        name: ClientName::Windsurf,
        title: "Windsurf",
        format: Format::Json,
        base: Base::Home,
        user: ".codeium/windsurf/mcp_config.json",
        project: None,
        path: &["mcpServers"],
        shape: Shape::Plain { url: "serverUrl" },
        token: Token::Header("${env:", "}"),
    },
    Client {
        name: ClientName::Zed,
        title: "Zed",
        format: Format::Json,
        base: Base::ConfigExceptMac,
        user: "zed/settings.json",
        project: None,
        path: &["context_servers"],
        shape: Shape::Plain { url: "url" },
        token: Token::No("it puts no variables into headers"),
    },
    Client {
        name: ClientName::Gemini,
        title: "Gemini CLI",
        format: Format::Json,
        base: Base::Home,
        user: ".gemini/settings.json",
        project: Some(".gemini/settings.json"),
        path: &["mcpServers"],
        shape: Shape::Plain { url: "httpUrl" },
        token: Token::Header("${", "}"),
    },
    Client {
        name: ClientName::Opencode,
        title: "opencode",
        format: Format::Json,
        base: Base::Config,
        user: "opencode/opencode.json",
        project: Some("opencode.json"),
        path: &["mcp"],
        shape: Shape::Words,
        token: Token::Header("{env:", "}"),
    },
    Client {
        name: ClientName::Goose,
        title: "goose",
        format: Format::Yaml,
        base: Base::Config,
        user: "goose/config.yaml",
        project: None,
        path: &["extensions"],
        shape: Shape::Extension,
        token: Token::No("it is not known to put variables into headers"),
    },
];

impl Client {
    /// The client of a name.
    pub(super) fn of(name: ClientName) -> &'static Self {
        CLIENTS.iter().find(|it| it.name == name).expect("every name has a row")
    }

    /// The file for a scope; `None` if the client has none for it, or there is no home directory.
    pub(super) fn file(
        &self,
        scope: Scope,
        environment: &Environment,
        root: &Path,
    ) -> Option<PathBuf> {
        let file = match scope {
            Scope::Project => root.join(self.project?),
            Scope::User => self.base.folder(environment, std::env::consts::OS)?.join(self.user),
        };
        // The same file with comments, if the person has that.
        let commented = file.with_extension("jsonc");
        let is_commented = matches!(self.shape, Shape::Words) && commented.is_file();
        Some(if is_commented && !file.is_file() { commented } else { file })
    }

    /// Where an entry of a name goes in a document.
    pub(super) fn place<'a>(&'a self, document: &Value, name: &'a str) -> Vec<&'a str> {
        let mut path = self.path.to_vec();
        // Newer files of opencode have one level more; a server would have a type there.
        let below = find(document, &[self.path[0], "servers"]);
        if matches!(self.shape, Shape::Words) && below.is_some_and(|it| it.get("type").is_none()) {
            path.push("servers");
        }
        path.push(name);
        path
    }
}

impl Base {
    fn folder(self, environment: &Environment, os: &str) -> Option<PathBuf> {
        let home = environment.home.as_deref();
        let named = |variable: &str| environment.variable(variable).map(PathBuf::from);
        let config = || {
            let set = named("XDG_CONFIG_HOME").filter(|it| it.is_absolute());
            set.or_else(|| Some(home?.join(".config")))
        };
        match self {
            Self::Home => Some(home?.to_owned()),
            Self::Named { variable, folder } => {
                let set = named(variable).map(|it| environment.folder.join(it));
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
    for client in CLIENTS {
        let file = match client.base {
            Base::Home => format!("`~/{}`", client.user),
            Base::Named { variable, folder: "" } => {
                format!("`~/{}`, or in `{variable}`", client.user)
            }
            Base::Named { variable, folder } => {
                format!("`~/{folder}/{}`, or in `{variable}`", client.user)
            }
            _ => format!("`~/.config/{}`", client.user),
        };
        let file = match client.base {
            Base::Applications => {
                format!("{file}; on macOS in `~/Library/Application Support`")
            }
            _ => file,
        };
        let project = client.project.map_or("no".to_owned(), |it| format!("`{it}`"));
        let http = match client.token {
            Token::Header(..) | Token::Key(_) => "yes".to_owned(),
            Token::ProjectHeader(..) => "in a project".to_owned(),
            Token::No(reason) => format!("no: {reason}"),
        };
        let name = client.name.id();
        text += &format!("| {} | `{name}` | {file} | {project} | {http} |\n", client.title);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let variables =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Environment {
            home: Some("/home/ann".into()),
            folder: "/work".into(),
            variables: variables.collect(),
            machine_settings: "/nonexistent".into(),
        }
    }

    #[test]
    fn the_page_about_clients_has_this_table() {
        let page_file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mcp.md");
        let text = std::fs::read_to_string(page_file).expect("there is a page");
        assert!(text.contains(&page()), "docs/mcp.md must have:\n{}", page());
    }

    #[test]
    fn every_name_has_one_row() {
        let names: Vec<&str> = CLIENTS.iter().map(|it| it.name.id()).collect();
        let all = <ClientName as clap::ValueEnum>::value_variants();
        assert_eq!(names, all.iter().map(|it| it.id()).collect::<Vec<_>>());
    }

    #[test]
    fn files_are_where_the_system_and_variables_put_them() {
        let file = |name, os: &str, variables: &[(&str, &str)]| {
            let client = Client::of(name);
            let folder = client.base.folder(&environment(variables), os).expect("a home");
            folder.join(client.user).display().to_string()
        };
        let xdg = [("XDG_CONFIG_HOME", "/x")];
        let seen = [
            file(ClientName::Vscode, "macos", &xdg),
            file(ClientName::Vscode, "linux", &xdg),
            file(ClientName::Vscode, "linux", &[("XDG_CONFIG_HOME", "relative")]),
            file(ClientName::Zed, "macos", &xdg),
            file(ClientName::Zed, "linux", &xdg),
            file(ClientName::Goose, "macos", &xdg),
            file(ClientName::Codex, "linux", &[]),
            file(ClientName::Codex, "linux", &[("CODEX_HOME", "/c")]),
            file(ClientName::ClaudeCode, "linux", &[]),
            file(ClientName::ClaudeCode, "linux", &[("CLAUDE_CONFIG_DIR", "/d")]),
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
