//! Why a server is of no use.

use std::time::Duration;

use metier_net::NetError;
use metier_sandbox::SpawnError;
use thiserror::Error;

use super::McpAnswerFault;

/// Why a server is of no use, or not now. What it said itself is bounded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum McpClientError {
    /// Its program cannot be started.
    #[error("the server `{server}` cannot be started")]
    Start {
        /// The server.
        server: String,
        /// Why not.
        source: SpawnError,
    },
    /// Its program, or the connection to it, has ended.
    #[error("the server `{server}` {how}{}", last_words(said))]
    Ended {
        /// The server.
        server: String,
        /// How it ended, in words.
        how: String,
        /// The end of what it wrote to standard error.
        said: String,
    },
    /// It does not answer.
    #[error("the server `{server}` did not answer within {} s{}", limit.as_secs_f32(), last_words(said))]
    Silent {
        /// The server.
        server: String,
        /// How long it was waited for.
        limit: Duration,
        /// The end of what it wrote to standard error, or what it said instead.
        said: String,
    },
    /// It does not speak the protocol, or no version that we speak.
    #[error("the server `{server}` does not speak the Model Context Protocol as we do: {what}")]
    Language {
        /// The server.
        server: String,
        /// What it said instead.
        what: String,
    },
    /// It cannot be reached.
    #[error("the server `{server}` cannot be reached")]
    Network {
        /// The server.
        server: String,
        /// Why not.
        source: NetError,
    },
    /// It answers with a status that is no answer.
    #[error("the server `{server}` answers with status {status}")]
    Status {
        /// The server.
        server: String,
        /// The status.
        status: u16,
    },
    /// It wants to know who we are.
    #[error("the server `{server}` does not let us in (status {status})")]
    Unauthorized {
        /// The server.
        server: String,
        /// The status.
        status: u16,
    },
    /// Secrets would go over the network for everybody to read.
    #[error(
        "the server `{server}` has headers, which may be secret, and its address is not `https`"
    )]
    Unprotected {
        /// The server.
        server: String,
    },
    /// It refuses what it was asked.
    #[error("the server `{server}` refuses: {message} (code {code})")]
    Refused {
        /// The server.
        server: String,
        /// Its reason as a number of the protocol.
        code: i32,
        /// Its reason in words.
        message: String,
    },
    /// It has nothing of what it is asked for.
    #[error("the server `{server}` does not offer {what}")]
    NotOffered {
        /// The server.
        server: String,
        /// What it does not offer.
        what: &'static str,
    },
    /// Its answer is not what was asked for.
    #[error("the server `{server}` gave something else than it was asked for: {fault}")]
    Strange {
        /// The server.
        server: String,
        /// The fault of the answer.
        fault: McpAnswerFault,
    },
    /// Its answer is too large.
    #[error("the server `{server}` gave more than {limit} bytes: {what}")]
    TooLarge {
        /// The server.
        server: String,
        /// What is too large.
        what: String,
        /// How many bytes there may be.
        limit: u64,
    },
    /// The call was stopped.
    #[error("the call to the server `{server}` was stopped")]
    Stopped {
        /// The server.
        server: String,
    },
}

/// The last lines that a program wrote, if it wrote any.
fn last_words(said: &str) -> String {
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(SHOWN_LINES)..].join("; ");
    if last.is_empty() { String::new() } else { format!("; it said: {last}") }
}

/// Lines of a program that are in a message.
const SHOWN_LINES: usize = 3;
