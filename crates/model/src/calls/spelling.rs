//! The ways in which servers and models spell a call as JSON.

use crate::raw::{RawObject, is_object};

/// A call as it was spelled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spelled {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    /// The text of the arguments: of the JSON value, or the string if they are one.
    pub(crate) arguments: String,
}

/// The types of blocks that are calls, which some servers use as a key instead.
const KINDS: [&str; 6] =
    ["toolCall", "toolUse", "functionCall", "tool_call", "tool_use", "function_call"];
const IDS: [&str; 6] = ["call_id", "tool_call_id", "toolCallId", "tool_use_id", "toolUseId", "id"];
const NAMES: [&str; 5] = ["name", "toolName", "tool_name", "functionName", "function_name"];
const ARGUMENTS: [&str; 5] = ["arguments", "input", "args", "parameters", "params"];

/// Reads a block of a reply that is a call in any spelling; `None` if it is something else.
pub(crate) fn read(json: &str) -> Option<Spelled> {
    let block = RawObject::parse(json)?;
    if let Some(kind) = block.string("type") {
        return if KINDS.contains(&kind.as_str()) || kind == "function" {
            fields(&block)
        } else {
            None
        };
    }
    KINDS.iter().find_map(|kind| fields(&RawObject::parse(block.get(kind)?)?))
}

/// Reads text that is one JSON object: a block, or just name and arguments. Anything beside
/// those makes it something else.
pub(super) fn read_text(json: &str) -> Option<Spelled> {
    let object = RawObject::parse(json)?;
    if object.has_duplicates() {
        return None;
    }
    if let [(key, value)] = object.entries.as_slice()
        && (KINDS.contains(&key.as_str()) || key == "function")
    {
        return read_text(value.get());
    }
    let known = |key: &str| {
        key == "type" || IDS.contains(&key) || NAMES.contains(&key) || ARGUMENTS.contains(&key)
    };
    if object.get("function").is_some_and(is_object) {
        let only = |key: &str| matches!(key, "type" | "function") || IDS.contains(&key);
        if !object.entries.iter().all(|(key, _)| only(key)) {
            return None;
        }
    } else if !object.entries.iter().all(|(key, _)| known(key)) {
        return None;
    }
    if object
        .string("type")
        .is_some_and(|kind| !KINDS.contains(&kind.as_str()) && kind != "function")
    {
        return None;
    }
    raw_arguments(&object, &function(&object)).filter(|raw| is_object(raw))?;
    fields(&object)
}

fn function<'a>(block: &RawObject<'a>) -> RawObject<'a> {
    block.get("function").and_then(RawObject::parse).unwrap_or_default()
}

fn raw_arguments<'a>(block: &RawObject<'a>, inner: &RawObject<'a>) -> Option<&'a str> {
    ARGUMENTS.iter().find_map(|key| block.get(key).or_else(|| inner.get(key)))
}

fn fields(block: &RawObject<'_>) -> Option<Spelled> {
    let inner = function(block);
    let string =
        |keys: &[&str]| keys.iter().find_map(|key| block.string(key).or_else(|| inner.string(key)));
    let raw = raw_arguments(block, &inner);
    let id = string(&IDS).filter(|id| !id.is_empty());
    let name = string(&NAMES).unwrap_or_default();
    if name.is_empty() && id.is_none() {
        return None;
    }
    Some(Spelled { id, name, arguments: raw.map(unquoted).unwrap_or_default() })
}

/// The text of arguments, whether they are JSON or a string that has JSON in it.
pub(crate) fn unquoted(raw: &str) -> String {
    match raw.trim_start().chars().next() {
        Some('"') => serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned()),
        Some('n') => String::new(),
        _ => raw.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(call: Option<Spelled>) -> String {
        call.map_or("-".to_owned(), |call| {
            format!("{} {} {}", call.id.as_deref().unwrap_or("?"), call.name, call.arguments)
        })
    }

    #[test]
    fn a_call_is_read_in_every_spelling() {
        let cases = [
            (
                r#"{"type":"toolCall","id":"1","name":"x","arguments":{"a": 1.0}}"#,
                r#"1 x {"a": 1.0}"#,
            ),
            (
                r#"{"type":"toolUse","toolUseId":"1","toolName":"x","input":{"a":1}}"#,
                r#"1 x {"a":1}"#,
            ),
            (r#"{"type":"functionCall","name":"x","args":{"a":1}}"#, r#"? x {"a":1}"#),
            (r#"{"type":"tool_use","id":"1","name":"x","input":{}}"#, "1 x {}"),
            (
                r#"{"type":"tool_call","id":"1","function":{"name":"x","arguments":"{\"a\":1}"}}"#,
                r#"1 x {"a":1}"#,
            ),
            (
                r#"{"type":"function_call","call_id":"1","id":"fc","name":"x","arguments":"{}"}"#,
                "1 x {}",
            ),
            (r#"{"type":"function","id":"1","function":{"name":"x","arguments":null}}"#, "1 x "),
            (r#"{"functionCall":{"name":"x","args":{"a":1}}}"#, r#"? x {"a":1}"#),
            (r#"{"type":"text","text":"x"}"#, "-"),
            (r#"{"type":"tool_use"}"#, "-"),
            (r#"["tool_use"]"#, "-"),
        ];
        for (json, expected) in cases {
            assert_eq!(shown(read(json)), expected, "{json}");
        }
    }
}
