//! Asks the person at the terminal about commands and tools that nothing allows.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use metier_agent::host::{Decision, Prompter, Question, Sheet};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, tcflush};

use crate::output::{Output, style, styled};

/// How often is looked whether an answer is still wanted, in nanoseconds.
const LOOK: i64 = 100_000_000;
/// Longest answer that is read, in bytes.
const MAX_ANSWER: usize = 64;
/// The key for an answer for good, which stands for the word at the terminal.
const ALWAYS: &str = "[a]";

/// Asks at the terminal, where there is one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TerminalPrompter {
    output: Output,
    /// Whether a person can answer. Otherwise something else reads what is typed, or nothing does.
    can_ask: bool,
}

impl TerminalPrompter {
    /// Asks if there is a terminal.
    pub(crate) fn new(output: Output) -> Self {
        let can_ask = io::stdin().is_terminal() && io::stderr().is_terminal();
        Self { output, can_ask }
    }

    /// Never asks.
    pub(crate) fn silent(output: Output) -> Self {
        Self { output, can_ask: false }
    }
}

#[async_trait]
impl Prompter for TerminalPrompter {
    async fn ask(&self, question: &Question) -> Option<Decision> {
        let sheet = question.shown().ok()?;
        if !self.can_ask {
            return None;
        }
        print(&sheet, self.output);
        let (output, may_keep) = (self.output, sheet.may_keep);
        let is_unwanted = Arc::new(AtomicBool::new(false));
        // Whoever stops waiting takes no answer away from whoever reads next.
        let guard = Unwanted { is_unwanted: Arc::clone(&is_unwanted), output };
        let asking = tokio::task::spawn_blocking(move || answer(output, may_keep, &is_unwanted));
        // Nobody who could answer is nobody who says yes.
        let decision = asking.await.ok().flatten().unwrap_or(Decision::Deny);
        guard.done();
        Some(decision)
    }
}

/// Prints a question: every row has a word that says what it is.
fn print(sheet: &Sheet, output: Output) {
    output.insist(&styled(style::HEADING, &sheet.heading));
    for (name, text) in &sheet.rows {
        let name = if *name == "always" { ALWAYS } else { name };
        output.row(style::DIM, &format!("  {name:<6}"), text);
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
