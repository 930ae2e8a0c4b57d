//! What a model is sent: the messages that follow from the events of a session.
//!
//! A request is a function of the opening, the events and texts that are kept by digest. Events are only
//! ever appended, so a request begins with the bytes of the one before, except at an event that says it
//! breaks with them. Nothing here looks at a skill's own folder or at the clock.

use metier_model::{Message, Opaque, ReplyPart};
use metier_session::content::{
    AssistantMessage, Attachment, Loaded, Part, Reasoning, Summary, UserMessage,
};
use metier_session::{Content, Event};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::block::{self, DocText};
use crate::dispatch;
use crate::fence;
use crate::shelf::{Selection, Shelf};
use crate::shown::Window;
use crate::texts::{StagedTexts, TextError};

/// Begins a message with the text of skills that stands nowhere else.
pub(crate) const LOADED_CONTEXT: &str = "Loaded skill context:";
/// Begins the list of files that came with a message.
pub(crate) const ATTACHED: &str = "\n\nAttached files:\n";
/// Begins what came of the code in a reply.
const CODE_RESULT: &str = "Result of the code in your reply:";
/// Begins what came of a command that a person gave to a tool.
const COMMAND_RESULT: &str = "Result of that command, which the user ran without you:";
/// Begins a message that stands for older ones.
const SUMMARY: &str = "Summary of the conversation so far:";

/// Where the text of a loaded skill is put.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// At the result of the call that loaded it, where it stays.
    #[default]
    ToolResult,
    /// In the system message, as long as the skill is loaded.
    System,
}

/// What of the settings a session keeps from its first request on, because its requests depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Where the text of a loaded skill is put.
    pub placement: Placement,
    /// Longest body that is shown whole, in tokens.
    pub max_body_tokens: usize,
}

impl Default for Layout {
    fn default() -> Self {
        Self { placement: Placement::ToolResult, max_body_tokens: 25_000 }
    }
}

/// What requests are made of.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// The system text of the first request.
    pub system: &'a str,
    /// Everything that happened.
    pub events: &'a [Event],
    /// The skills that are loaded.
    pub shelf: &'a Shelf,
    /// Where text goes.
    pub layout: Layout,
    /// Where text comes from.
    pub texts: &'a StagedTexts,
}

/// The system text and the messages of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// The system text.
    pub system: String,
    /// The messages.
    pub messages: Vec<Message>,
}

impl Sources<'_> {
    /// Makes the conversation.
    ///
    /// # Errors
    ///
    /// When a text that was shown once is not there any more.
    pub fn conversation(&self) -> Result<Conversation, TextError> {
        let window = Window::of(self.events);
        let mut messages = Vec::new();
        if let Some(event) = window.summary
            && let Content::Summary(summary) = &event.content
        {
            self.push_summary(summary, &window, event, &mut messages)?;
        }
        for event in &window.events {
            self.push(event, &window, &mut messages)?;
        }
        Ok(Conversation { system: self.system_text()?, messages })
    }

    fn push_summary(
        &self,
        summary: &Summary,
        window: &Window<'_>,
        event: &Event,
        messages: &mut Vec<Message>,
    ) -> Result<(), TextError> {
        messages.push(Message::user(format!("{SUMMARY}\n\n{}", summary.text)));
        messages.extend(self.context(&window.at(event))?);
        Ok(())
    }

    fn push(
        &self,
        event: &Event,
        window: &Window<'_>,
        messages: &mut Vec<Message>,
    ) -> Result<(), TextError> {
        match &event.content {
            Content::User(message) => {
                messages.extend(self.context(&window.at(event))?);
                messages.push(Message::user(user_text(message)));
            }
            Content::Assistant(message) => messages.push(Message::Assistant(reply_parts(message))),
            Content::ToolResponse(response) => messages.push(Message::ToolResult {
                call_id: response.call.clone(),
                name: response.tool.clone(),
                text: self.result_text(&response.text, &window.at(event))?,
                is_error: response.is_error,
            }),
            // What code printed is nobody's order: it comes as what a user says does.
            Content::StateUpdate(update) if update.cause == fence::CAUSE => {
                let text = update.text.as_deref().unwrap_or_default();
                messages.push(Message::user(format!("{CODE_RESULT}\n\n{text}")));
            }
            Content::StateUpdate(update) if update.cause == dispatch::CAUSE => {
                let text = update.text.as_deref().unwrap_or_default();
                messages.push(Message::user(format!("{COMMAND_RESULT}\n\n{text}")));
            }
            Content::StateUpdate(update) => {
                messages.extend(update.text.clone().map(Message::System));
            }
            _ => {}
        }
        Ok(())
    }

    /// The text of a tool's result, with the text of a skill where that belongs.
    fn result_text(&self, text: &str, loaded: &[&Loaded]) -> Result<String, TextError> {
        if self.layout.placement == Placement::System {
            return Ok(text.to_owned());
        }
        let mut whole = String::new();
        for it in loaded {
            whole.push_str(&self.block(it)?);
        }
        if whole.is_empty() {
            return Ok(text.to_owned());
        }
        let is_stub = loaded.iter().any(|it| text == stub(&it.skill));
        let whole = whole.trim_end();
        Ok(if is_stub { whole.to_owned() } else { format!("{text}\n\n{whole}") })
    }

    /// Text of skills as a message of its own.
    fn context(&self, loaded: &[&Loaded]) -> Result<Option<Message>, TextError> {
        if self.layout.placement == Placement::System || loaded.is_empty() {
            return Ok(None);
        }
        let blocks: Result<Vec<String>, TextError> =
            loaded.iter().map(|it| self.block(it)).collect();
        let text = format!("{LOADED_CONTEXT}\n\n{}", blocks?.join("\n"));
        Ok(Some(Message::System(text.trim_end().to_owned())))
    }

    fn block(&self, loaded: &Loaded) -> Result<String, TextError> {
        let Loaded { skill, digest, server, body, docs, .. } = loaded;
        let docs = self.doc_texts(skill, digest, docs)?;
        if !body {
            return Ok(with_origin(server.as_deref(), block::selected(&docs)));
        }
        let body = with_origin(server.as_deref(), self.texts.body(skill, digest)?);
        Ok(block::loaded(skill, &body, &docs, self.layout.max_body_tokens))
    }

    fn doc_texts(
        &self,
        skill: &str,
        digest: &str,
        paths: &[String],
    ) -> Result<Vec<DocText>, TextError> {
        let texts = paths.iter().map(|path| {
            let text = self.texts.doc(skill, digest, path)?;
            Ok(DocText { path: path.clone(), text })
        });
        texts.collect()
    }

    /// The system text; in the older layout with every skill that is loaded, by name.
    fn system_text(&self) -> Result<String, TextError> {
        let mut system = self.system.to_owned();
        if self.layout.placement == Placement::ToolResult {
            return Ok(system);
        }
        let mut skills: Vec<(&str, &Selection)> = self.shelf.skills().collect();
        skills.sort_by_key(|(name, _)| *name);
        for (skill, selection) in skills {
            let Some(digest) = digest_of(self.events, skill) else { continue };
            let paths = match selection {
                Selection::All => self.texts.docs(skill, digest)?,
                Selection::Docs(docs) => docs.clone(),
            };
            let docs = self.doc_texts(skill, digest, &paths)?;
            let body = self.texts.body(skill, digest)?;
            let body = with_origin(server_of(self.events, skill), body);
            system.push_str("\n\n");
            let block = block::loaded(skill, &body, &docs, self.layout.max_body_tokens);
            system.push_str(block.trim_end());
        }
        Ok(system)
    }
}

fn with_origin(server: Option<&str>, text: String) -> String {
    match server {
        Some(server) => block::from_server(server, &text),
        None => text,
    }
}

/// The server a skill came from when it was loaded last, if it came from another one.
fn server_of<'a>(events: &'a [Event], skill: &str) -> Option<&'a str> {
    let of_skill = |event: &'a Event| event.content.loaded().iter().rfind(|it| it.skill == skill);
    events.iter().rev().find_map(of_skill)?.server.as_deref()
}

/// What a transcript says of a skill that was loaded.
pub fn stub(skill: &str) -> String {
    format!("loaded: {skill}")
}

/// The tree of a skill that took part in a session last.
pub fn digest_of<'a>(events: &'a [Event], skill: &str) -> Option<&'a str> {
    version_of(events, skill).map(|(digest, _)| digest)
}

/// The same with the identity of the skill, which events of older versions do not have.
pub(crate) fn version_of<'a>(
    events: &'a [Event],
    skill: &str,
) -> Option<(&'a str, Option<&'a str>)> {
    events.iter().rev().find_map(|event| {
        let identity = event.identities.get(skill).map(String::as_str);
        Some((event.digests.get(skill)?.as_str(), identity))
    })
}

fn user_text(message: &UserMessage) -> String {
    if message.attachments.is_empty() {
        return message.text.clone();
    }
    let line = |it: &Attachment| format!("- {} ({})", it.name, it.reference);
    let files: Vec<String> = message.attachments.iter().map(line).collect();
    format!("{}{ATTACHED}{}", message.text, files.join("\n"))
}

/// What goes back to the provider as it came.
fn opaque(reasoning: &Reasoning) -> Option<Opaque> {
    let format = serde_json::from_value(Value::String(reasoning.provider.clone())).ok()?;
    Some(Opaque { format, json: reasoning.json.clone() })
}

fn reply_parts(message: &AssistantMessage) -> Vec<ReplyPart> {
    let part = |part: &Part| match part {
        Part::Text(text) => Some(ReplyPart::Text(text.text.clone())),
        Part::Reasoning(it) => {
            Some(ReplyPart::Reasoning { text: String::new(), opaque: opaque(it) })
        }
        Part::Call(call) => Some(ReplyPart::Call {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        }),
        _ => None,
    };
    message.parts.iter().filter_map(part).collect()
}
