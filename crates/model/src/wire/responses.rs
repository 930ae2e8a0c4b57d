//! Requests as OpenAI's Responses.
//!
//! Nothing is stored at the provider: the whole conversation goes out each time, with the thoughts
//! that came back encrypted.

use serde_json::json;

use super::write::{Object, PlainIds, array, user_text, without_last_thoughts};
use super::{Dialect, Format, Speech};
use crate::calls::pair;
use crate::raw::is_object;
use crate::{AllowedCall, Message, ReplyPart, Request, ToolChoice, ToolSpec};

/// OpenAI's own limit.
const MAX_ID: usize = 64;

pub(super) fn encode(request: &Request, speech: &Speech<'_>) -> String {
    let original = speech.dialect == Dialect::Original;
    let mut body = Object::new()
        .with("model", speech.model)
        .with("stream", true)
        .with("store", false)
        .with_some("max_output_tokens", request.max_output_tokens)
        .with_some("prompt_cache_key", request.cache_key.as_ref().filter(|_| original));
    if original && thinks(speech.model) {
        body = body.with("include", ["reasoning.encrypted_content"]);
    }
    for (name, value) in speech.parameters {
        body = body.with(name, value);
    }
    if !request.tools.is_empty() {
        body = body.with_raw("tools", &array(request.tools.iter().map(tool)));
        body = tool_choice(body, &request.tool_choice, speech.dialect);
    }
    if !request.system.is_empty() {
        body = body.with("instructions", &request.system);
    }
    body.with_raw("input", &array(input(request))).end()
}

/// Whether a model thinks; those that do not refuse to be asked for thoughts.
fn thinks(model: &str) -> bool {
    !["gpt-3", "gpt-4", "chatgpt-4"].iter().any(|start| model.starts_with(start))
}

fn tool(tool: &ToolSpec) -> String {
    Object::of_type("function")
        .with("name", &tool.name)
        .with("description", &tool.description)
        .with("parameters", &tool.schema)
        .with("strict", false)
        .end()
}

fn tool_choice(body: Object, choice: &ToolChoice, dialect: Dialect) -> Object {
    let named = |call: &AllowedCall| json!({"type": "function", "name": call.name});
    match (choice, dialect) {
        (ToolChoice::Auto, _) => body,
        (ToolChoice::None, _) => body.with("tool_choice", "none"),
        (ToolChoice::Constrained(allowed), Dialect::Original) => {
            let tools: Vec<_> = allowed.iter().map(named).collect();
            let choice = json!({"type": "allowed_tools", "mode": "required", "tools": tools});
            body.with("tool_choice", choice)
        }
        (ToolChoice::Required | ToolChoice::Constrained(_), _) => {
            body.with("tool_choice", "required")
        }
    }
}

fn input(request: &Request) -> Vec<String> {
    let mut items = Vec::new();
    let mut ids = PlainIds::default();
    for message in pair(&request.messages) {
        match message.as_ref() {
            Message::System(text) => items.push(said("developer", "input_text", text)),
            Message::User(parts) => items.push(said("user", "input_text", &user_text(parts))),
            Message::Assistant(parts) => {
                let parts = without_last_thoughts(parts).iter();
                items.extend(parts.filter_map(|part| reply_item(part, &mut ids)));
            }
            Message::ToolResult { call_id, text, .. } => items.push(
                Object::of_type("function_call_output")
                    .with("call_id", ids.of_result(call_id, MAX_ID))
                    .with("output", text)
                    .end(),
            ),
        }
    }
    items
}

fn said(role: &str, kind: &str, text: &str) -> String {
    let content = Object::of_type(kind).with("text", text).end();
    Object::of_type("message").with("role", role).with_raw("content", &array([content])).end()
}

fn reply_item(part: &ReplyPart, ids: &mut PlainIds) -> Option<String> {
    match part {
        ReplyPart::Text(text) => (!text.is_empty()).then(|| said("assistant", "output_text", text)),
        ReplyPart::Reasoning { opaque, .. } => {
            let own = opaque.as_ref().filter(|opaque| opaque.format == Format::Responses)?;
            is_object(&own.json).then(|| own.json.clone())
        }
        ReplyPart::Call { id, name, arguments } => Some(
            Object::of_type("function_call")
                .with("call_id", ids.of_call(id, MAX_ID))
                .with("name", name)
                .with("arguments", arguments)
                .end(),
        ),
    }
}
