//! The formats in which providers are asked and answer.
//!
//! Each has a file for requests and one for replies. A request is a function of its inputs: the
//! same inputs give the same bytes, and one more message only adds bytes at the end, because
//! everything else stands before the messages. So providers find the prefix in their caches.

mod chat;
mod chat_reply;
mod messages;
mod messages_reply;
mod responses;
mod responses_reply;
mod write;

#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Request;
use crate::accumulator::Accumulator;
use crate::fault::Fault;

/// The format in which a provider is asked and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Format {
    /// OpenAI's chat completions, which most servers imitate.
    ChatCompletions,
    /// OpenAI's Responses, used without storing anything at the provider.
    Responses,
    /// Anthropic's Messages.
    Messages,
}

/// Who speaks a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// The provider that made it; newer parts of the format may be used.
    Original,
    /// A server that imitates it; only what they all understand is used.
    Compatible,
}

/// What requests need to know beside the request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speech<'a> {
    pub(crate) model: &'a str,
    pub(crate) dialect: Dialect,
    pub(crate) parameters: &'a Map<String, Value>,
    pub(crate) return_reasoning: bool,
}

/// An event of a stream that has something to say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event<'a> {
    /// Its name; empty if it has none.
    pub(crate) name: &'a str,
    /// Its JSON.
    pub(crate) data: &'a str,
}

/// Reads a reply, an event after another or as a whole.
pub(crate) trait Decode: fmt::Debug + Send {
    /// Reads an event.
    fn event(&mut self, event: Event<'_>, to: &mut Accumulator) -> Result<Progress, Trouble>;

    /// Reads an answer that is one JSON text, from a server that does not stream.
    fn whole(&mut self, json: &str, to: &mut Accumulator) -> Result<(), Trouble>;

    /// The stream is over: hands on what was kept back.
    fn end(&mut self, _to: &mut Accumulator) {}
}

/// Whether more of a reply is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    More,
    Ended,
}

/// Why a reply cannot be read on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It is not JSON, or not the JSON of this format.
    NotJson,
    /// The provider reports an error.
    Fault(Fault),
}

impl Format {
    /// The end of the address of a request.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::ChatCompletions => "chat/completions",
            Self::Responses => "responses",
            Self::Messages => "messages",
        }
    }

    /// The body of a request.
    pub(crate) fn encode(self, request: &Request, speech: &Speech<'_>) -> String {
        match self {
            Self::ChatCompletions => chat::encode(request, speech),
            Self::Responses => responses::encode(request, speech),
            Self::Messages => messages::encode(request, speech),
        }
    }

    /// Something that reads one reply.
    pub(crate) fn decoder(self) -> Box<dyn Decode> {
        match self {
            Self::ChatCompletions => Box::new(chat_reply::Decoder::default()),
            Self::Responses => Box::new(responses_reply::Decoder::default()),
            Self::Messages => Box::new(messages_reply::Decoder::default()),
        }
    }

    /// Members of a body that cannot be set from outside, because requests have them already.
    pub(crate) fn owns(self, parameter: &str) -> bool {
        const ALWAYS: [&str; 6] = ["model", "stream", "tools", "tool_choice", "messages", "input"];
        let own: &[&str] = match self {
            Self::ChatCompletions => &[
                "stream_options",
                "max_tokens",
                "max_completion_tokens",
                "prompt_cache_key",
                "response_format",
            ],
            Self::Responses => {
                &["instructions", "store", "include", "max_output_tokens", "prompt_cache_key"]
            }
            Self::Messages => &["system", "max_tokens"],
        };
        ALWAYS.contains(&parameter) || own.contains(&parameter)
    }
}

/// Parses JSON, which everything that arrives must be.
fn parse(json: &str) -> Result<Value, Trouble> {
    serde_json::from_str(json).map_err(|_error| Trouble::NotJson)
}

/// Takes over which reply it is and which model gave it, as soon as that is told.
fn describe(reply: &Value, to: &mut Accumulator) {
    for (known, member) in [(&mut to.request_id, "id"), (&mut to.model, "model")] {
        if known.is_none() {
            *known = reply[member].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        }
    }
}

/// More tokens than any reply has. What is larger is an error of the server, and adding up a few of
/// them must not overflow.
const MOST_TOKENS: u64 = 1 << 40;

/// A number of tokens, however it is written.
fn tokens(value: &Value) -> u64 {
    let written = value.as_u64().or_else(|| value.as_f64().map(|number| number.max(0.0) as u64));
    written.unwrap_or(0).min(MOST_TOKENS)
}
