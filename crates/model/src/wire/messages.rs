//! Requests as Anthropic's Messages.
//!
//! Marks for the prompt's cache are set after the tools, after the system text, and at the end of
//! the last two turns of the user, so that each request finds what the one before it wrote.

use serde_json::json;

use super::write::{Object, PlainIds, array, framed, invalid, without_last_thoughts};
use super::{Format, Speech};
use crate::calls::pair;
use crate::raw::is_object;
use crate::{Message, Part, ReplyPart, Request, ToolChoice, ToolSpec};

/// Anthropic's own limit.
const MAX_ID: usize = 64;

/// How long a reply may be if the caller does not say; this format must say something.
const MAX_TOKENS: u32 = 8192;

/// How many turns of the user are marked.
const MARKED_TURNS: usize = 2;

pub(super) const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

pub(super) fn encode(request: &Request, speech: &Speech<'_>) -> String {
    let mut body = Object::new()
        .with("model", speech.model)
        .with("stream", true)
        .with("max_tokens", request.max_output_tokens.unwrap_or(MAX_TOKENS));
    for (name, value) in speech.parameters {
        body = body.with(name, value);
    }
    if !request.tools.is_empty() {
        let mut tools: Vec<_> = request.tools.iter().map(tool).collect();
        mark(tools.last_mut());
        body = body.with_raw("tools", &array(tools));
        body = tool_choice(body, &request.tool_choice);
    }
    if !request.system.is_empty() {
        let mut system = text_block(&request.system);
        mark(Some(&mut system));
        body = body.with_raw("system", &array([system]));
    }
    let mut turns = turns(request);
    let users = turns.iter_mut().rev().filter(|turn| turn.role == "user");
    users.take(MARKED_TURNS).for_each(|turn| mark(turn.blocks.last_mut()));
    body.with_raw("messages", &array(turns.into_iter().map(Turn::end))).end()
}

/// Puts a mark into a block, as its last member.
fn mark(block: Option<&mut String>) {
    if let Some(block) = block {
        block.insert_str(block.len() - 1, MARK);
    }
}

fn tool(tool: &ToolSpec) -> String {
    Object::new()
        .with("name", &tool.name)
        .with("description", &tool.description)
        .with("input_schema", &tool.schema)
        .end()
}

fn tool_choice(body: Object, choice: &ToolChoice) -> Object {
    let choice = match choice {
        ToolChoice::Auto => return body,
        ToolChoice::None => json!({"type": "none"}),
        ToolChoice::Constrained(allowed) if allowed.len() == 1 => {
            json!({"type": "tool", "name": allowed[0].name})
        }
        ToolChoice::Required | ToolChoice::Constrained(_) => json!({"type": "any"}),
    };
    body.with("tool_choice", choice)
}

/// Consecutive messages of one side, which this format wants as one.
struct Turn {
    role: &'static str,
    blocks: Vec<String>,
}

impl Turn {
    fn end(self) -> String {
        Object::new().with("role", self.role).with_raw("content", &array(self.blocks)).end()
    }
}

fn turns(request: &Request) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut ids = PlainIds::default();
    for message in pair(&request.messages) {
        let (role, blocks) = match message.as_ref() {
            Message::System(text) => ("user", vec![text_block(&framed(text))]),
            Message::User(parts) => ("user", user_blocks(parts)),
            Message::Assistant(parts) => ("assistant", reply_blocks(parts, &mut ids)),
            Message::ToolResult { call_id, text, is_error, .. } => {
                ("user", vec![tool_result(&ids.of_result(call_id, MAX_ID), text, *is_error)])
            }
        };
        if turns.is_empty() && role == "assistant" {
            // A conversation begins with the user, even one whose beginning was cut.
            turns.push(Turn {
                role: "user",
                blocks: vec![text_block("(earlier messages left out)")],
            });
        }
        match turns.last_mut() {
            Some(turn) if turn.role == role => turn.blocks.extend(blocks),
            _ => turns.push(Turn { role, blocks }),
        }
    }
    turns
}

fn text_block(text: &str) -> String {
    Object::of_type("text").with("text", text).end()
}

/// Empty texts are refused.
fn user_blocks(parts: &[Part]) -> Vec<String> {
    let texts = parts.iter().map(|Part::Text(text)| text).filter(|text| !text.trim().is_empty());
    let blocks: Vec<_> = texts.map(|text| text_block(text)).collect();
    if blocks.is_empty() { vec![text_block("(empty message)")] } else { blocks }
}

fn reply_blocks(parts: &[ReplyPart], ids: &mut PlainIds) -> Vec<String> {
    let parts = without_last_thoughts(parts).iter();
    let blocks: Vec<_> = parts.filter_map(|part| reply_block(part, ids)).collect();
    if blocks.is_empty() { vec![text_block("(empty reply)")] } else { blocks }
}

fn reply_block(part: &ReplyPart, ids: &mut PlainIds) -> Option<String> {
    match part {
        ReplyPart::Text(text) => (!text.trim().is_empty()).then(|| text_block(text)),
        ReplyPart::Reasoning { opaque, .. } => {
            let own = opaque.as_ref().filter(|opaque| opaque.format == Format::Messages)?;
            is_object(&own.json).then(|| own.json.clone())
        }
        ReplyPart::Call { id, name, arguments } => {
            let block =
                Object::of_type("tool_use").with("id", ids.of_call(id, MAX_ID)).with("name", name);
            Some(if is_object(arguments) {
                block.with_raw("input", arguments).end()
            } else {
                block.with_raw("input", &invalid(arguments)).end()
            })
        }
    }
}

fn tool_result(call_id: &str, text: &str, is_error: bool) -> String {
    let result = Object::of_type("tool_result").with("tool_use_id", call_id);
    let text = if text.is_empty() { "(no output)" } else { text };
    let result = result.with("content", text);
    if is_error { result.with("is_error", true).end() } else { result.end() }
}
