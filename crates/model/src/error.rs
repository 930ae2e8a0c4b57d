//! Why there is no reply.
//!
//! A variant for each thing a person, or the agent, would do differently. What a provider said is
//! in the message as a [`Said`]; how to help is for the command line to add.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use metier_net::NetError;
use thiserror::Error;

/// Why there is no reply.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The name of a model is not `provider/name`.
    #[error("`{name}` does not name a model: write it as `provider/name`")]
    Name {
        /// What was given.
        name: String,
    },
    /// Nobody said how to reach this provider.
    #[error("there is no provider `{provider}`; there are `{}`", known.join("`, `"))]
    UnknownProvider {
        /// What was asked for.
        provider: String,
        /// Those that are set up.
        known: Vec<String>,
    },
    /// The provider wants a key and none is set.
    #[error("no key for `{provider}`{}", variable.as_ref().map(|name| format!(": set `{name}`")).unwrap_or_default())]
    NoKey {
        /// The provider.
        provider: String,
        /// The variable that is looked at.
        variable: Option<String>,
    },
    /// The base URL of a provider is not one.
    #[error("the base URL of `{provider}` cannot be used: {fault}")]
    BaseUrl {
        /// The provider.
        provider: String,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// A parameter was set that requests set themselves.
    #[error("the parameter `{name}` of `{provider}` cannot be set: every request has its own")]
    Parameter {
        /// The provider.
        provider: String,
        /// The parameter.
        name: String,
    },
    /// The HTTP client cannot be set up.
    #[error("requests to models cannot be made")]
    Setup(#[source] NetError),
    /// The server cannot be reached.
    #[error("cannot reach `{host}`")]
    Unreachable {
        /// The server.
        host: String,
        /// Why.
        source: NetError,
    },
    /// The key is not accepted.
    #[error("`{host}` does not accept the key{said}")]
    Key {
        /// The server.
        host: String,
        /// What it said.
        said: Said,
    },
    /// The key is accepted, but not for this.
    #[error("`{host}` does not allow this with the key{said}")]
    Forbidden {
        /// The server.
        host: String,
        /// What it said.
        said: Said,
    },
    /// The server does not know the model, or the base URL leads nowhere.
    #[error("`{host}` does not know the model `{model}`, or the base URL is wrong{said}")]
    UnknownModel {
        /// The server.
        host: String,
        /// The model as it was asked for.
        model: String,
        /// What the server said.
        said: Said,
    },
    /// The conversation no longer fits into the model's context.
    #[error("the conversation is too long for the model{said}")]
    ContextOverflow {
        /// What the server said.
        said: Said,
    },
    /// Too many requests or tokens in too little time.
    #[error("`{host}` asks to slow down{said}")]
    RateLimited {
        /// The server.
        host: String,
        /// What it said.
        said: Said,
        /// How long it wants us to wait.
        retry_after: Option<Duration>,
    },
    /// The account has no money left, or a spending limit is reached. Waiting does not help.
    #[error("the account at `{host}` has no quota left{said}")]
    QuotaExhausted {
        /// The server.
        host: String,
        /// What it said.
        said: Said,
    },
    /// The provider refuses what is asked.
    #[error("`{host}` refuses the content of the request{said}")]
    Refused {
        /// The server.
        host: String,
        /// What it said.
        said: Said,
    },
    /// The server does not take the request for another reason.
    #[error("`{host}` does not take the request (status {status}){said}")]
    Rejected {
        /// The server.
        host: String,
        /// The status of its answer.
        status: u16,
        /// What it said.
        said: Said,
    },
    /// Something failed on the server's side.
    #[error("`{host}` failed{}{said}", status.map(|status| format!(" (status {status})")).unwrap_or_default())]
    Failed {
        /// The server.
        host: String,
        /// The status of its answer, or the one that it named in the middle of a stream.
        status: Option<u16>,
        /// What it said.
        said: Said,
        /// How long it wants us to wait.
        retry_after: Option<Duration>,
    },
    /// The answer is not in the format that was expected.
    #[error("`{host}` did not answer in the expected format; the answer begins with `{beginning}`")]
    NotJson {
        /// The server.
        host: String,
        /// Its first characters, safe to show.
        beginning: String,
    },
    /// The reply broke off.
    #[error("the reply broke off before its end")]
    Interrupted {
        /// What happened to the connection, if anything did.
        source: Option<NetError>,
    },
    /// The reply, or one event of it, is too large.
    #[error("the reply is larger than {limit} bytes")]
    TooLarge {
        /// How large it may be.
        limit: usize,
    },
    /// The script of replies cannot be read.
    #[error("cannot read the script `{}`", path.display())]
    ScriptFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The script of replies is not one.
    #[error("entry {entry} of the script is not valid")]
    Script {
        /// Which entry, from 1.
        entry: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The script of replies has no entry for this request.
    #[error("the script has no reply for request {request}")]
    ScriptEnded {
        /// Which request, from 1.
        request: usize,
    },
}

impl ModelError {
    /// Whether the same request may well succeed a little later.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::Failed { .. } | Self::Interrupted { .. } => true,
            Self::Unreachable { source, .. } => matches!(
                source,
                NetError::Resolve { .. }
                    | NetError::Connect { .. }
                    | NetError::TimedOut { .. }
                    | NetError::Silent { .. }
                    | NetError::Interrupted { .. }
            ),
            _ => false,
        }
    }

    /// How long the server wants us to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Failed { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }
}

/// What a provider said about an error: bounded, without control characters and without the key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said(String);

impl Said {
    /// Makes the text of a provider safe. Keys must have been taken out already.
    pub fn new(text: &str) -> Self {
        Self(safe(text, MAX_SAID))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// As the end of a sentence: nothing if nothing was said.
impl fmt::Display for Said {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(formatter, ": {}", self.0) }
    }
}

/// How many characters of what a provider said are kept. Theirs are a sentence or two.
const MAX_SAID: usize = 600;

/// One line of at most so many characters that does nothing to a terminal.
pub(crate) fn safe(text: &str, max_chars: usize) -> String {
    let mut line = String::new();
    let mut characters = text.trim().chars();
    for character in characters.by_ref().take(max_chars) {
        match character {
            '\n' | '\r' | '\t' => line.push(' '),
            _ if character.is_control() || is_invisible(character) => {
                line.extend(character.escape_unicode());
            }
            _ => line.push(character),
        }
    }
    if characters.next().is_some() {
        line.push('…');
    }
    line
}

/// Characters that turn the direction of text or cannot be seen.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e0000}'..='\u{e007f}')
}
