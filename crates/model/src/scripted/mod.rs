//! A model whose replies stand in a file; for tests, demonstrations and benchmarks.
//!
//! A script is a JSON array, or one JSON object a line (lines that begin with `#` are comments).
//! Each entry is a reply:
//!
//! ```json
//! {"text": "Let me look.", "calls": [{"name": "skill_load", "arguments": {"skill": "csv-stats"}}]}
//! {"when": {"last": "chart"}, "text": "Here is the chart.", "usage": {"input": 900, "output": 12}}
//! {"error": {"kind": "rate_limited", "message": "slow down"}}
//! ```
//!
//! Entries with `when` reply whenever they fit, the others one after another.

mod entry;

use std::collections::VecDeque;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};

use crate::accumulator::Accumulator;
use crate::calls::names;
use crate::{Format, Message, Model, ModelError, Part, Replies, ReplyEvent, ReplyPart, Request};

use entry::Entry;

/// How large a script may be.
const MAX_SCRIPT_BYTES: u64 = 64 * 1024 * 1024;

/// How many requests are remembered; long benchmarks make more.
const MAX_REMEMBERED: usize = 512;

/// A model that replies from a script and remembers what it was asked.
#[derive(Debug)]
pub struct Scripted {
    name: String,
    entries: Vec<Entry>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// How many requests there were.
    count: usize,
    /// How often each entry has replied.
    used: Vec<usize>,
    requests: VecDeque<Request>,
}

impl Scripted {
    /// Reads a script from a file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read or is not a script.
    pub fn from_file(path: &Path) -> Result<Self, ModelError> {
        let failed = |source| ModelError::ScriptFile { path: path.to_owned(), source };
        let size = std::fs::metadata(path).map_err(failed)?.len();
        if size > MAX_SCRIPT_BYTES {
            return Err(failed(io::Error::from(io::ErrorKind::FileTooLarge)));
        }
        let text = std::fs::read_to_string(path).map_err(failed)?;
        let name = format!("scripted/{}", path.display());
        Ok(Self { name, ..Self::from_text(&text)? })
    }

    /// Takes a script.
    ///
    /// # Errors
    ///
    /// Fails if an entry is not valid.
    pub fn from_text(text: &str) -> Result<Self, ModelError> {
        let entries = entry::parse(text)?;
        let state = State { used: vec![0; entries.len()], ..State::default() };
        Ok(Self { name: "scripted".to_owned(), entries, state: Mutex::new(state) })
    }

    /// The latest requests, oldest first, up to a bound.
    pub fn requests(&self) -> Vec<Request> {
        self.lock().requests.iter().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a request and picks its reply.
    fn pick(&self, request: &Request) -> Result<&Entry, ModelError> {
        let mut state = self.lock();
        state.count += 1;
        if state.requests.len() == MAX_REMEMBERED {
            state.requests.pop_front();
        }
        state.requests.push_back(request.clone());
        let last = last_text(request);
        let turn = replies_before(request);
        let fits = |at: &usize| {
            let entry = &self.entries[*at];
            state.used[*at] < entry.most_times()
                && entry.when.as_ref().is_some_and(|when| when.fits(&last, turn))
        };
        let in_order = |at: &usize| self.entries[*at].when.is_none() && state.used[*at] == 0;
        let all = 0..self.entries.len();
        let chosen = all.clone().find(fits).or_else(|| all.clone().find(in_order));
        let at = chosen.ok_or(ModelError::ScriptEnded { request: state.count })?;
        state.used[at] += 1;
        Ok(&self.entries[at])
    }
}

#[async_trait]
impl Model for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    async fn stream(&self, request: &Request) -> Result<Replies, ModelError> {
        let entry = self.pick(request)?;
        let seed = request.messages.len() as u64;
        let mut reply = Accumulator::new(Format::ChatCompletions, seed);
        entry.tell(seed, &mut reply);
        let mut events = Vec::new();
        while let Some(event) = reply.next_event() {
            events.push(Ok(event));
        }
        match entry.error() {
            Some(error) => events.push(Err(error)),
            None => {
                let (more, reply) = reply.finish(&names(&request.tools));
                events.extend(more.into_iter().map(Ok));
                events.push(Ok(ReplyEvent::Done(reply)));
            }
        }
        let delay = Duration::from_millis(entry.delay_ms);
        let waiting = stream::once(tokio::time::sleep(delay)).flat_map(move |()| {
            // The closure is called once, for the only item.
            stream::iter(std::mem::take(&mut events))
        });
        Ok(Replies::new(waiting))
    }
}

/// The text of the last message.
fn last_text(request: &Request) -> String {
    match request.messages.last() {
        Some(Message::System(text) | Message::ToolResult { text, .. }) => text.clone(),
        Some(Message::User(parts)) => {
            parts.iter().map(|Part::Text(text)| text.as_str()).collect::<Vec<_>>().join("\n")
        }
        Some(Message::Assistant(parts)) => {
            let texts = parts.iter().filter_map(|part| match part {
                ReplyPart::Text(text) => Some(text.as_str()),
                _ => None,
            });
            texts.collect()
        }
        None => String::new(),
    }
}

/// How many replies the conversation has already.
fn replies_before(request: &Request) -> usize {
    request.messages.iter().filter(|message| matches!(message, Message::Assistant(_))).count()
}

#[cfg(test)]
mod tests;
