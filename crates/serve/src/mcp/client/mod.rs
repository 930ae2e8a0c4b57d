//! Connections to other servers.
//!
//! A server is a program that is started, or an address. What it says is what a stranger says: every list, text
//! and wait has a bound.

use std::path::PathBuf;

use serde_json::Value;

/// A server, and the way to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// What we call it, whatever it calls itself.
    pub name: String,
    /// The way to it.
    pub way: Way,
}

/// The way to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// A program that is started and talked to.
    Command {
        /// The program and its arguments.
        arguments: Vec<String>,
        /// All of its environment.
        variables: Vec<(String, String)>,
        /// Where it starts.
        directory: PathBuf,
    },
    /// An address.
    Http {
        /// The address.
        url: String,
        /// Headers that are sent with every request; their values are secrets.
        headers: Vec<(String, String)>,
    },
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// What the server calls it.
    pub name: String,
    /// What the server says of it.
    pub description: String,
    /// What its arguments are.
    pub schema: Value,
}

/// What a tool answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// What it says, in words.
    pub text: String,
    /// The same for programs.
    pub structured: Option<Value>,
    /// Whether it says that something went wrong.
    pub is_error: bool,
}
