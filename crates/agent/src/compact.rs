//! Compaction: older turns in fewer words, when the conversation no longer fits.
//!
//! The summary is an event that stands for what came before it. Text of skills that are still loaded is
//! not summarised: it goes on at the summary.

use metier_model::{Message, Request, ToolChoice};
use metier_session::content::{Loaded, Summary};
use metier_session::{BreakCause, Content, NewEvent};
use metier_skill::tokens;

use crate::agent::{Agent, AgentError, COMPACT_AT, Progress};
use crate::changes;
use crate::runner::SYSTEM;
use crate::shelf::Shelf;
use crate::shown::Window;
use crate::stop::Stop;
use crate::thread::Thread;

/// What a model is asked for a summary.
const ASK: &str = "Write a summary of this conversation for yourself, because it will be all you have of it: what the user \
wants, in their words where they matter; what was done and found, with names of files, commands and figures; what is still to do. \
No preamble. Do not repeat instructions of skills.";
/// The least share of a model's tokens at which turns are summarised; with none it would be before every request.
const LEAST_SHARE: f64 = 0.01;
/// Tokens that a message costs beside its text.
const PER_MESSAGE: usize = 4;

impl Agent {
    /// Whether a request is so long that older turns should be summarised first.
    pub(crate) fn is_too_long(&self, request: &Request) -> bool {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a number of tokens"
        )]
        let most = (self.settings.context_tokens as f64 * share(self.settings.compact_at)) as usize;
        // Counting takes a while, and no token is shorter than a byte.
        cost(request, str::len) > most && cost(request, tokens::count) > most
    }

    /// Summarises what came before; says whether there was anything to summarise.
    pub(crate) async fn compact(
        &self,
        thread: &mut Thread,
        stop: &Stop,
    ) -> Result<bool, AgentError> {
        let Some(covers) = last_to_cover(thread) else { return Ok(false) };
        let end = thread.events.partition_point(|event| event.seq <= covers);
        let mut request = self.request_of(thread, &thread.events[..end])?;
        request.messages.push(Message::user(ASK));
        request.tool_choice = ToolChoice::None;
        thread.tell(&Progress::Summarising);
        let Some(reply) = self.exchange(thread, &request, stop).await? else { return Ok(false) };
        let text = reply.text();
        if text.trim().is_empty() {
            return Ok(false);
        }
        let shelf = Shelf::read(&thread.state, &self.name);
        let window = Window::of(&thread.events);
        let mut loaded: Vec<Loaded> = Vec::new();
        let covered = |id| thread.events.iter().any(|it| it.id == id && it.seq <= covers);
        for shown in window.shown().filter(|it| covered(it.event) && shelf.has(&it.text.skill)) {
            match loaded
                .iter_mut()
                .find(|it| it.skill == shown.text.skill && it.digest == shown.text.digest)
            {
                Some(known) => {
                    known.body |= shown.text.body;
                    known.docs.extend(shown.text.docs.iter().cloned());
                }
                None => loaded.push(shown.text.clone()),
            }
        }
        let summary = Summary { text, covers, loaded, ..Summary::default() };
        let event = NewEvent::new(&self.name, Content::Summary(summary))
            .with_usage(self.usage_of(&reply))
            .with_break(BreakCause::Compaction, Vec::new());
        thread.append(vec![event]).await?;
        // What was told of a changed library before is told again.
        let snapshot = self.library.snapshot();
        if let Some(update) = changes::update(&thread.opening, &thread.events, &snapshot) {
            thread.append(vec![NewEvent::new(SYSTEM, Content::StateUpdate(update))]).await?;
        }
        Ok(true)
    }
}

/// The share of a model's tokens that a setting means: some, and at most all.
fn share(compact_at: f64) -> f64 {
    if compact_at.is_nan() { COMPACT_AT } else { compact_at.clamp(LEAST_SHARE, 1.0) }
}

/// The last event before the last message of a person, if anything before it is not summarised yet.
fn last_to_cover(thread: &Thread) -> Option<u64> {
    let window = Window::of(&thread.events);
    let is_user = |it: &&metier_session::Event| matches!(it.content, Content::User(_));
    let last = window.events.iter().rfind(|it| is_user(it))?;
    let first = window.events.first()?;
    (first.seq < last.seq).then(|| last.seq - 1)
}

/// About what a request costs, in what its texts are counted in.
fn cost(request: &Request, of: impl Fn(&str) -> usize) -> usize {
    let text = |message: &Message| match message {
        Message::System(text) | Message::ToolResult { text, .. } => of(text),
        other => of(&serde_json::to_string(other).unwrap_or_default()),
    };
    let messages: usize = request.messages.iter().map(|it| text(it) + PER_MESSAGE).sum();
    let tools = serde_json::to_string(&request.tools).unwrap_or_default();
    of(&request.system) + of(&tools) + messages
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn whatever_share_is_set_some_of_the_model_and_at_most_all_of_it_is_used() {
        let cases = [(0.8, 0.8), (80.0, 1.0), (0.0, 0.01), (-1.0, 0.01), (f64::NAN, 0.8)];
        for (set, expected) in cases {
            assert!((share(set) - expected).abs() < f64::EPSILON, "{set}");
        }
    }
}
