//! Who decides about commands on this machine and tools of other servers: what people allowed, and the person at the
//! terminal.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use metier_agent::foreign::{AllowedTools, PinnedTool, ToolPolicy};
use metier_agent::host::{
    Approver, CommandQuestion, Decision, Question, ToolQuestion, rule_of, rule_of_tool,
    take_decisions, take_tool_decisions,
};
use metier_approval::{Entry, Pinned, Policy, Shown, shown, shown_text};
use metier_session::{DecisionStore, SqliteStore};
use metier_skill::library::Snapshot;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, tcflush};

use crate::context::Context;
use crate::failure::Failure;
use crate::mcp;
use crate::output::{Output, plain, style, styled};

/// How entries are known that hold for this run of the program; a number follows.
const YES_TO: &str = "yes-to";
/// How often is looked whether an answer is still wanted, in nanoseconds.
const LOOK: i64 = 100_000_000;
/// What is said where something is masked.
const MASKED: &str = "what looks like a secret is masked here, and not when it runs";
/// What is said where something is written out.
const ESCAPED: &str = "characters that cannot be seen are written as \\u{…}";
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
    /// Whether there is a person at a terminal, whom nobody else reads from.
    can_ask: bool,
}

/// Whether a person can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asking {
    /// If there is a terminal.
    AtTerminal,
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
                tools.push(AllowedTools { id, server, lists: vec![vec![tool]] });
                continue;
            }
            let (program, arguments) = match text.split_once(char::is_whitespace) {
                Some((program, arguments)) => (program, Some(arguments.trim())),
                None => (text.as_str(), None),
            };
            let arguments = arguments.filter(|it| !it.is_empty()).map(str::to_owned);
            let pattern = context.program_pattern(program)?;
            let entry = Entry { id, pattern, arguments, directory: None };
            if entry.is_too_wild() {
                return Err(Failure::usage(format!(
                    "`--yes-to {text}`: the program has too many wildcards, or is too long"
                )));
            }
            if !entry.is_readable() {
                return Err(Failure::usage(format!(
                    "`--yes-to {text}`: what follows the program is no regular expression"
                ))
                .hint("it must match all arguments together, such as `status( --short)?`"));
            }
            entries.push(entry);
        }
        let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
        let can_ask = asking == Asking::AtTerminal && is_terminal;
        Ok(Self { context: context.clone(), decisions, entries, tools, can_ask })
    }
}

#[async_trait]
impl Approver for Overseer {
    async fn policy(&self, agent: &str, skills: &Snapshot) -> Result<Policy, String> {
        let policy = self.context.configured_policy(agent, skills);
        let mut policy = policy.map_err(|failure| failure.to_string())?;
        let decisions = self.decisions.decisions(Some(agent)).await;
        let decisions = decisions.map_err(|error| {
            format!("what people decided about commands cannot be read: {error}")
        })?;
        take_decisions(&mut policy, decisions);
        policy.entries.extend(self.entries.iter().cloned());
        Ok(policy)
    }

    async fn ask(&self, question: &Question) -> Option<Decision> {
        if !self.can_ask {
            return None;
        }
        let may_keep = match question {
            Question::Command(question) => {
                self.show(question)?;
                question.offer.is_some()
            }
            Question::Tool(question) => {
                self.show_tool(question)?;
                question.offer.is_some()
            }
        };
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

    async fn remember(&self, agent: &str, commands: &[Pinned]) -> Result<(), String> {
        for command in commands {
            let kept = self.decisions.decide(Some(agent), rule_of(command.clone())).await;
            kept.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    async fn tool_policy(&self, agent: &str) -> Result<ToolPolicy, String> {
        let policy = self.context.configured_tool_policy(agent);
        let mut policy = policy.map_err(|failure| failure.to_string())?;
        let decisions = self.decisions.decisions(Some(agent)).await;
        let decisions = decisions
            .map_err(|error| format!("what people decided about tools cannot be read: {error}"))?;
        take_tool_decisions(&mut policy, decisions);
        policy.allowed.extend(self.tools.iter().cloned());
        Ok(policy)
    }

    async fn remember_tool(&self, agent: &str, tool: &PinnedTool) -> Result<(), String> {
        let kept = self.decisions.decide(Some(agent), rule_of_tool(tool.clone())).await;
        kept.map(drop).map_err(|error| error.to_string())
    }

    async fn used(&self, ids: &[&str], command: &str) -> Result<bool, String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_millis()).unwrap_or_default();
        // Those of settings and flags have a colon, and nobody counts them.
        for id in ids.iter().filter(|id| !id.contains(':')) {
            let still_holds = self.decisions.used(id, now, command).await;
            if !still_holds.map_err(|error| error.to_string())? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Overseer {
    /// Shows a question; nothing if it is too long to be decided about.
    fn show(&self, question: &CommandQuestion) -> Option<()> {
        let of = match &question.plan {
            Some(plan) => shown(plan),
            None => shown_text(&question.command),
        };
        let Shown { lines, directory, programs, mut is_masked, mut is_escaped } = of.ok()?;
        let mut rows: Vec<(&str, String)> = lines.into_iter().map(|line| ("run", line)).collect();
        rows.push(("in", directory.unwrap_or_else(|| question.directory.clone())));
        let variables = question.variables.iter().map(|(name, it)| format!("{name}={it}"));
        let variables: Vec<_> = variables.map(|text| ("with", text)).collect();
        let given = question.stdin.iter().map(|text| ("reads", text.clone()));
        for (name, text) in variables.into_iter().chain(given) {
            let shown = shown_text(&text).ok()?;
            is_masked |= shown.is_masked;
            is_escaped |= shown.is_escaped;
            rows.extend(shown.lines.into_iter().map(|line| (name, line)));
        }
        rows.extend(programs.into_iter().map(|program| ("file", program)));
        let by_shell = "a shell reads it anew: what it does cannot be told in advance";
        let notes = [
            (question.plan.is_none(), by_shell),
            (question.is_talked_to, "the model can type into it while it runs"),
            (is_masked, MASKED),
            (is_escaped, ESCAPED),
        ];
        let notes = notes.into_iter().filter(|(is_so, _)| *is_so);
        rows.extend(notes.map(|(_, text)| ("note", text.to_owned())));
        rows.push(("why", question.reason.clone()));
        let kept = question.offer.iter().flatten();
        rows.extend(kept.map(|it| ("[a]", format!("keeps {}", kept_words(&question.agent, it)))));
        let heading = format!("may `{}` run this on your machine?", plain(&question.tool));
        self.print(&heading, &rows);
        Some(())
    }

    /// The same for a tool of another server.
    fn show_tool(&self, question: &ToolQuestion) -> Option<()> {
        let PinnedTool { server, tool, .. } = &question.tool;
        let Shown { lines, is_masked, is_escaped, .. } = shown_text(&question.arguments).ok()?;
        let mut rows = vec![("call", safe_line(tool)?)];
        rows.extend(lines.into_iter().map(|line| ("with", line)));
        let notes = [(is_masked, MASKED), (is_escaped, ESCAPED)];
        let notes = notes.into_iter().filter(|(is_so, _)| *is_so);
        rows.extend(notes.map(|(_, text)| ("note", text.to_owned())));
        rows.push(("why", question.reason.clone()));
        rows.extend(question.offer.iter().map(|_| {
            let agent = &question.agent;
            let text = format!("keeps that for agent {agent}, with any arguments, as long as the server describes the tool as it does now");
            ("[a]", text)
        }));
        self.print(&format!("may this tool of the server `{server}` be called?"), &rows);
        Some(())
    }

    fn print(&self, heading: &str, rows: &[(&str, String)]) {
        let output = &self.context.output;
        output.insist(&styled(style::HEADING, heading));
        for (name, text) in rows {
            output.row(style::DIM, &format!("  {name:<6}"), text);
        }
    }
}

/// A name that a stranger chose, with nothing hidden.
fn safe_line(text: &str) -> Option<String> {
    shown_text(text).ok().map(|shown| shown.lines.join("\\n"))
}

/// What would be kept, in words.
fn kept_words(agent: &str, pinned: &Pinned) -> String {
    let text = shown_text(&pinned.command.to_string()).map(|it| it.lines.join(" "));
    let (program, folder) = (pinned.program.display(), pinned.directory.display());
    let text = text.unwrap_or_default();
    format!("`{text}` for agent {agent}, in {folder}, as long as {program} is not changed")
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
