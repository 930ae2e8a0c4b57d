//! Servers of others, as the settings describe them.
//!
//! A server is a program or an address that the person chose: a project can take away from it, and adds none. The
//! program gets a small environment and what `env` says, never the variables that metier was started with, because
//! keys of providers are among them.

mod tools;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use metier_agent::foreign::{AllowedTools, ToolPolicy, is_like};
use metier_config::{McpServerConfig, SecretMap, SettingOrigin, check_mcp_server_name};
use metier_mcp::{McpServerAddress, McpTransport};
use metier_net::{Client, ClientOptions};
use metier_skill::files::Digest;
use thiserror::Error;

pub use tools::{ToolServer, ToolServerProblem, ToolServers};

use crate::app::App;
use crate::error::AppError;
use crate::reporter::Notice;

/// Variables that every program of a server is given, as they are here.
const PASSED: [&str; 11] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", CHAIN,
];
/// The prefix of names of tools of servers, where commands are named too.
pub const TOOL_PREFIX: &str = "mcp:";
/// The variable in which a program of a server finds the servers through which it was started.
const CHAIN: &str = "METIER_MCP_CHAIN";
/// The header that says who we are.
const AUTHORIZATION: &str = "Authorization";
/// How many characters of a digest are a link of it.
const LINK: usize = 16;
/// Seconds a call may take at most: a day.
const MAX_TIMEOUT: u64 = 24 * 60 * 60;

/// The servers there are.
#[derive(Clone, Debug, Default)]
pub struct McpServers {
    /// Those that can be used, in the order of their names.
    pub servers: Vec<McpServer>,
    /// Those that cannot, and why.
    pub faults: Vec<McpServerFault>,
}

/// A server of the settings.
#[derive(Clone, Debug)]
pub struct McpServer {
    /// What it is called, and the way to it.
    pub peer: McpServerAddress,
    /// Whether the agent may use its tools.
    pub has_tools: bool,
    /// Whether its skills are used.
    pub has_skills: bool,
    /// How long a call may take.
    pub timeout: Duration,
}

/// A server that cannot be used as it is described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServerFault {
    /// The name of the server.
    pub name: String,
    /// The fault in its description.
    pub fault: McpServerSettingFault,
    /// Whether its skills would be used.
    pub has_skills: bool,
}

/// A fault in the description of a server.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum McpServerSettingFault {
    /// A field is set that is for the other kind of server.
    #[error("`{field}` is of no use to {kind}; take it out")]
    UselessField {
        /// The field.
        field: &'static str,
        /// The kind of server.
        kind: McpServerKind,
    },
    /// There is no way to reach it.
    #[error("neither `command` nor `url` is set; set one of them")]
    NoTransport,
    /// There are two ways to reach it.
    #[error("it has a `command` and a `url`; one of them must go")]
    TwoTransports,
    /// The program is neither a name nor a whole path.
    #[error("`{program}` is no whole path; write one from `/` or `~/` on, or a name alone")]
    RelativeProgram {
        /// The program as it is written.
        program: String,
    },
    /// It would start itself.
    #[error("it is the server that this metier was started as")]
    Itself,
    /// The address is not one.
    #[error("`{url}` is no address; write it as `https://host/mcp`")]
    NoAddress {
        /// The address as it is written.
        url: String,
    },
    /// Two settings give the same header.
    #[error("it has `token_env` and the header `{AUTHORIZATION}`; one of them must go")]
    TwoTokens,
    /// A variable is named that is not set.
    #[error("`{field}` names the variable `{variable}`, which is not set; set it, or name another")]
    UnsetVariable {
        /// The field that names it.
        field: String,
        /// The variable.
        variable: String,
    },
    /// The time for a call is out of bounds.
    #[error("`timeout` is {seconds}; it is from 1 to {MAX_TIMEOUT} seconds")]
    Timeout {
        /// The time that is set.
        seconds: u64,
    },
    /// Its name cannot be the name of a source of skills.
    #[error("a server cannot be called so: {reason}")]
    Name {
        /// The rule that the name breaks.
        reason: String,
    },
}

/// A kind of server, by the setting that describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpServerKind {
    /// A program.
    Command,
    /// An address.
    Url,
}

impl fmt::Display for McpServerKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Command => "a `command`",
            Self::Url => "a `url`",
        })
    }
}

/// A tool of a server that is not named as `mcp:SERVER/TOOL`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` names no tool of a server")]
pub struct ToolNameError {
    /// The name as it was written.
    pub text: String,
}

/// Servers whose tools are used, with those that are not.
#[derive(Clone, Debug, Default)]
pub struct McpNames(BTreeMap<String, Vec<String>>);

impl McpNames {
    /// Whether there is a server, or a tool that is written as `server/tool` and not switched off. Whether its server
    /// has such a tool is not known before it is asked.
    pub fn has(&self, name: &str) -> bool {
        let (server, tool) = match name.split_once('/') {
            Some((server, tool)) => (server, Some(tool)),
            None => (name, None),
        };
        let is_denied =
            |denied: &Vec<String>, tool: &str| denied.iter().any(|it| is_like(tool, it));
        let denied = self.0.get(server);
        denied.is_some_and(|denied| tool.is_none_or(|tool| !is_denied(denied, tool)))
    }
}

impl App {
    /// The servers of the settings.
    pub fn mcp_servers(&self) -> McpServers {
        let mut found = McpServers::default();
        for (name, settings) in self.own_servers() {
            let (name, has_skills) = (name.to_owned(), *settings.skills);
            let transport = self.mcp_transport(&name, settings);
            match transport.and_then(|it| Ok((it, mcp_timeout(settings)?))) {
                Ok((transport, timeout)) => found.servers.push(McpServer {
                    has_tools: *settings.tools,
                    has_skills,
                    timeout,
                    peer: McpServerAddress { name, transport },
                }),
                Err(fault) => found.faults.push(McpServerFault { name, fault, has_skills }),
            }
        }
        found
    }

    /// Which servers and tools skills may ask for.
    pub fn mcp_names(&self) -> McpNames {
        let servers = self.mcp_servers().servers.into_iter().filter(|server| server.has_tools);
        let names = servers.map(|server| {
            let denied = self.denied_tools(&server.peer.name);
            (server.peer.name, denied)
        });
        McpNames(names.collect())
    }

    /// Tools of a server that no model is offered.
    fn denied_tools(&self, server: &str) -> Vec<String> {
        self.config
            .mcp_servers
            .get(server)
            .map(|settings| settings.deny.to_vec())
            .unwrap_or_default()
    }

    /// The servers of which the person's own file has something. What a project takes away from one that is not there
    /// makes none.
    fn own_servers(&self) -> impl Iterator<Item = (&str, &McpServerConfig)> {
        let own = self.environment.settings_file();
        let is_own = move |settings: &McpServerConfig| {
            let mut origins = settings.origins().into_iter();
            origins.any(|it| matches!(it, SettingOrigin::File { path, .. } if *path == own))
        };
        let servers = self.config.mcp_servers.iter();
        servers.filter(move |(_, it)| is_own(it)).map(|(name, it)| (name.as_str(), it))
    }

    fn mcp_transport(
        &self,
        name: &str,
        settings: &McpServerConfig,
    ) -> Result<McpTransport, McpServerSettingFault> {
        let has_command = settings.command.first().is_some_and(|it| !it.is_empty());
        // A setting for the other kind would do nothing, and somebody thinks that it holds.
        let refuse = |fields: &[(&'static str, bool)], kind: McpServerKind| {
            let mut set = fields.iter().filter(|(_, is_set)| *is_set);
            set.next().map_or(Ok(()), |&(field, _)| {
                Err(McpServerSettingFault::UselessField { field, kind })
            })
        };
        match (has_command, settings.url.as_deref()) {
            (true, None) => {
                let of_address = [
                    ("token_env", settings.token_env.is_some()),
                    ("headers", settings.headers.is_set()),
                ];
                refuse(&of_address, McpServerKind::Command)?;
                let words = settings.command.iter().chain(settings.args.iter());
                self.mcp_command(name, settings, words.cloned().collect())
            }
            (false, Some(url)) => {
                let of_command = [
                    ("args", !settings.args.is_empty()),
                    ("env", settings.env.is_set()),
                    ("cwd", settings.cwd.is_set()),
                ];
                refuse(&of_command, McpServerKind::Url)?;
                self.mcp_address(settings, url)
            }
            (false, None) => Err(McpServerSettingFault::NoTransport),
            (true, Some(_)) => Err(McpServerSettingFault::TwoTransports),
        }
    }

    fn mcp_command(
        &self,
        name: &str,
        settings: &McpServerConfig,
        mut arguments: Vec<String>,
    ) -> Result<McpTransport, McpServerSettingFault> {
        let program = self.environment.expand(&arguments[0], &PathBuf::new());
        if arguments[0].contains('/') && !program.is_absolute() {
            let program = arguments.swap_remove(0);
            return Err(McpServerSettingFault::RelativeProgram { program });
        }
        arguments[0] = program.to_string_lossy().into_owned();
        let mut given = vec![(CHAIN.to_owned(), self.chain_to(name)?)];
        given.extend(self.mcp_secrets("env", &settings.env)?);
        let mut variables = self.server_variables();
        variables.retain(|(name, _)| given.iter().all(|(it, _)| it != name));
        variables.extend(given);
        let home =
            || self.environment.home.clone().unwrap_or_else(|| self.environment.state().to_owned());
        let directory = if settings.cwd.is_set() {
            self.environment.expand(&settings.cwd, &self.environment.folder)
        } else {
            home()
        };
        Ok(McpTransport::Command { arguments, variables, directory })
    }

    /// The servers through which a server's program is started. One that is a metier with these settings would start
    /// itself, and that one itself again: it has to see that it is one of them.
    fn chain_to(&self, name: &str) -> Result<String, McpServerSettingFault> {
        let chain = self.environment.variable(CHAIN).unwrap_or_default();
        let server = format!("{}\n{name}", self.environment.settings_file().display());
        let link = &Digest::of_bytes(server.as_bytes()).to_string()[..LINK];
        let links = || chain.split(',').filter(|it| !it.is_empty());
        if links().any(|it| it == link) {
            return Err(McpServerSettingFault::Itself);
        }
        Ok(links().chain([link]).collect::<Vec<_>>().join(","))
    }

    /// The variables that every program of a server is given.
    pub fn server_variables(&self) -> Vec<(String, String)> {
        let passed = PASSED.iter().filter_map(|it| Some((*it, self.environment.variable(it)?)));
        let mut variables: Vec<(String, String)> =
            passed.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        variables.push(("TERM".to_owned(), "dumb".to_owned()));
        variables
    }

    fn mcp_address(
        &self,
        settings: &McpServerConfig,
        url: &str,
    ) -> Result<McpTransport, McpServerSettingFault> {
        if !url.starts_with("https://") && !url.starts_with("http://") {
            return Err(McpServerSettingFault::NoAddress { url: url.to_owned() });
        }
        let mut headers = self.mcp_secrets("headers", &settings.headers)?;
        if let Some(variable) = settings.token_env.as_deref() {
            if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(AUTHORIZATION)) {
                return Err(McpServerSettingFault::TwoTokens);
            }
            let token = self.environment.variable(variable);
            let token = token.ok_or_else(|| unset("token_env", variable))?;
            headers.push((AUTHORIZATION.to_owned(), format!("Bearer {token}")));
        }
        Ok(McpTransport::Http { url: url.to_owned(), headers })
    }

    /// Secrets below a setting, with variables in place of their names.
    fn mcp_secrets(
        &self,
        field: &str,
        secrets: &SecretMap,
    ) -> Result<Vec<(String, String)>, McpServerSettingFault> {
        let values = secrets.iter().map(|(name, secret)| {
            let text = secret.expose();
            let value = match variable_in(text) {
                Some(variable) => self
                    .environment
                    .variable(variable)
                    .ok_or_else(|| unset(&format!("{field}.{name}"), variable))?,
                None => text,
            };
            Ok((name.to_owned(), value.to_owned()))
        });
        values.collect()
    }

    /// What decides about calls of an agent, without what people decided when they were asked.
    pub fn configured_tool_policy(&self, agent: &str) -> ToolPolicy {
        let allowed = self.mcp_allowed().into_iter().map(|(server, lists)| AllowedTools {
            id: format!("settings:mcp.servers.{server}.allow"),
            server,
            lists,
        });
        let allowed = allowed.collect();
        ToolPolicy { rules: self.rules(agent), allowed, remembered: Vec::new() }
    }

    /// Lists of tools that may be called without asking, by server. A tool must be in each of them.
    pub fn mcp_allowed(&self) -> Vec<(String, Vec<Vec<String>>)> {
        let used = self.mcp_servers().servers.into_iter().filter(|server| server.has_tools);
        let lists = used.filter_map(|server| {
            let allow = &self.config.mcp_servers.get(&server.peer.name)?.allow;
            let own = Some(allow.to_vec()).filter(|list| !list.is_empty())?;
            let others = allow.also().iter().map(|(list, _)| list.clone());
            Some((server.peer.name, [own].into_iter().chain(others).collect()))
        });
        lists.collect()
    }

    /// The servers whose tools are used, ready to be connected to; none if there are none. Says which cannot be used.
    ///
    /// # Errors
    ///
    /// When no requests can be sent from here at all.
    pub fn tool_servers(&self) -> Result<Option<ToolServers>, AppError> {
        let McpServers { servers, faults } = self.mcp_servers();
        for fault in faults {
            self.reporter.notice(&Notice::ServerUnused(fault));
        }
        let used = servers.into_iter().filter(|server| server.has_tools).map(|server| ToolServer {
            denied: self.denied_tools(&server.peer.name),
            address: server.peer,
            timeout: server.timeout,
        });
        let used: Vec<ToolServer> = used.collect();
        if used.is_empty() {
            return Ok(None);
        }
        let client = Client::new(&ClientOptions::STANDARD)?;
        Ok(Some(ToolServers::new(used, client, Arc::clone(&self.reporter))))
    }
}

fn mcp_timeout(settings: &McpServerConfig) -> Result<Duration, McpServerSettingFault> {
    let seconds = *settings.timeout;
    if !(1..=MAX_TIMEOUT).contains(&seconds) {
        return Err(McpServerSettingFault::Timeout { seconds });
    }
    Ok(Duration::from_secs(seconds))
}

/// A tool that somebody names as `mcp:server/tool`, with `*` for any part of the tool's name; none if it is something
/// else.
pub fn named_tool(text: &str) -> Option<Result<(String, String), ToolNameError>> {
    let rest = text.strip_prefix(TOOL_PREFIX)?;
    let named = rest.split_once('/').filter(|(server, tool)| {
        check_mcp_server_name(server).is_ok()
            && !tool.is_empty()
            && !tool.contains(char::is_whitespace)
    });
    let named = named.map(|(server, tool)| (server.to_owned(), tool.to_owned()));
    Some(named.ok_or_else(|| ToolNameError { text: text.to_owned() }))
}

fn unset(field: &str, variable: &str) -> McpServerSettingFault {
    let (field, variable) = (field.to_owned(), variable.to_owned());
    McpServerSettingFault::UnsetVariable { field, variable }
}

/// Returns the variable that the secret of a setting stands for, if it is written as `$NAME` where that is one: in the
/// variables and headers of servers. A key that only begins like that is a key.
pub fn named_variable<'a>(setting: &str, secret: &'a str) -> Option<&'a str> {
    let field = setting.strip_prefix("mcp.servers.")?;
    let has_variables = field.contains(".env.") || field.contains(".headers.");
    variable_in(secret).filter(|_| has_variables)
}

/// The name of a variable that is written as `$NAME`.
fn variable_in(text: &str) -> Option<&str> {
    text.strip_prefix('$').filter(|it| is_variable(it))
}

fn is_variable(text: &str) -> bool {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    !text.is_empty()
        && text.chars().all(is_part)
        && !text.starts_with(|it: char| it.is_ascii_digit())
}

#[cfg(test)]
mod tests;
