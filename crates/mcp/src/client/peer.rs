//! Who is connected to, and what for.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::{McpSkillFault, McpToolFault};
use crate::skills::Skill;

/// A server, and the way to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// What we call it, whatever it calls itself.
    pub name: String,
    /// The way to it.
    pub way: Way,
}

/// The way to a server.
///
/// `Debug` shows the names of variables and headers, never their values.
#[derive(Clone, PartialEq, Eq)]
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
        /// Headers that are sent with every request; their values are secrets. Those of the protocol win.
        headers: Vec<(String, String)>,
    },
}

impl fmt::Debug for Way {
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

/// What connections are made with.
#[derive(Clone, Debug)]
pub struct ClientMeans {
    /// What sends requests over the network.
    pub http: metier_net::Client,
    /// How long a server is waited for.
    pub patience: Patience,
}

/// How long a server is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// From its start until it can be asked; some fetch themselves first.
    pub open: Duration,
    /// For an answer that needs no work, such as a list. A list of many pages has four times as long.
    pub answer: Duration,
    /// For a call of a tool.
    pub call: Duration,
}

impl Patience {
    /// What is promised.
    pub const STANDARD: Self = Self {
        open: Duration::from_mins(1),
        answer: Duration::from_secs(30),
        call: Duration::from_mins(5),
    };
}

/// What a server says of itself. Every text is bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The version of the protocol that is spoken with it.
    pub protocol: String,
    /// What it wants models to know.
    pub instructions: String,
    /// Whether it has tools.
    pub has_tools: bool,
    /// Whether it has files.
    pub has_resources: bool,
    /// Whether it has skills.
    pub has_skills: bool,
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

/// The tools of a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tools {
    /// Those that can be used.
    pub tools: Vec<Tool>,
    /// Faults of those that were left out.
    pub left_out: Vec<McpToolFault>,
}

/// What a tool answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// What it says, in words.
    pub text: String,
    /// Whether it says that something went wrong.
    pub is_error: bool,
}

/// How far a call has come.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// What has been done.
    pub done: f64,
    /// What there is to do.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

/// The skills of a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skills {
    /// Those whose entries can be read.
    pub skills: Vec<Skill>,
    /// The others.
    pub problems: Vec<SkillProblem>,
}

/// An entry of a list of skills that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillProblem {
    /// The address of the skill, if that could be read.
    pub uri: Option<String>,
    /// The reason.
    pub fault: McpSkillFault,
}
