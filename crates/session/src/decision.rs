//! What people decided about commands and tools, for good.
//!
//! A [`Decision`] is a [`Rule`] of an agent, or of all of them, and a count of how often it was used. This
//! crate keeps them and understands none of them: whether a rule covers a command or a call is for others to say.

use std::fmt;
use std::path::PathBuf;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::SessionError;
use crate::bounds::{MAX_AGENT_BYTES, MAX_RULE_BYTES};
use crate::error::cut;
use crate::prepare;

/// A place for decisions. [`MemoryStore`](crate::MemoryStore) and
/// [`SqliteStore`](crate::SqliteStore) implement it.
///
/// What a store must uphold:
///
/// - A decision is kept for good before it is returned, whoever else decides at the same time, until it
///   is revoked.
/// - The same rule of the same agent is there once.
/// - No two decisions have the same id, and an id never changes.
/// - What cannot be read is an error. It is never left out: a list that lacks a decision, and a store
///   that lacks all of them, look alike to whoever asks.
#[async_trait]
pub trait DecisionStore: fmt::Debug + Send + Sync {
    /// Decisions, the oldest first: those that hold for an agent, which are its own and those for all
    /// agents, or all there are.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    async fn decisions(&self, agent: Option<&str>) -> Result<Vec<Decision>, SessionError>;

    /// Adds a rule, of an agent or of all of them. One that is there already is given as it is.
    ///
    /// # Errors
    ///
    /// When it is too large, there are [`MAX_DECISIONS`](crate::MAX_DECISIONS), or it cannot be stored.
    async fn decide(&self, agent: Option<&str>, rule: Rule) -> Result<Decision, SessionError>;

    /// Takes a decision back, also one that cannot be read. Gives whether it was there.
    ///
    /// # Errors
    ///
    /// When it cannot be stored.
    async fn revoke(&self, id: &str) -> Result<bool, SessionError>;

    /// Counts that a decision let a command run, at a time in milliseconds since 1970. The command is kept
    /// as it is given, cut to [`MAX_SHOWN_CHARS`](crate::MAX_SHOWN_CHARS), so secrets in it must be masked.
    /// Gives whether the decision still is there: what was revoked in the meantime lets nothing run.
    ///
    /// # Errors
    ///
    /// When it cannot be stored.
    async fn used(&self, id: &str, time: u64, command: &str) -> Result<bool, SessionError>;
}

/// What somebody decided, and how often it was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Decision {
    /// What it is known by: eight hexadecimal digits.
    pub id: String,
    /// Whose commands it is about; of all agents if there is none.
    pub agent: Option<String>,
    /// What may run.
    #[serde(flatten)]
    pub rule: Rule,
    /// When it was decided, in milliseconds since 1970.
    pub created: u64,
    /// How often it let a command run.
    pub uses: u64,
    /// When it last did, in milliseconds since 1970.
    pub last_used: Option<u64>,
    /// Which command that was.
    pub last_command: Option<String>,
}

/// What may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Rule {
    /// Programs, by a pattern.
    Pattern {
        /// A name, or a path with wildcards.
        pattern: String,
        /// What the arguments must be: a regular expression.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<String>,
        /// Whether any arguments are allowed, also those that nobody knows to be harmless. Rules of earlier
        /// versions lack it, and allow no more than they say.
        #[serde(default, skip_serializing_if = "is_false")]
        any_arguments: bool,
        /// The folder it must run in, or below.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        directory: Option<PathBuf>,
    },
    /// One command, exactly.
    Exact {
        /// The file of the program.
        program: PathBuf,
        /// The digest of what was in it, in hexadecimal.
        sha256: String,
        /// The program as it was written, and its arguments.
        words: Vec<String>,
        /// Where it ran.
        directory: PathBuf,
        /// Variables that were set for it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        variables: Vec<(String, String)>,
    },
    /// A tool of another server, as long as its definition stays as it was.
    Tool {
        /// What the server is called here.
        server: String,
        /// What the server calls the tool.
        tool: String,
        /// The digest of the definition, in hexadecimal.
        sha256: String,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Decision {
    /// One that was just made.
    pub(crate) fn made(agent: Option<&str>, rule: Rule, time: u64) -> Self {
        let id = Uuid::now_v7().simple().to_string();
        // The last digits are by chance; the first are the time.
        let id = id[id.len() - ID_DIGITS..].to_owned();
        let agent = agent.map(str::to_owned);
        Self { id, agent, rule, created: time, uses: 0, last_used: None, last_command: None }
    }

    pub(crate) fn holds_for(&self, agent: Option<&str>) -> bool {
        agent.is_none() || self.agent.is_none() || self.agent.as_deref() == agent
    }
}

/// Short enough to be typed. A store makes another id if one is taken.
const ID_DIGITS: usize = 8;

/// Judges a rule and gives its JSON, which is the same for the same rule.
pub(crate) fn prepare(agent: Option<&str>, rule: &Rule) -> Result<String, SessionError> {
    match agent {
        Some("") => return Err(SessionError::Id { of: "agent", rule: "it is empty" }),
        Some(agent) => prepare::within("the name of the agent", agent.len(), MAX_AGENT_BYTES)?,
        None => {}
    }
    prepare::written("the decision", rule, MAX_RULE_BYTES)
}

/// A command as it is kept with a decision.
pub(crate) fn shown(command: &str) -> String {
    cut(command.chars(), crate::bounds::MAX_SHOWN_CHARS)
}

/// Judges a time that is to be stored.
pub(crate) fn time(time: u64) -> Result<u64, SessionError> {
    let fault = || format!("{time} is no time");
    i64::try_from(time)
        .map_err(|_| SessionError::Unstorable { what: "the use of a decision", fault: fault() })?;
    Ok(time)
}
