//! What a model is asked: the conversation and the tools, in no provider's format.
//!
//! Everything here can be stored and read again without loss. What only a provider understands is
//! kept as the text of its JSON, byte for byte, with the name of the format it belongs to.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Format;

/// One request: all that a reply depends on, beside the settings of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// What the model is told about its job, before everything else.
    pub system: String,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// The tools it may call. Their order is part of the request: keep it.
    pub tools: Vec<ToolSpec>,
    /// How long the reply may be, in tokens; `None` leaves it to the provider.
    pub max_output_tokens: Option<u32>,
    /// Whether it may, must or must not call tools.
    pub tool_choice: ToolChoice,
    /// The same for all requests of a conversation; helps some providers to find their cache.
    pub cache_key: Option<String>,
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    pub schema: Value,
}

/// Whether tools are called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolChoice {
    /// As the model sees fit.
    #[default]
    Auto,
    /// Not at all, though they stay in the request for the cache's sake.
    None,
    /// At least one.
    Required,
    /// One of these, enforced by the server where it can.
    Constrained(Vec<AllowedCall>),
}

/// A call that [`ToolChoice::Constrained`] allows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedCall {
    /// The name of one of the request's tools.
    pub name: String,
    /// A narrower schema than the tool's own, such as one with an enumeration of skills. It only
    /// guides the server's choice of tokens, so it may change without breaking the prompt's cache.
    pub schema: Option<Value>,
}

/// One message of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Message {
    /// Something the system has to say later on. Providers that know only one system message get
    /// it as a framed text from the user.
    System(String),
    /// What the user said.
    User(Vec<Part>),
    /// What the model replied.
    Assistant(Vec<ReplyPart>),
    /// What came of a call.
    ToolResult {
        /// The id of the call.
        call_id: String,
        /// The name of the tool.
        name: String,
        /// The outcome.
        text: String,
        /// Whether it failed.
        is_error: bool,
    },
}

impl Message {
    /// A message of the user that is only text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(vec![Part::Text(text.into())])
    }
}

/// A part of what the user said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Part {
    /// Plain text.
    Text(String),
}

/// A part of what the model replied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ReplyPart {
    /// Text for the user.
    Text(String),
    /// What the model thought.
    Reasoning {
        /// What may be shown; may be empty.
        text: String,
        /// What must be handed back to the provider.
        opaque: Option<Opaque>,
    },
    /// A call of a tool.
    Call {
        /// Ties the result to the call.
        id: String,
        /// The name of the tool; of an existing one if that could be told.
        name: String,
        /// The arguments as the model wrote them: the text of a JSON object, unless the model
        /// failed at that and what it meant could not be told.
        arguments: String,
    },
}

/// A part of a reply that only its provider understands: signatures, encrypted thoughts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opaque {
    /// The format it belongs to; requests in other formats leave it out.
    pub format: Format,
    /// The text of a JSON value, byte for byte.
    pub json: String,
}
