//! Spans as Protocol Buffers: the messages of `opentelemetry/proto/trace/v1`, as far as they are used.

use super::{Batch, ERROR, SCOPE, flags, kind};
use crate::span::{Span, Value};

pub(super) fn encode(batch: Batch<'_>) -> Vec<u8> {
    let mut resource = Message::default();
    for (name, value) in batch.resource {
        resource.message(1, &attribute(name, &Value::Text(value.clone())));
    }
    let mut scope = Message::default();
    scope.bytes(1, SCOPE.as_bytes());
    scope.bytes(2, env!("CARGO_PKG_VERSION").as_bytes());
    let mut scope_spans = Message::default();
    scope_spans.message(1, &scope);
    for it in batch.spans {
        scope_spans.message(2, &span(it));
    }
    let mut resource_spans = Message::default();
    resource_spans.message(1, &resource);
    resource_spans.message(2, &scope_spans);
    let mut request = Message::default();
    request.message(1, &resource_spans);
    request.0
}

fn span(span: &Span) -> Message {
    let mut message = Message::default();
    message.bytes(1, &span.trace);
    message.bytes(2, &span.id);
    if let Some(parent) = &span.parent {
        message.bytes(4, parent);
    }
    message.bytes(5, span.told.name.as_bytes());
    message.varint(6, kind(span));
    message.fixed64(7, span.start);
    message.fixed64(8, span.end);
    for (name, value) in &span.told.attributes {
        message.message(9, &attribute(name, value));
    }
    if span.told.has_failed {
        let mut status = Message::default();
        status.varint(3, ERROR);
        message.message(15, &status);
    }
    message.fixed32(16, flags(span));
    message
}

fn attribute(name: &str, value: &Value) -> Message {
    let mut any = Message::default();
    match value {
        Value::Text(text) => any.bytes(1, text.as_bytes()),
        Value::Switch(is_on) => any.varint(2, u64::from(*is_on)),
        Value::Whole(number) => any.varint(3, number.cast_unsigned()),
        Value::Real(number) => any.fixed64(4, number.to_bits()),
    }
    let mut message = Message::default();
    message.bytes(1, name.as_bytes());
    message.message(2, &any);
    message
}

/// A message on its way to bytes. Fields are numbered as in its definition.
#[derive(Default)]
struct Message(Vec<u8>);

/// How the value of a field is written.
#[derive(Clone, Copy)]
enum Wire {
    Varint = 0,
    Fixed64 = 1,
    Bytes = 2,
    Fixed32 = 5,
}

impl Message {
    fn varint(&mut self, field: u32, value: u64) {
        self.tag(field, Wire::Varint);
        self.number(value);
    }

    fn fixed64(&mut self, field: u32, value: u64) {
        self.tag(field, Wire::Fixed64);
        self.0.extend(value.to_le_bytes());
    }

    fn fixed32(&mut self, field: u32, value: u32) {
        self.tag(field, Wire::Fixed32);
        self.0.extend(value.to_le_bytes());
    }

    fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.tag(field, Wire::Bytes);
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn message(&mut self, field: u32, message: &Self) {
        self.bytes(field, &message.0);
    }

    fn tag(&mut self, field: u32, wire: Wire) {
        self.number(u64::from(field << 3 | wire as u32));
    }

    /// Seven bits at a time, the lowest first; the eighth says that there are more.
    fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}
