//! Writing JSON in a chosen order, with parts that are already text.

use std::collections::HashMap;

use serde::Serialize;

use crate::raw::fingerprint;
use crate::{Part, ReplyPart};

/// An object that is being written.
#[derive(Debug)]
pub(super) struct Object(String);

impl Object {
    pub(super) fn new() -> Self {
        Self(String::from("{"))
    }

    /// An object that begins with its `type`.
    pub(super) fn of_type(kind: &str) -> Self {
        Self::new().with("type", kind)
    }

    /// Adds a member.
    pub(super) fn with(self, key: &str, value: impl Serialize) -> Self {
        self.with_raw(key, &json(value))
    }

    /// Adds a member whose value is JSON text, as it stands.
    pub(super) fn with_raw(mut self, key: &str, text: &str) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&json(key));
        self.0.push(':');
        self.0.push_str(text);
        self
    }

    pub(super) fn with_some(self, key: &str, value: Option<impl Serialize>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    pub(super) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// An array of JSON texts.
pub(super) fn array(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<_> = items.into_iter().collect();
    format!("[{}]", items.join(","))
}

fn json(value: impl Serialize) -> String {
    serde_json::to_string(&value).expect("strings, numbers and JSON values are JSON")
}

/// A later message of the system, for providers that have no place for it.
pub(super) fn framed(text: &str) -> String {
    format!("<system_message>\n{text}\n</system_message>")
}

/// The text of what a user said.
pub(super) fn user_text(parts: &[Part]) -> String {
    let texts: Vec<_> = parts.iter().map(|Part::Text(text)| text.as_str()).collect();
    texts.join("\n\n")
}

/// The parts of a reply without thoughts and blanks at its end, which providers refuse: a reply
/// that was cut off there had not come to what the thought was for.
pub(super) fn without_last_thoughts(parts: &[ReplyPart]) -> &[ReplyPart] {
    let says = |part: &ReplyPart| match part {
        ReplyPart::Text(text) => !text.trim().is_empty(),
        ReplyPart::Call { .. } => true,
        ReplyPart::Reasoning { .. } => false,
    };
    let last = parts.iter().rposition(says);
    &parts[..last.map_or(0, |last| last + 1)]
}

/// What stands for arguments that are no object where only an object may stand; the model sees
/// what it wrote.
pub(super) fn invalid(arguments: &str) -> String {
    Object::new().with("invalid_arguments", arguments).end()
}

/// The ids of calls for a provider that takes letters, digits, `_` and `-` only, and each id once:
/// those of other providers may have more, and some servers count from the start in every reply.
#[derive(Debug, Default)]
pub(super) struct PlainIds {
    used: HashMap<String, usize>,
}

impl PlainIds {
    /// The id of a call.
    pub(super) fn of_call(&mut self, id: &str, max: usize) -> String {
        *self.used.entry(id.to_owned()).or_default() += 1;
        self.of_result(id, max)
    }

    /// The id of the latest call that had this one.
    pub(super) fn of_result(&self, id: &str, max: usize) -> String {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        match self.used.get(id) {
            Some(&times) if times > 1 => made_id(&format!("{id} {times}")),
            _ if id.chars().all(fits) => short_id(id, max),
            _ => made_id(id),
        }
    }
}

/// The id of a call for a provider that takes so many characters.
pub(super) fn short_id(id: &str, max: usize) -> String {
    if id.is_empty() || id.len() > max { made_id(id) } else { id.to_owned() }
}

fn made_id(id: &str) -> String {
    format!("call_{:016x}", fingerprint([id.as_bytes()]))
}
