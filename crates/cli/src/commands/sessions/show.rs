//! `metier sessions show`.

use metier_agent::{ToolResult, dispatch, fence};
use metier_session::content::{
    Approval, AssistantMessage, Call, Part, StateUpdate, ToolResponse, UserMessage,
};
use metier_session::{Content, Event, all_events};
use serde_json::{Value, json};

use super::{find, is_of_exec_alone, store};
use crate::commands::turn::calls::{Line, coded, commanded, decided, details, happened};
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::{plain, plain_block, style, styled};
use crate::wait::block_on;

/// Most characters of a call or a result that are shown.
const MAX_CHARS: usize = 200;

/// How a session is shown.
#[derive(Clone, Copy)]
pub(super) struct View {
    /// As JSON.
    pub json: bool,
    /// With everything that tools were asked and answered.
    pub details: bool,
}

/// Shows what happened in a session.
pub(super) fn show(context: &Context, name: &str, view: View) -> Result<u8, Failure> {
    let events = events_of(context, name)?;
    if view.json {
        context.output.json(&events);
        return Ok(OK);
    }
    let mut story = Story { calls: Vec::new(), code: Call::default(), details: view.details };
    let told: String = events.iter().map(|event| story.told(event)).collect();
    context.output.print(&told);
    if events.is_empty() {
        context.output.say(&format!("nothing was said in session {}", plain(name)));
    }
    Ok(OK)
}

/// The events of a session; one of `exec` alone has none.
fn events_of(context: &Context, name: &str) -> Result<Vec<Event>, Failure> {
    if is_of_exec_alone(context, name)? {
        return Ok(Vec::new());
    }
    let store = store(context, name)?;
    block_on(async {
        let at = find(context, &store, name).await?.at;
        Ok(all_events(&store, &at).await?)
    })
}

/// Tells events to people, one after the other.
struct Story<'a> {
    /// The calls of the last reply that are not answered. Others before may have had the same ids.
    calls: Vec<&'a Call>,
    /// The code of the last reply, as a call.
    code: Call,
    details: bool,
}

impl<'a> Story<'a> {
    fn told(&mut self, event: &'a Event) -> String {
        match &event.content {
            Content::User(message) => said_by_user(message),
            Content::Assistant(message) => {
                self.calls = message.calls().collect();
                self.code = code_in(message);
                self.said_by_model(message)
            }
            Content::ToolResponse(response) => self.answered(response),
            Content::StateUpdate(update) if update.cause == fence::CAUSE => self.ran_code(update),
            Content::StateUpdate(update) if update.cause == dispatch::CAUSE => {
                let result = ToolResult::of_update(update).unwrap_or_default();
                let text = update.text.as_deref().unwrap_or_default();
                self.happened(&commanded(update), text, &result)
            }
            Content::Approval(approval) => match decided(approval) {
                Some(it) => self.happened(&[it], "", &ToolResult::Text),
                None => line("asked", &question(approval)),
            },
            Content::StateUpdate(update) => {
                line("note", update.text.as_deref().unwrap_or(&update.cause))
            }
            Content::Summary(summary) => line("summary", &summary.text),
            other => line(other.kind(), ""),
        }
    }

    fn said_by_model(&self, message: &AssistantMessage) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => paragraph("model", &text.text),
            Part::Call(call) if self.details => {
                block("call", &format!("{} {}", call.name, call.arguments))
            }
            _ => String::new(),
        };
        message.parts.iter().map(part).collect()
    }

    fn answered(&mut self, response: &ToolResponse) -> String {
        let Some(at) = self.calls.iter().position(|call| call.id == response.call) else {
            return line(if response.is_error { "error" } else { "result" }, &response.text);
        };
        let call = self.calls.remove(at);
        let result = ToolResult::of_response(response);
        self.happened(&happened(call, response), &response.text, &result)
    }

    fn ran_code(&self, update: &StateUpdate) -> String {
        let result = ToolResult::of_update(update).unwrap_or_default();
        let text = update.text.as_deref().unwrap_or_default();
        self.happened(&coded(&self.code, update), text, &result)
    }

    fn happened(&self, lines: &[Line], text: &str, result: &ToolResult) -> String {
        let lines =
            lines.iter().map(|it| format!("  {}{}\n", styled(it.style, it.word), plain(&it.text)));
        let mut told: String = lines.collect();
        if self.details {
            told.push_str(&block("result", &details(text, result)));
        }
        told
    }
}

/// What a person was asked, on one line.
fn question(approval: &Approval) -> String {
    let request = &approval.request;
    let lines = |field: &str, between: &str| {
        let lines = request.get(field).and_then(Value::as_array).into_iter().flatten();
        lines.filter_map(Value::as_str).map(str::trim).collect::<Vec<_>>().join(between)
    };
    match (request.get("server"), request.get("server_tool")) {
        (Some(Value::String(server)), Some(Value::String(tool))) => {
            format!("mcp:{server}/{tool} {}", lines("arguments", " "))
        }
        _ => lines("command", "; "),
    }
}

/// The code of a reply as the call that it was not.
fn code_in(message: &AssistantMessage) -> Call {
    let command = fence::code_of(message).map(|code| code.text);
    let arguments = json!({ "command": command }).to_string();
    Call { name: fence::CAUSE.to_owned(), arguments, ..Call::default() }
}

fn said_by_user(message: &UserMessage) -> String {
    let mut text = paragraph("you", &message.text);
    for file in &message.attachments {
        text.push_str(&line("with", &format!("{} ({})", file.name, file.reference)));
    }
    for loaded in &message.loaded {
        text.push_str(&line("loaded", &loaded.skill));
    }
    text
}

/// Something whole, set in further, with a bar.
fn block(word: &str, text: &str) -> String {
    let block = plain_block(text.trim());
    let lines = block.lines().map(|line| format!("    {} {line}\n", styled(style::DIM, "│")));
    format!("    {}\n{}", styled(style::DIM, word), lines.collect::<String>())
}

/// Something that somebody said, with all its lines set in below who said it.
fn paragraph(who: &str, text: &str) -> String {
    let block = plain_block(text.trim());
    let lines = block.lines().map(|line| format!("  {line}\n"));
    format!("{}\n{}", styled(style::HEADING, who), lines.collect::<String>())
}

/// Something that takes one line.
fn line(word: &str, text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_CHARS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("  {} {}\n", styled(style::DIM, plain(word)), plain(&shown.replace('\n', " ")))
}
