//! Errors of a configuration that cannot be used.

use std::error::Error as _;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Longest name of a server.
const MAX_SERVER_NAME: usize = 32;
/// Longest name of an agent.
const MAX_AGENT_ID: usize = 64;

/// The error of a configuration that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the configuration `{}`", path.display())]
    Unreadable {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file is not TOML.
    #[error("{}:{line}: not valid TOML: {message}", path.display())]
    Syntax {
        /// The path of the file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The message of the parser.
        message: String,
    },
    /// There is no such setting.
    #[error("{place}: there is no setting `{name}`")]
    Unknown {
        /// Where it was set.
        place: String,
        /// The name that was set.
        name: String,
        /// The setting that was probably meant.
        nearest: Option<String>,
    },
    /// No agent can have this name.
    #[error("{place}: `{name}` cannot be a setting of an agent: {rule}")]
    Agent {
        /// Where it was set.
        place: String,
        /// The name that was set.
        name: String,
        /// The rule that it breaks.
        rule: &'static str,
    },
    /// No server can have this name.
    #[error("{place}: `{name}` cannot be a setting of a server: {rule}")]
    Server {
        /// Where it was set.
        place: String,
        /// The name that was set.
        name: String,
        /// The rule that it breaks.
        rule: McpServerNameError,
    },
    /// The key of an entry for a skill has a dot or a quote.
    #[error(
        "{place}: `{name}` cannot be used: keys below `skills.entries` have no dots and no quotes"
    )]
    DottedEntry {
        /// Where it was set.
        place: String,
        /// The name that was set, with quotes around the key.
        name: String,
    },
    /// A glob cannot be read.
    #[error("{place}: `{name}` has `{}`, which is not a name or a glob of names", glob.escape_debug())]
    Glob {
        /// Where it was set.
        place: String,
        /// The setting.
        name: String,
        /// The glob.
        glob: String,
    },
    /// The value is of another type.
    #[error("{place}: `{name}` is not {wanted}")]
    WrongKind {
        /// Where it was set.
        place: String,
        /// The setting.
        name: String,
        /// The description of the type.
        wanted: String,
        /// The word that was probably meant.
        nearest: Option<&'static str>,
    },
}

impl ConfigError {
    /// The line that it is about, if it is about one.
    pub(crate) fn line(&self) -> Option<usize> {
        match self {
            Self::Syntax { line, .. } => Some(*line),
            _ => None,
        }
    }

    /// The message without the place at its beginning, and with the cause at its end.
    pub(crate) fn without_place(&self) -> String {
        let message = match self.source() {
            Some(source) => format!("{self}: {source}"),
            None => self.to_string(),
        };
        let place = match self {
            Self::Unreadable { .. } => None,
            Self::Syntax { path, line, .. } => Some(format!("{}:{line}", path.display())),
            Self::Unknown { place, .. }
            | Self::Agent { place, .. }
            | Self::Server { place, .. }
            | Self::DottedEntry { place, .. }
            | Self::Glob { place, .. }
            | Self::WrongKind { place, .. } => Some(place.clone()),
        };
        let rest =
            place.and_then(|place| message.strip_prefix(&format!("{place}: ")).map(str::to_owned));
        rest.unwrap_or(message)
    }
}

/// The error of a server's name that does not follow the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a name is up to 32 letters, digits, `-` and `_`")]
pub struct McpServerNameError;

/// Checks the name of a server, which becomes part of the names of its tools.
///
/// # Errors
///
/// When the name has other characters, none, or too many.
pub fn check_mcp_server_name(name: &str) -> Result<(), McpServerNameError> {
    let is_fine = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    if name.is_empty() || name.len() > MAX_SERVER_NAME || !name.chars().all(is_fine) {
        return Err(McpServerNameError);
    }
    Ok(())
}

/// Checks the name of an agent, which becomes part of a path.
///
/// # Errors
///
/// With the rule that the name breaks.
pub fn check_agent_id(text: &str) -> Result<(), &'static str> {
    let is_plain = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    if text.is_empty() || !text.bytes().all(is_plain) || text.starts_with('-') {
        return Err("use lowercase letters, digits and hyphens, and begin with no hyphen");
    }
    if text.len() > MAX_AGENT_ID {
        return Err("it is longer than 64 characters");
    }
    if text == "defaults" {
        return Err("`defaults` stands for all agents");
    }
    Ok(())
}
