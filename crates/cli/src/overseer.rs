//! Who decides about commands on this machine: what people allowed, and the person at the terminal.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use metier_agent::host::{Approver, Decision, Question, rule_of, take_decisions};
use metier_approval::{Entry, Pinned, Policy, Shown, quote, shown, shown_text};
use metier_session::{DecisionStore, SqliteStore};
use metier_skill::library::Snapshot;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, tcflush};

use crate::context::Context;
use crate::failure::Failure;
use crate::output::{plain, style, styled};

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
    ) -> Result<Self, Failure> {
        let entries = yes_to.iter().zip(1..).map(|(text, number)| {
            let (program, arguments) = match text.split_once(char::is_whitespace) {
                Some((program, arguments)) => (program, Some(arguments.trim())),
                None => (text.as_str(), None),
            };
            let arguments = arguments.filter(|it| !it.is_empty()).map(str::to_owned);
            let (id, pattern) = (format!("{YES_TO}:{number}"), context.program_pattern(program)?);
            let entry = Entry { id, pattern, arguments, directory: None };
            if !entry.is_readable() {
                return Err(Failure::usage(format!(
                    "`--yes-to {text}`: what follows the program is no regular expression"
                ))
                .hint("it must match all arguments together, such as `status( --short)?`"));
            }
            Ok(entry)
        });
        let entries = entries.collect::<Result<_, Failure>>()?;
        Ok(Self { context: context.clone(), decisions, entries })
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
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return None;
        }
        self.context.output.insist(&self.asked(question)?);
        let may_keep = question.offer.is_some();
        let is_unwanted = Arc::new(AtomicBool::new(false));
        // Whoever stops waiting takes no answer away from whoever reads next.
        let _guard = Unwanted(Arc::clone(&is_unwanted));
        let output = self.context.output;
        let asking = tokio::task::spawn_blocking(move || {
            // What was typed before the question is no answer to it.
            let _not_a_terminal = tcflush(io::stdin(), QueueSelector::IFlush);
            loop {
                let always = if may_keep { ", [a]lways" } else { "" };
                output.ask(&format!("[o]nce{always} or [d]eny? "));
                let answer = read_line(&is_unwanted)?;
                match answer.trim().to_lowercase().as_str() {
                    "o" | "once" | "y" | "yes" => return Some(Decision::Once),
                    "a" | "always" if may_keep => return Some(Decision::Always),
                    "d" | "deny" | "n" | "no" => return Some(Decision::Deny),
                    _ => {}
                }
            }
        });
        // Nobody who could answer is nobody who says yes.
        Some(asking.await.ok().flatten().unwrap_or(Decision::Deny))
    }

    async fn remember(&self, agent: &str, commands: &[Pinned]) -> Result<(), String> {
        for command in commands {
            let kept = self.decisions.decide(Some(agent), rule_of(command.clone())).await;
            kept.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    async fn used(&self, ids: &[&str], command: &str) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(now.as_millis()).unwrap_or_default();
        // Those of settings and flags have a colon, and nobody counts them.
        for id in ids.iter().filter(|id| !id.contains(':')) {
            if !self.decisions.used(id, now, command).await.unwrap_or_default() {
                return false;
            }
        }
        true
    }
}

impl Overseer {
    /// The question as a person reads it; none if it is too long to be decided about.
    fn asked(&self, question: &Question) -> Option<String> {
        let of = match &question.plan {
            Some(plan) => shown(plan),
            None => shown_text(&question.command),
        };
        let Shown { lines, directory, programs, is_masked, is_escaped } = of.ok()?;
        let mut text = styled(
            style::HEADING,
            format!("may `{}` run this on your machine?", plain(&question.tool)),
        );
        let mut row = |name: &str, value: &str| {
            text.push_str(&format!("\n  {} {value}", styled(style::DIM, format!("{name:<5}"))));
        };
        for line in &lines {
            row("run", &plain(line));
        }
        row("in", &plain(&directory.unwrap_or_else(|| question.directory.clone())));
        for (name, value) in &question.variables {
            if question.plan.is_none() {
                row("with", &plain(&format!("{name}={}", quote(value))));
            }
        }
        for program in &programs {
            row("is", &plain(program));
        }
        if question.plan.is_none() {
            row("how", "by a shell, which reads it anew: what it does cannot be told in advance");
        }
        if is_masked {
            row("note", "what looks like a secret is masked here, and not when it runs");
        }
        if is_escaped {
            row("note", "characters that cannot be seen are written as \\u{…}");
        }
        row("why", &plain(&question.reason));
        if question.offer.is_some() {
            row(
                "[a]",
                "keeps this: the same words in the same folder, while the program is the same file",
            );
        }
        Some(text)
    }
}

/// Set when nobody waits for the answer any more.
struct Unwanted(Arc<AtomicBool>);

impl Drop for Unwanted {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
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
