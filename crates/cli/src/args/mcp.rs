//! Arguments of `metier mcp`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{ExecutorName, SourceArgs};

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
    /// List other servers whose tools and skills are used
    Servers {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the token that requests over HTTP need
    Token,
}

/// What is served, and how.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where commands run
    #[arg(long, value_name = "NAME")]
    pub executor: Option<ExecutorName>,
    /// The session whose workspace and artifacts are used; else a new one
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    #[command(flatten)]
    pub http: HttpArgs,
    #[command(flatten)]
    pub sources: SourceArgs,
}

/// How requests over HTTP are taken.
#[derive(Debug, Args)]
pub(crate) struct HttpArgs {
    /// Take requests over HTTP at this address, such as 127.0.0.1:8700, instead of standard input; port 0 takes a free one
    #[arg(long = "http", value_name = "ADDRESS")]
    pub address: Option<SocketAddr>,
    /// A file with tokens, one in a line, of which requests must have one; else METIER_MCP_TOKEN, else one that is made
    #[arg(long, value_name = "FILE", requires = "address")]
    pub token_file: Option<PathBuf>,
    /// Listen at an address that other machines can reach
    #[arg(long, requires = "address")]
    pub allow_remote: bool,
    /// Another name under which the server may be asked, such as NAME or NAME:PORT
    #[arg(long, value_name = "HOST", requires = "address")]
    pub allow_host: Vec<String>,
    /// Web pages that may ask, such as https://NAME:PORT
    #[arg(long, value_name = "ORIGIN", requires = "address")]
    pub allow_origin: Vec<String>,
}
