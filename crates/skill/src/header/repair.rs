//! Mending headers that people write and YAML refuses.
//!
//! Works on top-level entries only and touches just those that cannot be read by
//! themselves: a value with `: ` or with a first character YAML reserves is put in
//! quotes, a JSON value is read as JSON5. Every change is an [`Edit`] of the
//! original, so it can be offered as a fix and spans can be mapped back.

use crate::diagnostic::Edit;
use crate::header::yaml::{self, Kind, Tree};
use crate::text::Span;

/// Nesting that is handed to the JSON5 reader, which recurses.
const MAX_JSON_DEPTH: usize = 32;

/// A header that could be read after some of its values were rewritten.
#[derive(Debug)]
pub(crate) struct Repaired {
    /// The tree, with spans of the original header.
    pub(crate) tree: Tree,
    /// The keys that were rewritten and how, in order.
    pub(crate) changes: Vec<Change>,
}

#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) key: String,
    pub(crate) edit: Edit,
    pub(crate) meaning: Meaning,
}

/// Whether the rewritten value still is what its author wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Kept,
    /// A structure that could not be read became text.
    Lost,
}

/// Tries to make `header` readable; `None` when it is not that kind of broken.
pub(crate) fn repair(header: &str) -> Option<Repaired> {
    let mut changes = Vec::new();
    for entry in entries(header)? {
        if !reads_alone(entry.span.slice(header), entry.key.slice(header)) {
            let (replacement, meaning) = rewrite(entry.value.slice(header))?;
            changes.push(Change {
                key: entry.key.slice(header).to_owned(),
                edit: Edit { span: entry.value, replacement },
                meaning,
            });
        }
    }
    if changes.is_empty() {
        return None;
    }
    let edits = EditedText::new(header, changes.iter().map(|change| &change.edit));
    let mut tree = yaml::parse(&edits.text).ok()?;
    edits.map_back(&mut tree.root);
    tree.feature = tree.feature.map(|span| edits.original(span));
    Some(Repaired { tree, changes })
}

/// Text as a YAML scalar in quotes.
pub(crate) fn quoted(text: &str) -> String {
    let needs_escapes = text.chars().any(char::is_control);
    if needs_escapes || (text.contains('\'') && !text.contains(['"', '\\'])) {
        serde_json::Value::from(text).to_string()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

/// A top-level `key: value` with the lines that belong to it.
struct Entry {
    span: Span,
    key: Span,
    value: Span,
}

/// The top-level entries, or nothing if some line at the margin is neither a key, a comment nor
/// the end of a value (a conflict marker, for instance): such a file is not ours to guess at.
fn entries(header: &str) -> Option<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut offset = 0;
    for line in header.split_inclusive('\n') {
        let (start, end) = (offset, offset + line.len());
        offset = end;
        if let Some(key_length) = key_length(line) {
            let value = start + key_length + 1;
            entries.push(Entry {
                span: Span::new(start, end),
                key: Span::new(start, start + key_length),
                value: Span::new(value, end),
            });
            continue;
        }
        let continues = line.starts_with([' ', '\t', '}', ']', '#']) || line.trim().is_empty();
        match entries.last_mut() {
            Some(entry) if continues => {
                entry.span.end = end;
                entry.value.end = end;
            }
            None if line.starts_with('#') || line.trim().is_empty() => {}
            _ => return None,
        }
    }
    for entry in &mut entries {
        trim(&mut entry.value, header);
    }
    Some(entries)
}

/// The bytes before the colon when a line at the margin starts an entry.
fn key_length(line: &str) -> Option<usize> {
    let length = line.find(':')?;
    let key = &line[..length];
    let is_word = |character: char| character.is_alphanumeric() || "_-.".contains(character);
    let followed = line[length + 1..].chars().next().is_none_or(char::is_whitespace);
    (!key.is_empty() && key.chars().all(is_word) && followed).then_some(length)
}

fn trim(span: &mut Span, text: &str) {
    let value = span.slice(text);
    let leading = value.len() - value.trim_start().len();
    let start = span.start + leading;
    *span = Span::new(start, start.max(span.start + value.trim_end().len()));
}

fn reads_alone(entry: &str, key: &str) -> bool {
    let Ok(tree) = yaml::parse(entry) else { return false };
    match tree.root.kind {
        Kind::Mapping(entries) => entries.len() == 1 && entries[0].0.text() == Some(key),
        _ => false,
    }
}

/// A value that YAML reads as what its author meant, as far as that can be told.
fn rewrite(value: &str) -> Option<(String, Meaning)> {
    if value.starts_with(['|', '>']) && value.contains('\n') {
        return None;
    }
    if let Some(json) = value.starts_with(['{', '[']).then(|| json5(value)).flatten() {
        return Some((json.to_string(), Meaning::Kept));
    }
    let structure = value.starts_with('{') || (value.starts_with('[') && !value.contains(']'));
    let meaning = if structure { Meaning::Lost } else { Meaning::Kept };
    Some((quoted(&without_quotes(&folded(value))), meaning))
}

/// Reads JSON5 text, refusing depths that would exhaust the stack.
pub(crate) fn json5(text: &str) -> Option<serde_json::Value> {
    let mut depth = 0_usize;
    for character in text.chars() {
        match character {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_JSON_DEPTH {
            return None;
        }
    }
    json5::from_str(text).ok()
}

/// Lines joined as YAML folds a plain scalar.
fn folded(value: &str) -> String {
    value.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A value its author put in quotes, but with quotes inside.
fn without_quotes(value: &str) -> String {
    let inner = |quote: char| {
        value
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
            .filter(|inner| !inner.is_empty())
    };
    match (inner('"'), inner('\'')) {
        (Some(inner), _) => inner.replace("\\\"", "\""),
        (_, Some(inner)) => inner.replace("''", "'"),
        _ => value.to_owned(),
    }
}

/// A text after edits, and the way back to places of the original.
struct EditedText {
    text: String,
    /// For each edit, in order: the replaced range, and the range that replaces it.
    replaced: Vec<(Span, Span)>,
}

impl EditedText {
    fn new<'a>(original: &str, edits: impl Iterator<Item = &'a Edit>) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut replaced = Vec::new();
        let mut done = 0;
        for edit in edits {
            text.push_str(&original[done..edit.span.start]);
            let start = text.len();
            text.push_str(&edit.replacement);
            replaced.push((edit.span, Span::new(start, text.len())));
            done = edit.span.end;
        }
        text.push_str(&original[done..]);
        Self { text, replaced }
    }

    fn map_back(&self, node: &mut yaml::Node) {
        node.span = self.original(node.span);
        match &mut node.kind {
            Kind::Sequence(items) => items.iter_mut().for_each(|item| self.map_back(item)),
            Kind::Mapping(entries) => entries.iter_mut().for_each(|(key, value)| {
                self.map_back(key);
                self.map_back(value);
            }),
            Kind::Null | Kind::Scalar(_) => {}
        }
    }

    /// A place inside a replacement is the whole range that was replaced.
    fn original(&self, span: Span) -> Span {
        let start = self.original_offset(span.start, |old| old.start);
        let end = self.original_offset(span.end, |old| old.end);
        Span::new(start, end.max(start))
    }

    fn original_offset(&self, offset: usize, inside: impl Fn(Span) -> usize) -> usize {
        let mut shift = 0;
        for &(old, new) in &self.replaced {
            if offset < new.start {
                break;
            }
            if offset <= new.end {
                return inside(old);
            }
            shift = old.end as isize - new.end as isize;
        }
        offset.saturating_add_signed(shift)
    }
}
