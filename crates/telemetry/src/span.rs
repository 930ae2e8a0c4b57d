//! A span, as it is sent.

use std::fmt;

use metier_secrets::Redactor;
use tracing::field::{Field, Visit};

use crate::ids::{SpanId, TraceId};

/// Longest text of an attribute, in bytes. Whatever is longer was not meant to be one.
const MAX_TEXT: usize = 1024;

/// Bytes of the longest character.
const MAX_CHARACTER: usize = 4;

/// What fields mean that are not attributes.
const NAME: &str = "otel.name";
const KIND: &str = "otel.kind";
const STATUS: &str = "otel.status_code";

/// A span that has ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) trace: TraceId,
    pub(crate) id: SpanId,
    pub(crate) parent: Option<SpanId>,
    /// Whether the parent is a span of another process.
    pub(crate) is_remote_child: bool,
    /// In nanoseconds since 1970, like the end.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) told: Told,
}

/// What a span was told by whoever made it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Told {
    pub(crate) name: String,
    pub(crate) is_client: bool,
    pub(crate) has_failed: bool,
    pub(crate) attributes: Vec<(&'static str, Value)>,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Whole(i64),
    Real(f64),
    Switch(bool),
}

impl Told {
    /// Masks the values of keys.
    pub(crate) fn mask(&mut self, redactor: &Redactor) {
        let texts = self.attributes.iter_mut().filter_map(|(_, value)| match value {
            Value::Text(text) => Some(text),
            _ => None,
        });
        for text in texts.chain([&mut self.name]) {
            *text = match text.len() > MAX_TEXT - MAX_CHARACTER {
                // It may have been cut.
                true => redactor.redact_beginning(text),
                false => redactor.redact(text).into_owned(),
            };
        }
    }

    fn set(&mut self, name: &'static str, value: Value) {
        match (name, value) {
            (NAME, Value::Text(text)) => self.name = text,
            (KIND, value) => self.is_client = value == Value::Text("client".to_owned()),
            (STATUS, value) => self.has_failed = value == Value::Text("ERROR".to_owned()),
            (name, value) => match self.attributes.iter_mut().find(|it| it.0 == name) {
                Some((_, known)) => *known = value,
                None => self.attributes.push((name, value)),
            },
        }
    }
}

impl Visit for Told {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field.name(), Value::Real(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field.name(), Value::Whole(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field.name(), Value::Whole(i64::try_from(value).unwrap_or(i64::MAX)));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field.name(), Value::Switch(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let end = value.floor_char_boundary(MAX_TEXT);
        self.set(field.name(), Value::Text(value[..end].to_owned()));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}
