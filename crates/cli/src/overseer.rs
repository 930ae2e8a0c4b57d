//! Who decides about commands on this machine and tools of other servers: what people allowed, and the person at the
//! terminal.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use metier_agent::foreign::{AllowedTools, PinnedTool, ToolPolicy};
use metier_agent::host::{
    Approver, ApproverError, Decision, Question, rule_of, rule_of_tool, take_decisions,
    take_tool_decisions,
};
use metier_approval::{ArgumentRule, Entry, EntryCoverage, Pinned, Policy};
use metier_serve::mcp::server::person;
use metier_session::{DecisionStore, SessionError, SqliteStore};
use metier_skill::library::Snapshot;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, tcflush};
use thiserror::Error;

use crate::context::Context;
use crate::failure::Failure;
use crate::mcp;
use crate::output::{Output, style};
use crate::sheet;

/// How entries are known that hold for this run of the program; a number follows.
const YES_TO: &str = "yes-to";
/// How often is looked whether an answer is still wanted, in nanoseconds.
const LOOK: i64 = 100_000_000;
/// Longest answer that is read, in bytes.
const MAX_ANSWER: usize = 64;

/// Decides about commands of an agent on this machine.
#[derive(Debug)]
pub(crate) struct Overseer {
    context: Context,
    decisions: Arc<SqliteStore>,
    /// What was allowed for this run of the program.
    entries: Vec<Entry>,
    /// Tools of other servers that were.
    tools: Vec<AllowedTools>,
    /// Who can be asked.
    asking: Asking,
}

/// The reason for which it is not known what people decided.
#[derive(Debug, Error)]
enum OverseerError {
    /// The configuration cannot be used.
    #[error("{0}")]
    Configuration(Failure),
    /// Decisions about commands cannot be read.
    #[error("what people decided about commands cannot be read: {0}")]
    Commands(#[source] SessionError),
    /// Decisions about tools cannot be read.
    #[error("what people decided about tools cannot be read: {0}")]
    Tools(#[source] SessionError),
}

/// Whether a person can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asking {
    /// If there is a terminal.
    AtTerminal,
    /// Through the client whose call wants to run the command, if it can.
    AtClient,
    /// Somebody else reads what is typed, or nobody does.
    Never,
}

impl Overseer {
    /// Gets ready; what `--yes-to` names is allowed without asking.
    ///
    /// # Errors
    ///
    /// When something of that is no pattern.
    pub(crate) fn new(
        context: &Context,
        decisions: Arc<SqliteStore>,
        yes_to: &[String],
        asking: Asking,
    ) -> Result<Self, Failure> {
        let (mut entries, mut tools) = (Vec::new(), Vec::new());
        for (text, number) in yes_to.iter().zip(1..) {
            let id = format!("{YES_TO}:{number}");
            if let Some(named) = mcp::named_tool(text) {
                let (server, tool) = named?;
                if !context.mcp_names().has(&server) {
                    let text =
                        format!("`--yes-to {text}`: no tools of a server `{server}` are used");
                    context.output.note(style::WARN, "note: ", &text);
                }
                tools.push(AllowedTools { id, server, lists: vec![vec![tool]] });
                continue;
            }
            let (program, arguments) = match text.split_once(char::is_whitespace) {
                Some((program, arguments)) => (program, Some(arguments.trim())),
                None => (text.as_str(), None),
            };
            let arguments = match arguments.filter(|it| !it.is_empty()) {
                Some(pattern) => ArgumentRule::Like(pattern.to_owned()),
                None => ArgumentRule::Known,
            };
            let pattern = context.program_pattern(program)?;
            let entry = Entry { id, pattern, arguments, directory: None };
            if entry.is_too_wild() {
                return Err(Failure::usage(format!(
                    "`--yes-to {text}`: the program has too many wildcards, or is too long"
                ))
                .hint("write a shorter pattern, with fewer `*`"));
            }
            if !entry.is_readable() {
                return Err(Failure::usage(format!(
                    "`--yes-to {text}`: what follows the program is no regular expression"
                ))
                .hint("it must match all arguments together, such as `status( --short)?`"));
            }
            if let EntryCoverage::Nothing { because } = context.coverage(&entry)? {
                return Err(Failure::usage(format!("`--yes-to {text}` allows nothing: {because}"))
                    .hint(format!("`--yes-to '{program} .*'` allows any arguments")));
            }
            entries.push(entry);
        }
        let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
        let is_alone = asking == Asking::AtTerminal && !is_terminal;
        let asking = if is_alone { Asking::Never } else { asking };
        Ok(Self { context: context.clone(), decisions, entries, tools, asking })
    }
}

impl From<OverseerError> for ApproverError {
    fn from(error: OverseerError) -> Self {
        Self::new(error)
    }
}

#[async_trait]
impl Approver for Overseer {
    async fn policy(&self, agent: &str, skills: &Snapshot) -> Result<Policy, ApproverError> {
        let policy = self.context.configured_policy(agent, skills);
        let mut policy = policy.map_err(OverseerError::Configuration)?;
        let decisions = self.decisions.decisions(Some(agent)).await;
        let decisions = decisions.map_err(OverseerError::Commands)?;
        take_decisions(&mut policy, decisions);
        policy.entries.extend(self.entries.iter().cloned());
        Ok(policy)
    }

    async fn ask(&self, question: &Question) -> Option<Decision> {
        let sheet = question.shown().ok()?;
        let may_keep = sheet.may_keep;
        match self.asking {
            Asking::Never => return None,
            Asking::AtClient => {
                // What cannot be told from another question could be taken for it.
                let Some(digest) = question.digest() else { return Some(Decision::Deny) };
                let text = sheet.to_string();
                return person::ask(person::Form { text, may_keep, digest }).await;
            }
            Asking::AtTerminal => sheet::print(&sheet, self.context.output),
        }
        let is_unwanted = Arc::new(AtomicBool::new(false));
        // Whoever stops waiting takes no answer away from whoever reads next.
        let guard = Unwanted { is_unwanted: Arc::clone(&is_unwanted), output: self.context.output };
        let output = self.context.output;
        let asking = tokio::task::spawn_blocking(move || answer(output, may_keep, &is_unwanted));
        // Nobody who could answer is nobody who says yes.
        let decision = asking.await.ok().flatten().unwrap_or(Decision::Deny);
        guard.done();
        Some(decision)
    }

    async fn remember(&self, agent: &str, commands: &[Pinned]) -> Result<(), ApproverError> {
        for command in commands {
            let kept = self.decisions.decide(Some(agent), rule_of(command.clone())).await;
            kept.map_err(ApproverError::new)?;
        }
        Ok(())
    }

    async fn tool_policy(&self, agent: &str) -> Result<ToolPolicy, ApproverError> {
        let mut policy = self.context.configured_tool_policy(agent);
        let decisions = self.decisions.decisions(Some(agent)).await;
        let decisions = decisions.map_err(OverseerError::Tools)?;
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

/// Waits for an answer that can be understood; none if nobody waits for it any more.
fn answer(output: Output, may_keep: bool, is_unwanted: &AtomicBool) -> Option<Decision> {
    // What was typed before the question is no answer to it.
    let _not_a_terminal = tcflush(io::stdin(), QueueSelector::IFlush);
    loop {
        let always = if may_keep { ", [a]lways" } else { "" };
        output.ask(&format!("[o]nce{always} or [d]eny? "));
        match read_line(is_unwanted)?.trim().to_lowercase().as_str() {
            "o" | "once" | "y" | "yes" => return Some(Decision::Once),
            "a" | "always" if may_keep => return Some(Decision::Always),
            "d" | "deny" | "n" | "no" => return Some(Decision::Deny),
            _ => {}
        }
    }
}

/// Says that nobody waits for the answer any more, unless it came.
struct Unwanted {
    is_unwanted: Arc<AtomicBool>,
    output: Output,
}

impl Unwanted {
    fn done(self) {
        self.is_unwanted.store(true, Ordering::Relaxed);
    }
}

impl Drop for Unwanted {
    fn drop(&mut self) {
        if !self.is_unwanted.swap(true, Ordering::Relaxed) {
            // What comes next begins on a line of its own.
            self.output.ask("\n");
        }
    }
}

/// A line of the terminal; none at its end, or when nobody waits any more.
fn read_line(is_unwanted: &AtomicBool) -> Option<String> {
    let stdin = io::stdin();
    let mut line = Vec::new();
    loop {
        let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
        let wait = Timespec { tv_sec: 0, tv_nsec: LOOK };
        let ready = poll(&mut polled, Some(&wait)).unwrap_or_default();
        if is_unwanted.load(Ordering::Relaxed) {
            return None;
        }
        if ready == 0 {
            continue;
        }
        // Not through a buffer, which would take more than this line.
        let mut byte = [0];
        match rustix::io::read(&stdin, &mut byte) {
            Ok(0) | Err(_) => return None,
            Ok(_) if byte[0] == b'\n' => return String::from_utf8(line).ok(),
            Ok(_) if line.len() < MAX_ANSWER => line.push(byte[0]),
            Ok(_) => {}
        }
    }
}
