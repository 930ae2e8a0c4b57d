//! The short way through nearly every header: entries of one plain line are taken as they stand,
//! and only the others are handed to the YAML parser, one by one.
//!
//! Says exactly what the parser says of the whole header, or nothing; a property test holds it to
//! that. It saves a fifth of a cold scan, which is spent in the parser's machinery more than
//! in the text.

use crate::header::entries::{Entry, entries};
use crate::header::yaml::{self, Kind, Node, Tree};
use crate::text::Span;

/// Reads a header whose entries can be read apart.
pub(crate) fn parse(header: &str) -> Option<Tree> {
    // To YAML a carriage return ends a line by itself.
    if header.contains('\r') {
        return None;
    }
    let entries = entries(header)?;
    // A remark above the entries is skipped here, so it must be one that YAML skips.
    let above = &header[..entries.first()?.span.start];
    if !above.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n')) {
        return None;
    }
    let mut pairs: Vec<(Node, Node)> = Vec::with_capacity(entries.len());
    for entry in &entries {
        let pair = plain_line(header, entry).or_else(|| apart(header, entry))?;
        if pairs.iter().any(|(key, _)| key.kind == pair.0.kind) {
            return None;
        }
        pairs.push(pair);
    }
    let span = Span::new(pairs.first()?.0.span.start, pairs.last()?.1.span.end);
    let root = Node { span, kind: Kind::Mapping(pairs) };
    Some(Tree { root, feature: None })
}

/// An entry on one line whose value is surely the text that stands there.
fn plain_line(header: &str, entry: &Entry) -> Option<(Node, Node)> {
    let (line, key, value) =
        (entry.span.slice(header), entry.key.slice(header), entry.value.slice(header));
    let one_line = line.strip_suffix('\n').unwrap_or(line);
    // Only spaces may stand around the value: other blanks mean something to YAML, or nothing.
    let is_plain = one_line[key.len() + 1..].trim_matches(' ') == value
        && is_plain_word(key)
        && is_plain_text(value);
    let node = |span: Span| Node { span, kind: Kind::Scalar(span.slice(header).to_owned()) };
    is_plain.then(|| (node(entry.key), node(entry.value)))
}

fn is_plain_word(key: &str) -> bool {
    key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        && !key.starts_with('-')
        && key != "null"
}

/// Visible ASCII that begins like a word and has none of the signs that end a plain scalar.
fn is_plain_text(value: &str) -> bool {
    value.starts_with(|first: char| first.is_ascii_alphanumeric())
        && value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && !value.contains(": ")
        && !value.contains(" #")
        && !value.ends_with(':')
        && !matches!(value, "null" | "Null" | "NULL")
}

/// An entry that the parser reads by itself, as it would among the others.
fn apart(header: &str, entry: &Entry) -> Option<(Node, Node)> {
    let tree = yaml::parse(entry.span.slice(header)).ok()?;
    let Kind::Mapping(mut pairs) = tree.root.kind else { return None };
    let only = pairs.pop().filter(|_| pairs.is_empty() && tree.feature.is_none())?;
    let mut pair = (only.0, only.1);
    pair.0.shift(entry.span.start);
    pair.1.shift(entry.span.start);
    (pair.0.text() == Some(entry.key.slice(header))).then_some(pair)
}
