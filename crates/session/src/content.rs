//! What an event is about, typed by its kind.
//!
//! Everything is JSON, and is read as later versions may write it: fields this version does not
//! know are in `extra` of what they belong to, kinds it does not know are [`Content::Other`] and
//! parts [`Part::Other`], and all are written again as they were. What must not change by a byte,
//! such as the arguments of a call, is text inside the JSON.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::Extra;

/// What an event is about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// `user`: a person, or whoever speaks for one, says something.
    User(UserMessage),
    /// `assistant`: a model has answered.
    Assistant(AssistantMessage),
    /// `tool.response`: a tool has answered a call of the model.
    ToolResponse(ToolResponse),
    /// `state.update`: the state changes for a reason of its own.
    StateUpdate(StateUpdate),
    /// `summary`: earlier events in fewer words.
    Summary(Summary),
    /// `approval`: a person was asked, and answered.
    Approval(Approval),
    /// A kind that this version does not know. Whoever builds requests has to decide about it.
    Other(Other),
}

/// What a person says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// The words.
    pub text: String,
    /// Files that came with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// Text of skills that the caller has loaded, without the model asking. It stands before the words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loaded: Vec<Loaded>,
    /// Fields of later versions.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A file that came with a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Attachment {
    /// What the person calls it.
    pub name: String,
    /// Where it is, such as `artifact://name@0`.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Fields of later versions.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a model answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// What it said, thought and asked for, in its order.
    pub parts: Vec<Part>,
    /// Which model it was.
    pub model: String,
    /// Why it stopped, in words that are the same for all providers, such as `end` or `length`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Fields of later versions.
    #[serde(flatten)]
    pub extra: Extra,
}

impl AssistantMessage {
    /// The words for the person.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The calls of tools, in their order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        })
    }
}

/// A part of what a model answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "Value")]
#[non_exhaustive]
pub enum Part {
    /// Words for the person.
    Text(Text),
    /// Thoughts, which go back to the provider as they came.
    Reasoning(Reasoning),
    /// A call of a tool.
    Call(Call),
    /// A type that this version does not know, whole.
    #[serde(untagged)]
    Other(Value),
}

/// Words for the person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Text {
    /// The words.
    pub text: String,
    /// Fields of later versions.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Thoughts of a model. Providers sign or encrypt them, so they are kept to the byte.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reasoning {
    /// Who can read them: the format in which they came, such as `messages`.
    pub provider: String,
    /// The JSON that it gave, as text.
    pub json: String,
    /// Fields of later versions.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Its id, which the response names.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments, to the byte as the model wrote them, be they JSON or not.
    pub arguments: String,
    /// Fields of later versions.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a tool answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolResponse {
    /// The id of the call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What the model reads, without the text of skills: that is added to requests.
    pub text: String,
    /// Whether it says that something went wrong.
    #[serde(default)]
    pub is_error: bool,
    /// The name of the type of `structured`, as the caller has it. Events of older versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_type: Option<Box<str>>,
    /// The same for renderers, or null.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub structured: Value,
    /// What requests have to add here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded: Option<Loaded>,
    /// Fields of later versions.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Text of a skill that requests contain at this place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    /// The skill.
    pub skill: String,
    /// The tree it is read from.
    pub digest: String,
    /// The server it comes from, if it comes from another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Whether its body is added.
    #[serde(default)]
    pub body: bool,
    /// The docs that are added, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub docs: Vec<String>,
    /// Fields of later versions.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A change of the state for a reason of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StateUpdate {
    /// Why, in a word or two.
    pub cause: String,
    /// What the model is told about it, such as that the library has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Fields of later versions.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Earlier events in fewer words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The words.
    pub text: String,
    /// The number of the last event they stand for; all before it are covered too.
    pub covers: u64,
    /// Text of skills that stood at those events and goes on at this place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loaded: Vec<Loaded>,
    /// Fields of later versions.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a person was asked, and the answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// What was asked.
    pub request: Value,
    /// What was decided.
    pub decision: Value,
    /// Fields of later versions.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Content of a kind that this version does not know.
#[derive(Clone, Debug, PartialEq)]
pub struct Other {
    kind: String,
    content: Value,
}

const USER: &str = "user";
const ASSISTANT: &str = "assistant";
const TOOL_RESPONSE: &str = "tool.response";
const STATE_UPDATE: &str = "state.update";
const SUMMARY: &str = "summary";
const APPROVAL: &str = "approval";

impl Content {
    /// The name of the kind.
    pub fn kind(&self) -> &str {
        match self {
            Self::User(_) => USER,
            Self::Assistant(_) => ASSISTANT,
            Self::ToolResponse(_) => TOOL_RESPONSE,
            Self::StateUpdate(_) => STATE_UPDATE,
            Self::Summary(_) => SUMMARY,
            Self::Approval(_) => APPROVAL,
            Self::Other(other) => &other.kind,
        }
    }

    /// Text of skills that requests contain at this place, unless a later event takes it away.
    pub fn loaded(&self) -> &[Loaded] {
        match self {
            Self::User(message) => &message.loaded,
            Self::ToolResponse(response) => response.loaded.as_slice(),
            Self::Summary(summary) => &summary.loaded,
            _ => &[],
        }
    }

    /// Reads the content of a kind.
    pub(crate) fn read(kind: String, content: Value) -> Result<Self, serde_json::Error> {
        Ok(match &*kind {
            USER => Self::User(read(content)?),
            ASSISTANT => Self::Assistant(read(content)?),
            TOOL_RESPONSE => Self::ToolResponse(read(content)?),
            STATE_UPDATE => Self::StateUpdate(read(content)?),
            SUMMARY => Self::Summary(read(content)?),
            APPROVAL => Self::Approval(read(content)?),
            "" => return Err(serde_json::Error::custom("the kind is empty")),
            _ => Self::Other(Other { kind, content }),
        })
    }
}

impl Serialize for Content {
    /// Writes the content; its kind is beside it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::User(content) => content.serialize(serializer),
            Self::Assistant(content) => content.serialize(serializer),
            Self::ToolResponse(content) => content.serialize(serializer),
            Self::StateUpdate(content) => content.serialize(serializer),
            Self::Summary(content) => content.serialize(serializer),
            Self::Approval(content) => content.serialize(serializer),
            Self::Other(other) => other.content.serialize(serializer),
        }
    }
}

impl Other {
    /// What later versions call it.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// What it says.
    pub fn content(&self) -> &Value {
        &self.content
    }
}

impl TryFrom<Value> for Part {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, serde_json::Error> {
        let Some(name) = value.get("type").and_then(Value::as_str) else {
            return Err(serde_json::Error::custom("a part is no object with a type"));
        };
        Ok(match name {
            "text" => Self::Text(read_part(value)?),
            "reasoning" => Self::Reasoning(read_part(value)?),
            "call" => Self::Call(read_part(value)?),
            _ => Self::Other(value),
        })
    }
}

/// Reads a part of a known type, which is then none of its fields.
fn read_part<T: DeserializeOwned>(mut value: Value) -> Result<T, serde_json::Error> {
    if let Some(fields) = value.as_object_mut() {
        fields.shift_remove("type");
    }
    read(value)
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, serde_json::Error> {
    serde_json::from_value(value)
}
