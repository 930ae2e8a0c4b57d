//! Spans as JSON: ids in hexadecimal, whole numbers of 64 bits as text.

use serde_json::{Value as Json, json};

use super::{Batch, ERROR, SCOPE, flags, kind};
use crate::ids::hexadecimal;
use crate::span::{Span, Value};

pub(super) fn encode(batch: Batch<'_>) -> Json {
    let resource = batch.resource.iter();
    let resource: Vec<Json> = resource
        .map(|(name, value)| json!({ "key": name, "value": { "stringValue": value } }))
        .collect();
    let spans: Vec<Json> = batch.spans.iter().map(span).collect();
    let scope = json!({ "name": SCOPE, "version": env!("CARGO_PKG_VERSION") });
    json!({ "resourceSpans": [{
        "resource": { "attributes": resource },
        "scopeSpans": [{ "scope": scope, "spans": spans }],
    }] })
}

fn span(span: &Span) -> Json {
    let attributes = span.told.attributes.iter();
    let attributes: Vec<Json> =
        attributes.map(|(name, it)| json!({ "key": name, "value": value(it) })).collect();
    let mut json = json!({
        "traceId": hexadecimal(&span.trace),
        "spanId": hexadecimal(&span.id),
        "flags": flags(span),
        "name": span.told.name,
        "kind": kind(span),
        "startTimeUnixNano": span.start.to_string(),
        "endTimeUnixNano": span.end.to_string(),
        "attributes": attributes,
        "status": {},
    });
    if let Some(parent) = &span.parent {
        json["parentSpanId"] = hexadecimal(parent).into();
    }
    if span.told.has_failed {
        json["status"] = json!({ "code": ERROR });
    }
    json
}

fn value(value: &Value) -> Json {
    match value {
        Value::Text(text) => json!({ "stringValue": text }),
        Value::Whole(number) => json!({ "intValue": number.to_string() }),
        Value::Real(number) => json!({ "doubleValue": number }),
        Value::Switch(is_on) => json!({ "boolValue": is_on }),
    }
}
