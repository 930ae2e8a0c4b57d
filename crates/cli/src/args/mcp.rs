//! Arguments of `metier mcp`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use metier_clients::{AGENT_CLIENTS, AgentClient, ClientScope};
use metier_config::ExecutorKind;

use super::{SourceArgs, word};

/// `metier mcp`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub command: Option<McpCommand>,
    #[command(flatten)]
    pub serve: ServeArgs,
}

/// What is done beside serving.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// List the MCP servers whose tools and skills metier uses
    Servers {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the token that requests over HTTP need
    Token,
    /// Add metier to the configuration of another agent
    Install(InstallClientArgs),
}

/// `metier mcp install`.
#[derive(Debug, Args)]
pub(crate) struct InstallClientArgs {
    /// The agent to tell
    #[arg(value_parser = client(), required_unless_present = "list")]
    pub client: Option<&'static AgentClient>,
    /// List the agents, their files, and which of them know metier
    #[arg(long, conflicts_with_all = ["client", "scope", "print", "yes", "remove", "http", "executor"])]
    pub list: bool,
    /// Print JSON
    #[arg(long, conflicts_with = "client", requires = "list")]
    pub json: bool,
    /// Change your own configuration, or that of this project
    #[arg(long, value_name = "WHOSE", value_parser = scope(), default_value = ClientScope::User.id())]
    pub scope: ClientScope,
    /// Call the server so in the configuration
    #[arg(long, value_name = "NAME", default_value = "metier", value_parser = server_name)]
    pub name: String,
    /// Print what would be written, and write nothing
    #[arg(long, alias = "dry-run")]
    pub print: bool,
    /// Agree to the change without being asked
    #[arg(long)]
    pub yes: bool,
    /// Take the server out of the configuration
    #[arg(long, conflicts_with_all = ["http", "executor"])]
    pub remove: bool,
    /// Let the agent connect to this address instead of starting metier
    #[arg(long, value_name = "URL", requires = "token_env", value_parser = address)]
    pub http: Option<String>,
    /// The variable in which the agent has the token for --http
    #[arg(long, value_name = "NAME", requires = "http", value_parser = variable)]
    pub token_env: Option<String>,
    /// Where the server runs commands
    #[arg(long, value_name = "WHERE", value_parser = word::<ExecutorKind>(), conflicts_with = "http")]
    pub executor: Option<ExecutorKind>,
}

/// Reads the id of an agent that can be told.
fn client() -> impl TypedValueParser<Value = &'static AgentClient> {
    let ids = AGENT_CLIENTS.iter().map(|it| PossibleValue::new(it.id).help(it.title));
    PossibleValuesParser::new(ids)
        .map(|id| AgentClient::find(&id).expect("the parser let no other id through"))
}

/// Reads whose configuration is changed.
fn scope() -> impl TypedValueParser<Value = ClientScope> {
    let (user, project) = (ClientScope::User.id(), ClientScope::Project.id());
    let ids = [
        PossibleValue::new(user).help("That of the person"),
        PossibleValue::new(project).help("That of the project"),
    ];
    PossibleValuesParser::new(ids).map(move |id| match id == project {
        true => ClientScope::Project,
        false => ClientScope::User,
    })
}

/// Longest name of a server.
const MAX_SERVER_NAME: usize = 32;

/// Reads the name of a server: tools are called by it, and clients agree on no more than this.
fn server_name(text: &str) -> Result<String, &'static str> {
    let is_plain =
        |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-' || it == b'_';
    if !text.starts_with(|it: char| it.is_ascii_lowercase()) || !text.bytes().all(is_plain) {
        return Err("use lowercase letters, digits, `-` and `_`, and begin with a letter");
    }
    if text.len() > MAX_SERVER_NAME {
        return Err("it is longer than 32 characters");
    }
    Ok(text.to_owned())
}

/// Reads the address of a server. A secret in it would be written into a file.
fn address(text: &str) -> Result<String, &'static str> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    if host.is_empty() || text.chars().any(|it| it.is_whitespace() || it.is_control()) {
        return Err("write it as `http://127.0.0.1:PORT/mcp`");
    }
    if host.contains('@') || text.contains('?') {
        return Err("it must hold no secret: name the variable of the token with `--token-env`");
    }
    Ok(text.to_owned())
}

/// Reads the name of a variable.
fn variable(text: &str) -> Result<String, &'static str> {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
    let begins = text.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
    if begins && text.bytes().all(is_plain) {
        Ok(text.to_owned())
    } else {
        Err("name a variable, not the token: letters, digits and `_`")
    }
}

/// What is served, and how.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where commands run; the host does not confine them
    #[arg(long, value_name = "WHERE", value_parser = word::<ExecutorKind>())]
    pub executor: Option<ExecutorKind>,
    /// Work in this session; else in a new one
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    #[command(flatten)]
    pub http: HttpArgs,
    #[command(flatten)]
    pub sources: SourceArgs,
}

/// How requests over HTTP are taken.
#[derive(Debug, Args)]
#[command(next_help_heading = "Over HTTP instead of standard input")]
pub(crate) struct HttpArgs {
    /// Listen here: 127.0.0.1:8700; port 0 takes a free one
    #[arg(long = "http", value_name = "ADDRESS")]
    pub address: Option<SocketAddr>,
    /// Accept the tokens in this file, one in each line; else
    /// METIER_MCP_TOKEN, else the one of `metier mcp token`
    #[arg(long, value_name = "FILE", requires = "address")]
    pub token_file: Option<PathBuf>,
    /// Allow an address that other machines can reach
    #[arg(long, requires = "address")]
    pub allow_remote: bool,
    /// Also answer under this name: NAME or NAME:PORT
    #[arg(long, value_name = "HOST", requires = "address")]
    pub allow_host: Vec<String>,
    /// Let web pages of this origin ask, such as https://NAME
    #[arg(long, value_name = "URL", requires = "address")]
    pub allow_origin: Vec<String>,
}
