//! What a tool answers.

use std::collections::BTreeMap;

use metier_session::content::Loaded;
use metier_session::{BreakCause, Delta, Stub};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ToolArgumentsError, ToolResult};

/// Longest answer of a tool of others that a model is given, in bytes.
const MAX_TEXT: usize = 64 << 10;

/// What a tool answers: for the model, for renderers, and for the session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// What the model reads.
    pub text: String,
    /// Whether it says that something went wrong.
    pub is_error: bool,
    /// The same for renderers.
    pub result: ToolResult,
    /// Text of a skill that belongs to it.
    pub loaded: Option<Loaded>,
    /// What changes in the state.
    pub state: Delta,
    /// Skills that took part, with their trees.
    pub digests: BTreeMap<String, String>,
    /// Which skill of its name each of them is.
    pub identities: BTreeMap<String, String>,
    /// Text that requests lose because of it.
    pub breaks: Option<(BreakCause, Vec<Stub>)>,
}

impl Answer {
    /// An answer in words.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// An answer that says what went wrong and what to do.
    pub fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true, ..Self::default() }
    }

    /// An answer that is JSON, for the model and for renderers.
    pub fn json(value: &impl Serialize) -> Self {
        Self::of(ToolResult::Other(serde_json::to_value(value).unwrap_or_default()))
    }

    /// An answer that is the JSON of a result.
    pub(crate) fn of(result: ToolResult) -> Self {
        Self { text: result.to_json().to_string(), result, ..Self::default() }
    }

    /// The same for renderers as JSON; null if there is only the text.
    pub fn structured(&self) -> Value {
        self.result.to_json()
    }

    /// The answer to a call of a tool that does not exist.
    pub fn unknown_tool(name: &str, tools: &[&str]) -> Self {
        let text = format!("there is no tool `{name}`; the tools are: {}", tools.join(", "));
        Self { result: ToolResult::UnknownTool, ..Self::error(text) }
    }
}

/// A text of others, no longer than a model is given.
pub(crate) fn bounded_text(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        let left = text.len();
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        let left = left - text.len();
        text.push_str(&format!("\n[{left} more bytes of this answer were left out]"));
    }
    text
}

/// Reads the arguments of a call.
///
/// # Errors
///
/// When one of them is wrong, which the error names.
pub(crate) fn arguments<T: DeserializeOwned>(
    given: &Value,
    tool: &str,
) -> Result<T, ToolArgumentsError> {
    serde_path_to_error::deserialize(given).map_err(|error| {
        let (tool, path) = (tool.to_owned(), error.path().to_string());
        ToolArgumentsError::Mismatch { tool, path, source: error.into_inner() }
    })
}
