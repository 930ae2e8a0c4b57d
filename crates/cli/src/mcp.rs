//! Servers of others, as the settings describe them.
//!
//! A server is a program or an address that the person chose: a project can take away from it, and adds none. The
//! program gets a small environment and what `env` says, never the variables that metier was started with, because
//! keys of providers are among them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use metier_agent::foreign::{AllowedTools, ToolPolicy, is_like};
use metier_net::{Client, ClientOptions};
use metier_serve::mcp::client::{Peer, Way};
use metier_serve::mcp::foreign::{ToolServer, ToolServers};
use metier_skill::files::Digest;

use crate::context::Context;
use crate::failure::Failure;
use crate::output::style;
use crate::settings::{Origin, server_label};

/// What settings of servers begin with.
const SERVERS: &str = "mcp.servers.";
/// Variables that every program of a server is given, as they are here.
const PASSED: [&str; 11] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", CHAIN,
];
/// What names of tools of other servers begin with, where commands are named too.
pub(crate) const NAMED: &str = "mcp:";
/// The variable in which a program of a server finds the servers through which it was started.
const CHAIN: &str = "METIER_MCP_CHAIN";
/// The header that says who we are.
const AUTHORIZATION: &str = "Authorization";
/// How many characters of a digest are a link of it.
const LINK: usize = 16;
/// Seconds a call may take when nobody says otherwise.
const TIMEOUT: usize = 60;
/// Seconds a call may take at most: a day.
const MAX_TIMEOUT: usize = 24 * 60 * 60;

/// The servers there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct McpServers {
    /// Those that can be used, in the order of their names.
    pub servers: Vec<McpServer>,
    /// Those that cannot, and why.
    pub faults: Vec<McpFault>,
}

/// A server of the settings.
#[derive(Clone, Debug)]
pub(crate) struct McpServer {
    /// What it is called, and the way to it.
    pub peer: Peer,
    /// Whether the agent may use its tools.
    pub has_tools: bool,
    /// Whether its skills are used.
    pub has_skills: bool,
    /// How long a call may take.
    pub timeout: Duration,
}

/// A server that cannot be used as it is described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct McpFault {
    /// What it is called.
    pub name: String,
    /// Why not.
    pub why: String,
    /// Whether its skills would be used.
    pub has_skills: bool,
}

/// Servers whose tools are used, with those that are not.
#[derive(Clone, Debug, Default)]
pub(crate) struct McpNames(BTreeMap<String, Vec<String>>);

impl McpNames {
    /// Whether there is a server, or a tool that is written as `server/tool` and not switched off. Whether its server
    /// has such a tool is not known before it is asked.
    pub(crate) fn has(&self, name: &str) -> bool {
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

impl Context {
    /// The servers of the settings.
    pub(crate) fn mcp_servers(&self) -> McpServers {
        let names = self.settings.values.keys();
        let names = names.filter_map(|name| name.strip_prefix(SERVERS)?.split('.').next());
        let names: BTreeSet<&str> = names.collect();
        let mut found = McpServers::default();
        for name in names.into_iter().filter(|name| self.is_own_server(name)) {
            let has_skills = self.settings.is_true(&setting(name, "skills"));
            let name = name.to_owned();
            let way = self.mcp_way(&name);
            match way.and_then(|way| Ok((way, self.mcp_timeout(&name)?))) {
                Ok((way, timeout)) => found.servers.push(McpServer {
                    has_tools: self.settings.switch(&setting(&name, "tools")),
                    has_skills,
                    timeout,
                    peer: Peer { name, way },
                }),
                Err(why) => found.faults.push(McpFault { name, why, has_skills }),
            }
        }
        found
    }

    /// Which servers and tools skills may ask for.
    pub(crate) fn mcp_names(&self) -> McpNames {
        let servers = self.mcp_servers().servers.into_iter().filter(|server| server.has_tools);
        let denied = |name: &str| self.settings.list(&setting(name, "deny")).to_vec();
        let names = servers.map(|server| (server.peer.name.clone(), denied(&server.peer.name)));
        McpNames(names.collect())
    }

    /// Whether the person's own file has something of a server. What a project takes away from one that is not
    /// there makes none.
    fn is_own_server(&self, name: &str) -> bool {
        let (prefix, own) = (setting(name, ""), self.environment.state().join("config.toml"));
        let mut origins = self.settings.values.iter().filter(|(it, _)| it.starts_with(&prefix));
        let is_own = |it: &Origin| matches!(it, Origin::File { path, .. } if *path == own);
        origins.any(|(_, (_, origins))| origins.iter().any(is_own))
    }

    fn mcp_way(&self, name: &str) -> Result<Way, String> {
        let command = self.settings.list(&setting(name, "command"));
        let has_command = command.first().is_some_and(|it| !it.is_empty());
        // A setting for the other kind would do nothing, and somebody thinks that it holds.
        let refuse = |fields: &[&str], what: &str| {
            let mut set = fields.iter().filter(|it| self.settings.is_true(&setting(name, it)));
            set.next()
                .map_or(Ok(()), |it| Err(format!("`{it}` is of no use to {what}; take it out")))
        };
        match (has_command, self.settings.text(&setting(name, "url"))) {
            (true, None) => {
                refuse(&["token_env", "headers"], "a `command`")?;
                let words = command.iter().chain(self.settings.list(&setting(name, "args")));
                self.mcp_command(name, words.cloned().collect())
            }
            (false, Some(url)) => {
                refuse(&["args", "env", "cwd"], "a `url`")?;
                self.mcp_address(name, url)
            }
            (false, None) => Err("neither `command` nor `url` is set; set one of them".to_owned()),
            (true, Some(_)) => {
                Err("it has a `command` and a `url`; one of them must go".to_owned())
            }
        }
    }

    fn mcp_command(&self, name: &str, mut arguments: Vec<String>) -> Result<Way, String> {
        let program = self.environment.expand(&arguments[0], &PathBuf::new());
        if arguments[0].contains('/') && !program.is_absolute() {
            return Err(format!(
                "`{}` is no whole path; write one from `/` or `~/` on, or a name alone",
                arguments[0]
            ));
        }
        arguments[0] = program.to_string_lossy().into_owned();
        let mut given = vec![(CHAIN.to_owned(), self.chain_to(name)?)];
        given.extend(self.mcp_secrets(name, "env")?);
        let mut variables = self.server_variables();
        variables.retain(|(name, _)| given.iter().all(|(it, _)| it != name));
        variables.extend(given);
        let home = || self.environment.home.clone().unwrap_or_else(|| self.environment.state());
        let directory = match self.settings.text(&setting(name, "cwd")) {
            Some(text) => self.environment.expand(text, &self.environment.folder),
            None => home(),
        };
        Ok(Way::Command { arguments, variables, directory })
    }

    /// The servers through which a server's program is started. One that is a metier with these settings would start
    /// itself, and that one itself again: it has to see that it is one of them.
    fn chain_to(&self, name: &str) -> Result<String, String> {
        let chain = self.environment.variable(CHAIN).unwrap_or_default();
        let server = format!("{}\n{name}", self.environment.state().join("config.toml").display());
        let link = &Digest::of_bytes(server.as_bytes()).to_string()[..LINK];
        let links = || chain.split(',').filter(|it| !it.is_empty());
        if links().any(|it| it == link) {
            return Err("it is the server that this metier was started as".to_owned());
        }
        Ok(links().chain([link]).collect::<Vec<_>>().join(","))
    }

    /// The variables that every program of a server is given.
    pub(crate) fn server_variables(&self) -> Vec<(String, String)> {
        let passed = PASSED.iter().filter_map(|it| Some((*it, self.environment.variable(it)?)));
        let mut variables: Vec<(String, String)> =
            passed.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        variables.push(("TERM".to_owned(), "dumb".to_owned()));
        variables
    }

    fn mcp_address(&self, name: &str, url: &str) -> Result<Way, String> {
        if !url.starts_with("https://") && !url.starts_with("http://") {
            return Err(format!("`{url}` is no address; write it as `https://host/mcp`"));
        }
        let mut headers = self.mcp_secrets(name, "headers")?;
        if let Some(variable) = self.settings.text(&setting(name, "token_env")) {
            if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(AUTHORIZATION)) {
                return Err(format!(
                    "it has `token_env` and the header `{AUTHORIZATION}`; one of them must go"
                ));
            }
            let token = self.environment.variable(variable);
            let token = token.ok_or_else(|| unset("token_env", variable))?;
            headers.push((AUTHORIZATION.to_owned(), format!("Bearer {token}")));
        }
        Ok(Way::Http { url: url.to_owned(), headers })
    }

    /// Secrets below a setting, with variables in place of their names.
    fn mcp_secrets(&self, name: &str, field: &str) -> Result<Vec<(String, String)>, String> {
        let prefix = format!("{}.", setting(name, field));
        let keys = self.settings.values.keys().filter(|key| key.starts_with(&prefix));
        let mut secrets = Vec::new();
        for key in keys {
            let Some(text) = self.settings.secret(key) else { continue };
            let value = match named_variable(key, text) {
                Some(variable) => self
                    .environment
                    .variable(variable)
                    .ok_or_else(|| unset(&format!("{field}.{}", &key[prefix.len()..]), variable))?,
                None => text,
            };
            secrets.push((key[prefix.len()..].to_owned(), value.to_owned()));
        }
        Ok(secrets)
    }

    /// What decides about calls of an agent, without what people decided when they were asked.
    ///
    /// # Errors
    ///
    /// When the settings cannot be followed.
    pub(crate) fn configured_tool_policy(&self, agent: &str) -> Result<ToolPolicy, Failure> {
        let allowed = self.mcp_allowed().into_iter().map(|(server, lists)| AllowedTools {
            id: format!("settings:{}", setting(&server, "allow")),
            server,
            lists,
        });
        let allowed = allowed.collect();
        Ok(ToolPolicy { rules: self.rules(agent)?, allowed, remembered: Vec::new() })
    }

    /// Lists of tools that may be called without asking, by server. A tool must be in each of them.
    pub(crate) fn mcp_allowed(&self) -> Vec<(String, Vec<Vec<String>>)> {
        let used = self.mcp_servers().servers.into_iter().filter(|server| server.has_tools);
        let lists = used.filter_map(|server| {
            let name = setting(&server.peer.name, "allow");
            let own = Some(self.settings.list(&name).to_vec()).filter(|list| !list.is_empty())?;
            let others = self.settings.also.get(&name).into_iter().flatten();
            let lists = std::iter::once(own).chain(others.map(|(list, _)| list.clone()));
            Some((server.peer.name, lists.collect()))
        });
        lists.collect()
    }

    /// The servers whose tools are used, ready to be connected to; none if there are none. Says which cannot be used.
    ///
    /// # Errors
    ///
    /// When no requests can be sent from here at all.
    pub(crate) fn tool_servers(&self) -> Result<Option<ToolServers>, Failure> {
        let McpServers { servers, faults } = self.mcp_servers();
        for McpFault { name, why, .. } in &faults {
            let text = format!("the server `{name}` is not used: {why}");
            self.output.note(style::WARN, "note: ", &text);
        }
        let used = servers.into_iter().filter(|server| server.has_tools).map(|server| ToolServer {
            denied: self.settings.list(&setting(&server.peer.name, "deny")).to_vec(),
            peer: server.peer,
            timeout: server.timeout,
        });
        let used: Vec<ToolServer> = used.collect();
        if used.is_empty() {
            return Ok(None);
        }
        let client = Client::new(&ClientOptions::STANDARD)?;
        Ok(Some(ToolServers::new(used, client)))
    }

    fn mcp_timeout(&self, name: &str) -> Result<Duration, String> {
        let seconds = self.settings.count(&setting(name, "timeout")).unwrap_or(TIMEOUT);
        if !(1..=MAX_TIMEOUT).contains(&seconds) {
            return Err(format!("`timeout` is {seconds}; it is from 1 to {MAX_TIMEOUT} seconds"));
        }
        Ok(Duration::from_secs(seconds as u64))
    }
}

/// A tool that somebody names as `mcp:server/tool`, with `*` for any part of the tool's name; none if it is something
/// else.
pub(crate) fn named_tool(text: &str) -> Option<Result<(String, String), Failure>> {
    let rest = text.strip_prefix(NAMED)?;
    let named = rest.split_once('/').filter(|(server, tool)| {
        server_label(server).is_ok() && !tool.is_empty() && !tool.contains(char::is_whitespace)
    });
    Some(named.map(|(server, tool)| (server.to_owned(), tool.to_owned())).ok_or_else(|| {
        Failure::usage(format!("`{text}` names no tool of a server"))
            .hint("write it as `mcp:SERVER/TOOL`, with `*` for any part of the tool's name")
    }))
}

/// A setting of a server.
fn setting(name: &str, field: &str) -> String {
    format!("{SERVERS}{name}.{field}")
}

fn unset(field: &str, variable: &str) -> String {
    format!("`{field}` names the variable `{variable}`, which is not set; set it, or name another")
}

/// Returns the variable that the secret of a setting stands for, if it is written as `$NAME` where that is one: in the
/// variables and headers of servers. A key that only begins like that is a key.
pub(crate) fn named_variable<'a>(setting: &str, secret: &'a str) -> Option<&'a str> {
    let field = setting.strip_prefix("mcp.servers.")?;
    let has_variables = field.contains(".env.") || field.contains(".headers.");
    secret.strip_prefix('$').filter(|it| has_variables && is_variable(it))
}

fn is_variable(text: &str) -> bool {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    !text.is_empty()
        && text.chars().all(is_part)
        && !text.starts_with(|it: char| it.is_ascii_digit())
}

#[cfg(test)]
mod tests;
