//! Messages of a server, read so that nothing of an answer is lost.
//!
//! The crate of the protocol guesses from its fields what an answer is, and keeps only the fields of what it
//! guessed; the answers of extensions look like others then. So an answer is put into a box that fits no guess,
//! apart from those that the crate needs itself: the first one, and lists of tools.

use rmcp::model::{ListToolsResult, ServerJsonRpcMessage, ServerResult};
use serde_json::{Map, Value};

/// The only field of the box.
const BOX: &str = "metier/answer";

/// Reads a message.
pub(super) fn read(text: &[u8]) -> Result<ServerJsonRpcMessage, serde_json::Error> {
    serde_json::from_value(boxed(serde_json::from_slice(text)?))
}

/// A message as text, with its answer in a box; nothing, if it is no message.
pub(super) fn boxed_text(text: &str) -> Option<String> {
    let message: Value = serde_json::from_str(text).ok()?;
    message.get("jsonrpc").is_some().then(|| boxed(message).to_string())
}

/// The answer that is in a box, or was never put into one.
pub(super) fn unboxed(result: ServerResult) -> Value {
    let value = match result {
        ServerResult::CustomResult(custom) => custom.0,
        // A value without keys that are not strings can be written.
        other => serde_json::to_value(other).unwrap_or_default(),
    };
    match value {
        Value::Object(mut fields) if fields.contains_key(BOX) => {
            fields.remove(BOX).unwrap_or_default()
        }
        value => value,
    }
}

fn boxed(mut message: Value) -> Value {
    if let Some(result) = message.get_mut("result").filter(|result| !is_needed(result)) {
        let answer = std::mem::take(result);
        *result = Value::Object(Map::from_iter([(BOX.to_owned(), answer)]));
    }
    message
}

/// Whether the crate of the protocol looks into an answer.
fn is_needed(result: &Value) -> bool {
    let has = |field: &str| result.get(field).is_some();
    has("protocolVersion")
        || has("supportedVersions")
        || (has("tools") && serde_json::from_value::<ListToolsResult>(result.clone()).is_ok())
}

#[cfg(test)]
mod tests {
    use rmcp::model::JsonRpcMessage;
    use serde_json::json;

    use super::*;

    /// What is left of an answer after it was read.
    fn answer(result: &Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 1, "result": result});
        let read = read(message.to_string().as_bytes()).unwrap();
        let again = boxed_text(&message.to_string()).unwrap();
        let again = serde_json::from_str(&again).unwrap();
        let [read, again] = [read, again].map(|message: ServerJsonRpcMessage| match message {
            JsonRpcMessage::Response(response) => unboxed(response.result),
            other => panic!("{other:?}"),
        });
        assert_eq!(read, again);
        read
    }

    #[test]
    fn nothing_of_an_answer_is_lost_whatever_it_looks_like() {
        for result in [
            json!({"resultType": "complete", "skills": [{"uri": "a"}], "ttlMs": 0, "cacheScope": "public"}),
            json!({"resultType": "complete", "skill": {"uri": "a"}, "_meta": {"x": 1}}),
            json!({"content": [{"type": "hologram", "data": 1}], "extra": true}),
            json!({"contents": [{"uri": "a"}], "description": "d"}),
            json!({"tools": [{"name": "a"}], "resultType": "complete"}),
            json!({"action": "accept"}),
            json!({}),
            json!([1, 2]),
            json!("text"),
        ] {
            assert_eq!(answer(&result), result);
        }
    }

    #[test]
    fn only_answers_are_boxed_and_only_messages_are_kept() {
        let question = r#"{"id":1,"jsonrpc":"2.0","method":"ping"}"#;
        assert_eq!(boxed_text(question).as_deref(), Some(question));
        for text in ["", "{", "{}", "[1]", "x"] {
            assert_eq!(boxed_text(text), None, "{text}");
        }
    }
}
