//! What a person sees while a task is done: what the model says, a line for each thing that happened, and
//! one at the bottom of the terminal for what is going on.

use std::collections::HashMap;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use metier_agent::agent::Watcher;
use metier_agent::{Progress as Step, agent};
use metier_agent::{ToolResult, dispatch, fence};
use metier_session::content::{AssistantMessage, Call};
use metier_session::{Content, Event};
use metier_workspace::executor::Teller;
use serde_json::Value;

use super::calls::{Line, coded, commanded, decided, details, doing, happened};
use super::speech::{Left, Speech};
use crate::context::Context;
use crate::output::{Output, Status, plain_block, style, styled};
use crate::reporter::preparing_words;

/// Shows what happens.
#[derive(Debug)]
pub(in crate::commands) struct Progress {
    output: Output,
    model: String,
    has_details: bool,
    status: Status,
    known: Mutex<Known>,
}

/// What is known of the turn.
#[derive(Debug)]
struct Known {
    /// Calls that have not been answered, by id.
    calls: HashMap<String, Call>,
    /// What the model says, where that is shown as it comes.
    speech: Option<Speech>,
    /// Whether what it says is a summary, for itself.
    is_summary: bool,
    /// Whether the line above tells what happened; what the model says then stands apart.
    is_below_line: bool,
}

impl Progress {
    /// Gets ready for a task to begin.
    ///
    /// With `details` all that tools answered is shown, else a line for each call.
    pub(in crate::commands) fn begin(context: &Context, model: &str, details: bool) -> Self {
        let output = context.output;
        let is_live = io::stdout().is_terminal() && !output.is_quiet();
        let speech = is_live.then(|| Speech::new(output.look()));
        Self {
            output,
            model: model.to_owned(),
            has_details: details,
            status: Status::begin(output),
            known: Mutex::new(Known {
                calls: HashMap::new(),
                speech,
                is_summary: false,
                is_below_line: false,
            }),
        }
    }

    /// What is told of everything that happens.
    pub(in crate::commands) fn watcher(self: &Arc<Self>) -> Watcher {
        let this = Arc::clone(self);
        Arc::new(move |step: &agent::Progress<'_>| this.show(step))
    }

    /// What is told what has to be done before a command can run.
    pub(in crate::commands) fn teller(self: &Arc<Self>) -> Teller {
        let this = Arc::clone(self);
        Arc::new(move |preparing| this.status.instead(preparing_words(preparing)))
    }

    /// Says what is going on, and nothing else.
    pub(in crate::commands) fn wait(&self, step: &Step<'_>) {
        match step {
            Step::Connecting => self.status.set("asking servers for their tools"),
            Step::Asking => {
                let doing = if self.known().is_summary { "summarises" } else { "asking" };
                self.status.set(&format!("{doing} {}", self.model));
            }
            Step::Reasoning(_) => self.status.follow(&format!("{} thinks", self.model)),
            Step::Started(call) => self.status.set(&doing(call)),
            _ => {}
        }
    }

    /// Whether an answer has been shown as it came.
    pub(in crate::commands) fn is_live(&self) -> bool {
        self.known().speech.is_some()
    }

    /// Shows what was broken off, and leaves the terminal as it was.
    pub(in crate::commands) fn end(&self) {
        self.status.end();
        let left = self.known().speech.as_mut().map(Speech::break_off);
        self.print(&left.unwrap_or_default());
    }

    fn show(&self, step: &Step<'_>) {
        self.wait(step);
        match step {
            Step::Summarising => self.known().is_summary = true,
            Step::Asking => self.known().speech.iter_mut().for_each(Speech::begin),
            Step::Text(piece) => self.said(piece),
            Step::Started(call) => {
                self.known().calls.insert(call.id.clone(), (*call).clone());
            }
            Step::Retrying(cause) => {
                let is_void = self.known().speech.as_mut().is_some_and(Speech::void);
                let rest = if is_void { "; what was said above is void" } else { "" };
                let text = format!("{cause}{rest}");
                self.say(&Line { style: style::WARN, word: "again: ", text });
            }
            Step::Without(problem) => {
                let text = (*problem).to_owned();
                self.say(&Line { style: style::WARN, word: "without: ", text });
            }
            Step::Appended(event) => self.appended(event),
            _ => {}
        }
    }

    fn said(&self, piece: &str) {
        let mut known = self.known();
        if known.is_summary {
            return;
        }
        let Some(speech) = &mut known.speech else { return };
        let lines = speech.take(piece);
        match speech.pending() {
            "" if lines.is_empty() => {}
            "" => self.status.follow("…"),
            words => self.status.follow(words),
        }
        drop(known);
        self.print(&lines);
    }

    fn appended(&self, event: &Event) {
        match &event.content {
            Content::User(message) => {
                for loaded in &message.loaded {
                    let text = loaded.skill.clone();
                    self.say(&Line { style: style::GOOD, word: "loaded ", text });
                }
            }
            Content::Assistant(message) => self.replied(message),
            Content::ToolResponse(response) => {
                let call = self.known().calls.remove(&response.call);
                let lines = call.map(|call| happened(&call, response));
                lines.iter().flatten().for_each(|line| self.say(line));
                self.say_all(&details(&response.text, &ToolResult::of_response(response)));
            }
            // The model made no call for it, so there is one at a time, without an id.
            Content::StateUpdate(update) if update.cause == fence::CAUSE => {
                let call = self.known().calls.remove("").unwrap_or_default();
                coded(&call, update).iter().for_each(|line| self.say(line));
                let result = ToolResult::of_update(update).unwrap_or_default();
                self.say_all(&details(update.text.as_deref().unwrap_or_default(), &result));
            }
            Content::StateUpdate(update) if update.cause == dispatch::CAUSE => {
                self.known().calls.remove(dispatch::CAUSE);
                // What went wrong is told as the outcome.
                if update.extra.get(dispatch::IS_ERROR) != Some(&Value::Bool(true)) {
                    commanded(update).iter().for_each(|line| self.say(line));
                }
            }
            Content::Approval(approval) => match decided(approval) {
                Some(line) => self.say(&line),
                // Whoever asks needs the terminal.
                None => self.status.rest(),
            },
            Content::Summary(_) => {
                self.known().is_summary = false;
                let text = "older turns, to make room".to_owned();
                self.say(&Line { style: style::DIM, word: "summarised ", text });
            }
            _ => {}
        }
    }

    fn replied(&self, message: &AssistantMessage) {
        let (words, has_calls) = (message.text(), message.calls().next().is_some());
        let mut known = self.known();
        let left = match &mut known.speech {
            Some(speech) => speech.replied(&words, has_calls),
            // The last words are the answer, which comes later.
            None if has_calls => Left::Words(words),
            None => return,
        };
        drop(known);
        match left {
            Left::Lines(lines) => self.print(&lines),
            Left::Words(words) => self.say_with_bar(&words),
        }
    }

    /// Says what a tool answered, where that was asked for.
    fn say_all(&self, text: &str) {
        if self.has_details {
            self.say_with_bar(text);
        }
    }

    /// Says something with a bar, so that none of its lines looks like one of metier's.
    fn say_with_bar(&self, text: &str) {
        for line in plain_block(text.trim()).lines() {
            self.status.above(|| self.output.say(&styled(style::DIM, format!("│ {line}"))));
        }
    }

    fn print(&self, lines: &str) {
        if lines.is_empty() {
            return;
        }
        let is_below_line = std::mem::take(&mut self.known().is_below_line);
        let gap = if is_below_line { "\n" } else { "" };
        self.status.above(|| self.output.print(&format!("{gap}{lines}")));
    }

    fn say(&self, line: &Line) {
        self.status.above(|| self.output.note(line.style, line.word, &line.text));
        self.known().is_below_line = true;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
