//! Addresses of servers: what a server is called, and the transport to it.

use std::fmt;
use std::path::PathBuf;

/// The address of a server: its name and the transport to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServerAddress {
    /// The name that the person gave it, whatever it calls itself.
    pub name: String,
    /// The transport to it.
    pub transport: McpTransport,
}

/// The transport to a server.
///
/// `Debug` shows the names of variables and headers, never their values.
#[derive(Clone, PartialEq, Eq)]
pub enum McpTransport {
    /// The standard input and output of a program that the client starts.
    Command {
        /// The program and its arguments.
        arguments: Vec<String>,
        /// Its whole environment.
        variables: Vec<(String, String)>,
        /// Its working directory.
        directory: PathBuf,
    },
    /// Streamable HTTP.
    Http {
        /// The URL of the server.
        url: String,
        /// Headers of every request; their values are secrets. Headers of the protocol replace those of the same name.
        headers: Vec<(String, String)>,
    },
}

impl fmt::Debug for McpTransport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |pairs: &[(String, String)]| -> Vec<String> {
            pairs.iter().map(|(name, _)| name.clone()).collect()
        };
        match self {
            Self::Command { arguments, variables, directory } => formatter
                .debug_struct("Command")
                .field("arguments", arguments)
                .field("variables", &names(variables))
                .field("directory", directory)
                .finish(),
            Self::Http { url, headers } => formatter
                .debug_struct("Http")
                .field("url", &metier_net::shown_text(url))
                .field("headers", &names(headers))
                .finish(),
        }
    }
}
