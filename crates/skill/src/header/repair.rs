//! Mending headers that people write and YAML refuses.
//!
//! Works on top-level entries only and touches just those that cannot be read by
//! themselves: a value with `: ` or with a first character YAML reserves is put in
//! quotes, a JSON value is read as JSON5. Every change is an [`Edit`] of the
//! original, so it can be offered as a fix and spans can be mapped back.

use crate::diagnostic::Edit;
use crate::header::entries::entries;
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

#[derive(Clone, Debug)]
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
    // A value that refers to another cannot be read alone and may still be right.
    let refers = |change: &&Change| change.edit.span.slice(header).contains('*');
    let certain: Vec<Change> = changes.iter().filter(|it| !refers(it)).cloned().collect();
    mend(header, certain).or_else(|| mend(header, changes))
}

/// Reads the header with some changes made, if that can be done.
fn mend(header: &str, changes: Vec<Change>) -> Option<Repaired> {
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
