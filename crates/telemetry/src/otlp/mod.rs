//! Spans in the two forms of OTLP.

mod json;
mod protobuf;

#[cfg(test)]
mod tests;

use crate::settings::Protocol;
use crate::span::Span;

/// Who made the spans, within the process.
const SCOPE: &str = "metier";
/// The kinds of spans.
const INTERNAL: u64 = 1;
const CLIENT: u64 = 3;
/// The status of a span that failed.
const ERROR: u64 = 2;
/// Flags: the span is wanted; it is known whether its parent is in another process; it is.
const SAMPLED: u32 = 1;
const KNOWS_REMOTE: u32 = 1 << 8;
const IS_REMOTE: u32 = 1 << 9;

/// What is sent: spans, with what is said about the process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch<'a> {
    pub(crate) resource: &'a [(String, String)],
    pub(crate) spans: &'a [Span],
}

impl Batch<'_> {
    /// The body of a request.
    pub(crate) fn encode(self, protocol: Protocol) -> Vec<u8> {
        match protocol {
            Protocol::Protobuf => protobuf::encode(self),
            Protocol::Json => json::encode(self).to_string().into_bytes(),
        }
    }
}

/// What the body of a request is, for its header.
pub(crate) fn content_type(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Protobuf => "application/x-protobuf",
        Protocol::Json => "application/json",
    }
}

fn kind(span: &Span) -> u64 {
    if span.told.is_client { CLIENT } else { INTERNAL }
}

fn flags(span: &Span) -> u32 {
    let remote = if span.is_remote_child { IS_REMOTE } else { 0 };
    SAMPLED | KNOWS_REMOTE | remote
}
