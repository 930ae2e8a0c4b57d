//! Requests as OpenAI's chat completions.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::write::{Object, array, framed, invalid, short_id, user_text};
use super::{Dialect, Format, Speech};
use crate::calls::pair;
use crate::raw::{RawObject, is_object};
use crate::{AllowedCall, Message, ReplyPart, Request, ToolChoice, ToolSpec};

/// The limit of OpenAI. Others put into an id what they want back, and have no limit.
const MAX_ID: usize = 40;

pub(super) fn encode(request: &Request, speech: &Speech<'_>) -> String {
    let original = speech.dialect == Dialect::Original;
    let longest = if original { "max_completion_tokens" } else { "max_tokens" };
    let mut body = Object::new()
        .with("model", speech.model)
        .with("stream", true)
        .with("stream_options", json!({"include_usage": true}))
        .with_some(longest, request.max_output_tokens)
        .with_some("prompt_cache_key", request.cache_key.as_ref().filter(|_| original));
    for (name, value) in speech.parameters {
        body = body.with(name, value);
    }
    if !request.tools.is_empty() {
        body = body.with_raw("tools", &array(request.tools.iter().map(tool)));
        body = tool_choice(body, request, speech.dialect);
    }
    body.with_raw("messages", &array(messages(request, speech))).end()
}

fn tool(tool: &ToolSpec) -> String {
    let function = Object::new()
        .with("name", &tool.name)
        .with("description", &tool.description)
        .with("parameters", &tool.schema);
    Object::of_type("function").with_raw("function", &function.end()).end()
}

fn tool_choice(body: Object, request: &Request, dialect: Dialect) -> Object {
    let named = |call: &AllowedCall| json!({"type": "function", "function": {"name": call.name}});
    match (&request.tool_choice, dialect) {
        (ToolChoice::Auto, _) => body,
        (ToolChoice::None, _) => body.with("tool_choice", "none"),
        (ToolChoice::Required, _) => body.with("tool_choice", "required"),
        (ToolChoice::Constrained(allowed), Dialect::Original) => {
            let tools: Vec<_> = allowed.iter().map(named).collect();
            let choice = json!({"mode": "required", "tools": tools});
            body.with("tool_choice", json!({"type": "allowed_tools", "allowed_tools": choice}))
        }
        // The reply is then the JSON of a call, which is read as that call.
        (ToolChoice::Constrained(allowed), Dialect::Compatible) => {
            let schema = call_schema(allowed, &request.tools);
            let schema = json!({"name": "call", "strict": true, "schema": schema});
            body.with("tool_choice", "none")
                .with("response_format", json!({"type": "json_schema", "json_schema": schema}))
        }
    }
}

/// The schema of the JSON of one of these calls.
fn call_schema(allowed: &[AllowedCall], tools: &[ToolSpec]) -> Value {
    let own = |name: &str| tools.iter().find(|tool| tool.name == name).map(|tool| &tool.schema);
    let calls = allowed.iter().filter_map(|call| {
        let arguments = call.schema.as_ref().or_else(|| own(&call.name))?;
        Some(json!({
            "type": "object",
            "properties": {"name": {"const": call.name}, "arguments": arguments},
            "required": ["name", "arguments"],
            "additionalProperties": false,
        }))
    });
    json!({"anyOf": calls.collect::<Vec<_>>()})
}

fn messages(request: &Request, speech: &Speech<'_>) -> Vec<String> {
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(said("system", &request.system));
    }
    for message in pair(&request.messages) {
        messages.push(match message.as_ref() {
            Message::System(text) if speech.dialect == Dialect::Original => said("system", text),
            Message::System(text) => said("user", &framed(text)),
            Message::User(parts) => said("user", &user_text(parts)),
            Message::Assistant(parts) => assistant(parts, speech),
            Message::ToolResult { call_id, text, .. } => Object::new()
                .with("role", "tool")
                .with("tool_call_id", call_id_for(speech.dialect, call_id))
                .with("content", text)
                .end(),
        });
    }
    messages
}

fn call_id_for(dialect: Dialect, id: &str) -> String {
    match dialect {
        Dialect::Original => short_id(id, MAX_ID),
        Dialect::Compatible => id.to_owned(),
    }
}

/// Servers that put the conversation into a template parse the arguments for it, and fail on
/// those that are not JSON.
fn arguments_for(dialect: Dialect, arguments: &str) -> Cow<'_, str> {
    if dialect == Dialect::Original || is_object(arguments) {
        Cow::Borrowed(arguments)
    } else {
        Cow::Owned(invalid(arguments))
    }
}

fn said(role: &str, text: &str) -> String {
    Object::new().with("role", role).with("content", text).end()
}

fn assistant(parts: &[ReplyPart], speech: &Speech<'_>) -> String {
    let mut message = Object::new().with("role", "assistant");
    let (mut text, mut calls) = (String::new(), Vec::new());
    for part in parts {
        match part {
            ReplyPart::Text(more) => text.push_str(more),
            ReplyPart::Call { id, name, arguments } => {
                let id = call_id_for(speech.dialect, id);
                calls.push(call(&id, name, &arguments_for(speech.dialect, arguments)));
            }
            ReplyPart::Reasoning { opaque, .. } => {
                let own = opaque.as_ref().filter(|o| o.format == Format::ChatCompletions);
                let members = own.and_then(|opaque| RawObject::parse(&opaque.json));
                for (key, value) in members.unwrap_or_default().entries {
                    if returns(speech, &key) {
                        message = message.with_raw(&key, value.get());
                    }
                }
            }
        }
    }
    if calls.is_empty() {
        return message.with("content", text).end();
    }
    let text = if text.is_empty() { None } else { Some(text) };
    message.with("content", text).with_raw("tool_calls", &array(calls)).end()
}

/// Whether a thought goes back under this name. OpenAI itself has no place for one in this format,
/// and OpenRouter wants its details back.
fn returns(speech: &Speech<'_>, name: &str) -> bool {
    let wanted = speech.return_reasoning || name == "reasoning_details";
    wanted && speech.dialect == Dialect::Compatible
}

fn call(id: &str, name: &str, arguments: &str) -> String {
    let function = Object::new().with("name", name).with("arguments", arguments).end();
    Object::new().with("id", id).with("type", "function").with_raw("function", &function).end()
}
