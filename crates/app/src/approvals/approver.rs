//! Decisions about commands on this machine and tools of servers, from the configuration and what people decided before.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use metier_agent::foreign::{AllowedTools, PinnedTool, ToolPolicy};
use metier_agent::host::{
    Approver, ApproverError, rule_of, rule_of_tool, take_decisions, take_tool_decisions,
};
use metier_approval::{ArgumentRule, Entry, EntryCoverage, Pinned, Policy};
use metier_session::{DecisionStore, SessionError, SqliteStore};
use metier_skill::library::Snapshot;
use thiserror::Error;

use crate::app::App;
use crate::error::AppError;
use crate::reporter::Notice;
use crate::servers;

/// The prefix of ids of entries that hold as long as the approver; a number follows.
const PREAPPROVED: &str = "yes-to";

/// Decides about commands of an agent on this machine, by the configuration, what people decided before, and what was
/// allowed in advance.
#[derive(Debug)]
pub struct DecisionApprover {
    app: App,
    decisions: Arc<SqliteStore>,
    /// The programs that were allowed in advance.
    entries: Vec<Entry>,
    /// The tools of servers that were allowed in advance.
    tools: Vec<AllowedTools>,
}

/// A pattern of commands to allow in advance that cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{pattern}` cannot be allowed in advance")]
pub struct PreapprovalError {
    /// The pattern as it was written.
    pub pattern: String,
    /// The program of the pattern.
    pub program: String,
    /// The fault in it.
    pub source: PreapprovalFault,
}

/// A fault in a pattern of commands to allow in advance.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PreapprovalFault {
    /// The program has too many wildcards, or is too long.
    #[error("the program has too many wildcards, or is too long")]
    TooWild,
    /// The text after the program is not a regular expression.
    #[error("what follows the program is no regular expression")]
    Unreadable,
    /// It covers nothing.
    #[error("it allows nothing: {because}")]
    CoversNothing {
        /// The reason.
        because: String,
    },
}

/// The decisions of people cannot be read.
#[derive(Debug, Error)]
#[error("what people decided about {subject} cannot be read")]
struct DecisionsUnreadable {
    subject: &'static str,
    source: SessionError,
}

impl DecisionApprover {
    /// Gets ready; what `preapproved` names is allowed without asking: `PROGRAM`, `PROGRAM REGEX` or `mcp:SERVER/TOOL`.
    ///
    /// # Errors
    ///
    /// When something of that is no pattern.
    pub fn new(
        app: &App,
        decisions: Arc<SqliteStore>,
        preapproved: &[String],
    ) -> Result<Self, AppError> {
        let (mut entries, mut tools) = (Vec::new(), Vec::new());
        for (text, number) in preapproved.iter().zip(1..) {
            let id = format!("{PREAPPROVED}:{number}");
            if let Some(named) = servers::named_tool(text) {
                let (server, tool) = named?;
                if !app.mcp_names().has(&server) {
                    let (pattern, server) = (text.clone(), server.clone());
                    app.reporter.notice(&Notice::UnknownToolServer { pattern, server });
                }
                tools.push(AllowedTools { id, server, lists: vec![vec![tool]] });
                continue;
            }
            entries.push(entry(app, id, text)?);
        }
        Ok(Self { app: app.clone(), decisions, entries, tools })
    }
}

/// Reads a pattern of commands to allow in advance.
fn entry(app: &App, id: String, text: &str) -> Result<Entry, AppError> {
    let (program, arguments) = match text.split_once(char::is_whitespace) {
        Some((program, arguments)) => (program, Some(arguments.trim())),
        None => (text, None),
    };
    let arguments = match arguments.filter(|it| !it.is_empty()) {
        Some(pattern) => ArgumentRule::Like(pattern.to_owned()),
        None => ArgumentRule::Known,
    };
    let pattern = app.program_pattern(program)?;
    let entry = Entry { id, pattern, arguments, directory: None };
    let fault = if entry.is_too_wild() {
        Some(PreapprovalFault::TooWild)
    } else if !entry.is_readable() {
        Some(PreapprovalFault::Unreadable)
    } else {
        match app.coverage(&entry)? {
            EntryCoverage::Nothing { because } => Some(PreapprovalFault::CoversNothing { because }),
            EntryCoverage::KnownUses { beyond } => {
                let pattern = text.to_owned();
                app.reporter.notice(&Notice::HarmlessUsesAllowed { pattern, beyond });
                None
            }
            _ => None,
        }
    };
    match fault {
        None => Ok(entry),
        Some(source) => {
            let (pattern, program) = (text.to_owned(), program.to_owned());
            Err(PreapprovalError { pattern, program, source }.into())
        }
    }
}

#[async_trait]
impl Approver for DecisionApprover {
    async fn policy(&self, agent: &str, skills: &Snapshot) -> Result<Policy, ApproverError> {
        let mut policy = self.app.configured_policy(agent, skills).map_err(ApproverError::new)?;
        let decisions = self.decisions.decisions(Some(agent)).await;
        let decisions = decisions.map_err(|source| {
            ApproverError::new(DecisionsUnreadable { subject: "commands", source })
        })?;
        take_decisions(&mut policy, decisions);
        policy.entries.extend(self.entries.iter().cloned());
        Ok(policy)
    }

    async fn remember(&self, agent: &str, commands: &[Pinned]) -> Result<(), ApproverError> {
        for command in commands {
            let kept = self.decisions.decide(Some(agent), rule_of(command.clone())).await;
            kept.map_err(ApproverError::new)?;
        }
        Ok(())
    }

    async fn tool_policy(&self, agent: &str) -> Result<ToolPolicy, ApproverError> {
        let mut policy = self.app.configured_tool_policy(agent);
        let decisions = self.decisions.decisions(Some(agent)).await;
        let decisions = decisions.map_err(|source| {
            ApproverError::new(DecisionsUnreadable { subject: "tools", source })
        })?;
        take_tool_decisions(&mut policy, decisions);
        policy.allowed.extend(self.tools.iter().cloned());
        Ok(policy)
    }

    async fn remember_tool(&self, agent: &str, tool: &PinnedTool) -> Result<(), ApproverError> {
        let kept = self.decisions.decide(Some(agent), rule_of_tool(tool.clone())).await;
        kept.map(drop).map_err(ApproverError::new)
    }

    async fn used(&self, ids: &[&str], command: &str) -> Result<bool, ApproverError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_millis()).unwrap_or_default();
        // Those of settings and flags have a colon, and nobody counts them.
        for id in ids.iter().filter(|id| !id.contains(':')) {
            let still_holds = self.decisions.used(id, now, command).await;
            if !still_holds.map_err(ApproverError::new)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
