//! What a model answers, as it arrives and as a whole.

use std::fmt;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::{BoxStream, Stream};
use serde::{Deserialize, Serialize};

use crate::{ModelError, ReplyPart};

/// A reply on its way. Dropping it ends the request.
pub struct Replies {
    events: BoxStream<'static, Result<ReplyEvent, ModelError>>,
}

impl Replies {
    /// Makes a reply of its events; for implementations of [`Model`](crate::Model).
    ///
    /// The last event must be [`ReplyEvent::Done`] or an error.
    pub fn new(
        events: impl Stream<Item = Result<ReplyEvent, ModelError>> + Send + 'static,
    ) -> Self {
        Self { events: events.boxed() }
    }

    /// The next event; `None` after [`ReplyEvent::Done`] or an error.
    ///
    /// It may be dropped while it waits, without losing anything.
    pub async fn next(&mut self) -> Option<Result<ReplyEvent, ModelError>> {
        self.events.next().await
    }

    /// Waits for the whole reply.
    ///
    /// # Errors
    ///
    /// Fails if the reply does not arrive in full.
    pub async fn finish(mut self) -> Result<Reply, ModelError> {
        while let Some(event) = self.next().await {
            if let ReplyEvent::Done(reply) = event? {
                return Ok(reply);
            }
        }
        Err(ModelError::Interrupted { source: None })
    }
}

impl fmt::Debug for Replies {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Replies").finish_non_exhaustive()
    }
}

/// Something that happened on the way of a reply.
///
/// Everything before [`ReplyEvent::Done`] is for showing only: what to act on is in the [`Reply`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReplyEvent {
    /// More text.
    Text(String),
    /// More of what the model thinks, as far as it may be shown.
    Reasoning(String),
    /// The model began to write a call.
    CallBegun {
        /// Which call of this reply, from 0.
        index: usize,
        /// Its id.
        id: String,
        /// The tool, as the model calls it.
        name: String,
    },
    /// More of the arguments of a call.
    CallArguments {
        /// Which call of this reply.
        index: usize,
        /// A piece of JSON text.
        text: String,
    },
    /// The request failed and will be sent again. Everything that was handed over so far is void.
    Retrying {
        /// How long it waits first.
        wait: Duration,
        /// Why, in words for a person.
        cause: String,
    },
    /// What the request cost, as far as known; a later one replaces it.
    Usage(Usage),
    /// The whole reply. Nothing comes after it.
    Done(Reply),
}

/// A whole reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// Its parts, in order: what goes into the next request as
    /// [`Message::Assistant`](crate::Message::Assistant).
    pub parts: Vec<ReplyPart>,
    /// Why it ended.
    pub stop: StopReason,
    /// What it cost.
    pub usage: Usage,
    /// The provider's name for this request; quote it when asking them for help.
    pub request_id: Option<String>,
    /// The model that really answered, if the provider says so.
    pub model: Option<String>,
}

impl Reply {
    /// All text of the reply.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            ReplyPart::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

/// Why a reply ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum StopReason {
    /// The model had said what it wanted to say.
    End,
    /// It waits for the results of its calls.
    Calls,
    /// The reply became too long, or no room was left for it. A last call may be incomplete.
    Length,
    /// The model refused, in these words; they may be empty.
    Refusal(String),
    /// The provider cut off what the model said.
    Filtered,
    /// Something else.
    Other,
}

/// Tokens that a request cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// All that was read, cached or not.
    pub input: u64,
    /// The part of `input` that came from the provider's cache.
    pub cached_input: u64,
    /// The part of `input` that was written to the provider's cache.
    pub cache_write: u64,
    /// All that was written, thoughts included.
    pub output: u64,
    /// The part of `output` that was thought.
    pub reasoning: u64,
}
