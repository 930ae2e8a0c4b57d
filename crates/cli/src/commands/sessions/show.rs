//! `metier sessions show`.

use std::collections::HashMap;

use metier_agent::fence;
use metier_session::content::{
    AssistantMessage, Call, Part, StateUpdate, ToolResponse, UserMessage,
};
use metier_session::{Content, Event, all_events};
use serde_json::Value;

use super::{find, store};
use crate::commands::turn::calls::{Line, coded, details, happened};
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::{plain, plain_block, style, styled};
use crate::runs::block_on;

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
    let store = store(context, name)?;
    let events: Vec<Event> = block_on(async {
        let at = find(&store, name).await?.at;
        Ok(all_events(&store, &at).await?)
    })?;
    if view.json {
        context.output.json(&events);
    } else {
        let story = Story { calls: calls_of(&events), details: view.details };
        let told = events.iter().map(|event| story.told(event));
        context.output.print(&told.collect::<String>());
    }
    Ok(OK)
}

/// The calls of a session, by id.
fn calls_of(events: &[Event]) -> HashMap<&str, &Call> {
    let replies = events.iter().filter_map(|event| match &event.content {
        Content::Assistant(message) => Some(message),
        _ => None,
    });
    replies.flat_map(AssistantMessage::calls).map(|call| (call.id.as_str(), call)).collect()
}

/// Tells events to people.
struct Story<'a> {
    calls: HashMap<&'a str, &'a Call>,
    details: bool,
}

impl Story<'_> {
    fn told(&self, event: &Event) -> String {
        match &event.content {
            Content::User(message) => said_by_user(message),
            Content::Assistant(message) => self.said_by_model(message),
            Content::ToolResponse(response) => self.answered(response),
            Content::StateUpdate(update) if update.cause == fence::CAUSE => self.ran_code(update),
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

    fn answered(&self, response: &ToolResponse) -> String {
        let Some(call) = self.calls.get(response.call.as_str()) else {
            return line(if response.is_error { "error" } else { "result" }, &response.text);
        };
        self.happened(&happened(call, response), &response.text, &response.structured)
    }

    fn ran_code(&self, update: &StateUpdate) -> String {
        let result = update.extra.get(fence::STRUCTURED).cloned().unwrap_or_default();
        let text = update.text.as_deref().unwrap_or_default();
        self.happened(&coded(&Call::default(), update), text, &result)
    }

    fn happened(&self, lines: &[Line], text: &str, result: &Value) -> String {
        let lines =
            lines.iter().map(|it| format!("  {}{}\n", styled(it.style, it.word), plain(&it.text)));
        let mut told: String = lines.collect();
        if self.details {
            told.push_str(&block("result", &details(text, result)));
        }
        told
    }
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
