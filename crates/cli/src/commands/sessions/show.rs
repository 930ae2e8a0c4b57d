//! `metier sessions show`.

use metier_session::content::{AssistantMessage, Part, ToolResponse, UserMessage};
use metier_session::{Content, Event, all_events};

use super::{find, store};
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::{plain, plain_block, style, styled};
use crate::runs::block_on;

/// Most characters of a call or a result that are shown.
const MAX_CHARS: usize = 200;

/// Shows what happened in a session.
pub(super) fn show(context: &Context, name: &str, json: bool) -> Result<u8, Failure> {
    let store = store(context, name)?;
    let events: Vec<Event> = block_on(async {
        let at = find(&store, name).await?.at;
        Ok(all_events(&store, &at).await?)
    })?;
    if json {
        context.output.json(&events);
    } else {
        context.output.print(&events.iter().map(told).collect::<String>());
    }
    Ok(OK)
}

/// An event for people.
fn told(event: &Event) -> String {
    match &event.content {
        Content::User(message) => said_by_user(message),
        Content::Assistant(message) => said_by_model(message),
        Content::ToolResponse(response) => answered(response),
        Content::StateUpdate(update) => {
            line("note", update.text.as_deref().unwrap_or(&update.cause))
        }
        Content::Summary(summary) => line("summary", &summary.text),
        other => line(other.kind(), ""),
    }
}

fn said_by_user(message: &UserMessage) -> String {
    let mut text = paragraph("you", &message.text);
    for file in &message.attachments {
        text.push_str(&line("with", &format!("{} ({})", file.name, file.reference)));
    }
    text
}

fn said_by_model(message: &AssistantMessage) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => paragraph("model", &text.text),
        Part::Call(call) => line("call", &format!("{} {}", call.name, call.arguments)),
        _ => String::new(),
    };
    message.parts.iter().map(part).collect()
}

fn answered(response: &ToolResponse) -> String {
    line(if response.is_error { "error" } else { "result" }, &response.text)
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
