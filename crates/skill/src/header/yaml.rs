//! YAML to a tree with spans. The only module that knows the YAML crate.
//!
//! Built on parser events rather than on typed deserialisation: a scalar keeps
//! its text (`version: 1.0` stays `1.0`), unknown keys keep their place, and
//! depth, nodes and text are bounded here, aliases included.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{Event, Marker, Options, Parser, ScalarStyle, ScanError};
use serde::{Serialize, Serializer};
use thiserror::Error;

use crate::text::Span;

/// Deepest nesting of a header; real ones have four levels.
const MAX_DEPTH: usize = 32;
/// Most nodes of a header with its aliases expanded; real ones have under a hundred.
const MAX_NODES: usize = 10_000;
/// Most text of a header with its aliases expanded, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) kind: Kind,
    /// A scalar whose text stands there as it is, so that YAML would see numbers and switches in it.
    pub(crate) is_plain: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    /// A scalar with its text, never interpreted.
    Scalar(String),
    Sequence(Vec<Node>),
    Mapping(Vec<(Node, Node)>),
}

impl Node {
    /// A value that is not a plain scalar.
    pub(crate) fn new(span: Span, kind: Kind) -> Self {
        Self { span, kind, is_plain: false }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// Moves the spans of this and everything below it.
    pub(crate) fn shift(&mut self, by: usize) {
        self.span = self.span.shifted(by);
        match &mut self.kind {
            Kind::Sequence(items) => items.iter_mut().for_each(|item| item.shift(by)),
            Kind::Mapping(entries) => entries.iter_mut().for_each(|(key, value)| {
                key.shift(by);
                value.shift(by);
            }),
            Kind::Null | Kind::Scalar(_) => {}
        }
    }

    /// What this is, for messages.
    pub(crate) fn type_name(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing",
            Kind::Scalar(_) => "a string",
            Kind::Sequence(_) => "a list",
            Kind::Mapping(_) => "a mapping",
        }
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        use serde_json::Value;
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Scalar(text) => Value::String(text.clone()),
            Kind::Sequence(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            Kind::Mapping(entries) => Value::Object(
                entries
                    .iter()
                    .map(|(key, value)| (key.as_text().into_owned(), value.to_json()))
                    .collect(),
            ),
        }
    }

    /// The scalar's text, or the whole value as JSON.
    pub(crate) fn as_text(&self) -> Cow<'_, str> {
        match &self.kind {
            Kind::Null => Cow::Borrowed(""),
            Kind::Scalar(text) => Cow::Borrowed(text),
            _ => Cow::Owned(self.as_json()),
        }
    }

    /// The whole value as JSON text.
    pub(crate) fn as_json(&self) -> String {
        serde_json::to_string(self).expect("keys are strings and a string takes everything")
    }
}

/// Says what [`Node::to_json`] says without making it.
impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.kind {
            Kind::Null => serializer.serialize_unit(),
            Kind::Scalar(text) => serializer.serialize_str(text),
            Kind::Sequence(items) => serializer.collect_seq(items),
            Kind::Mapping(entries) if entries.iter().all(|(key, _)| key.text().is_some()) => {
                serializer.collect_map(entries.iter().map(|(key, value)| (key, value)))
            }
            // Keys that are no strings may become one and the same.
            Kind::Mapping(_) => self.to_json().serialize(serializer),
        }
    }
}

/// A header that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tree {
    pub(crate) root: Node,
    /// The first anchor, alias or tag, if any is used.
    pub(crate) feature: Option<Span>,
}

/// Why the text is not usable YAML.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum YamlError {
    #[error("{message}")]
    Syntax { at: Span, message: String },
    #[error("the key `{key}` stands twice")]
    Duplicate { key: String, first: Span, second: Span },
    #[error("the header is too {what}")]
    TooLarge { at: Span, what: &'static str },
}

impl YamlError {
    pub(crate) fn place(&self) -> Span {
        match self {
            Self::Syntax { at, .. } | Self::TooLarge { at, .. } => *at,
            Self::Duplicate { second, .. } => *second,
        }
    }
}

/// Reads one YAML document as JSON: scalars are their text, never interpreted.
///
/// Not for headers, which are mended and have diagnostics. `None` is text that is no YAML, or has a key twice,
/// or is larger than any configuration.
#[must_use]
pub fn yaml(text: &str) -> Option<serde_json::Value> {
    parse(text).ok().map(|tree| tree.root.to_json())
}

/// Reads one YAML document. Spans are byte offsets of `text`.
pub(crate) fn parse(text: &str) -> Result<Tree, YamlError> {
    let mut options = Options::default();
    options.flow_nesting_limit = MAX_DEPTH;
    options.block_nesting_limit = MAX_DEPTH;
    options.set_emit_comments(false);
    let mut builder = Builder::new(text);
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| builder.syntax(&error))?;
        builder.take(event, builder.offsets.span(&span))?;
    }
    let empty = Node::new(Span::at(0), Kind::Null);
    Ok(Tree { root: builder.root.unwrap_or(empty), feature: builder.feature })
}

/// A collection that is still open.
enum Open {
    Sequence { start: usize, anchor: usize, items: Vec<Node> },
    Mapping { start: usize, anchor: usize, entries: Vec<(Node, Node)>, key: Option<Node> },
}

/// Puts events together, counting what it makes.
struct Builder<'a> {
    offsets: Offsets<'a>,
    open: Vec<Open>,
    anchors: HashMap<usize, (Node, Size)>,
    root: Option<Node>,
    feature: Option<Span>,
    made: Size,
}

/// What a node weighs with everything below it.
#[derive(Clone, Copy, Default)]
struct Size {
    nodes: usize,
    text: usize,
    depth: usize,
}

impl Size {
    const COLLECTION: Self = Self { nodes: 1, text: 0, depth: 1 };

    fn scalar(text: &str) -> Self {
        Self { nodes: 1, text: text.len(), depth: 0 }
    }
}

impl<'a> Builder<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            offsets: Offsets { text },
            open: Vec::new(),
            anchors: HashMap::new(),
            root: None,
            feature: None,
            made: Size::default(),
        }
    }

    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlError> {
        if event.tag().is_some() || event.anchor_id().is_some() || event.is_alias() {
            self.feature.get_or_insert(span);
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.count(Size::scalar(&text), span)?;
                let is_plain = matches!(style, ScalarStyle::Plain) && tag.is_none();
                let kind = scalar(text.into_owned(), style);
                self.place(Node { span, kind, is_plain }, anchor)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.begin(Open::Sequence { start: span.start, anchor, items: Vec::new() }, span)
            }
            Event::MappingStart(_, anchor, _) => {
                let start = span.start;
                self.begin(Open::Mapping { start, anchor, entries: Vec::new(), key: None }, span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::DocumentStart(..) if self.root.is_some() => {
                Err(YamlError::Syntax { at: span, message: "a second document begins".into() })
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, open: Open, span: Span) -> Result<(), YamlError> {
        self.count(Size::COLLECTION, span)?;
        self.open.push(open);
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), YamlError> {
        let (start, anchor, kind) = match self.open.pop() {
            Some(Open::Sequence { start, anchor, items }) => (start, anchor, Kind::Sequence(items)),
            Some(Open::Mapping { start, anchor, entries, .. }) => {
                (start, anchor, Kind::Mapping(entries))
            }
            None => return Ok(()),
        };
        let is_flow = self.offsets.text[start..].starts_with(['[', '{']);
        let end = if is_flow { span.end } else { last_end(&kind).unwrap_or(span.end) };
        let end = self.offsets.trim_end(start, end.max(start));
        self.place(Node::new(Span::new(start, end), kind), anchor)
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), YamlError> {
        let Some((node, size)) = self.anchors.get(&anchor) else {
            return Err(YamlError::Syntax { at: span, message: "an alias inside itself".into() });
        };
        let (node, size) = (Node { span, ..node.clone() }, *size);
        self.count(size, span)?;
        self.place(node, 0)
    }

    fn place(&mut self, node: Node, anchor: usize) -> Result<(), YamlError> {
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), weigh(&node)));
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::Sequence { items, .. }) => items.push(node),
            Some(Open::Mapping { entries, key, .. }) => match key.take() {
                None => {
                    refuse_duplicate(entries, &node)?;
                    *key = Some(node);
                }
                Some(key) => entries.push((key, node)),
            },
        }
        Ok(())
    }

    fn count(&mut self, size: Size, at: Span) -> Result<(), YamlError> {
        self.made.nodes += size.nodes;
        self.made.text += size.text;
        if self.made.nodes > MAX_NODES || self.made.text > MAX_TEXT {
            return Err(YamlError::TooLarge { at, what: "large when its aliases are expanded" });
        }
        if self.open.len() + size.depth > MAX_DEPTH {
            return Err(YamlError::TooLarge { at, what: "deeply nested" });
        }
        Ok(())
    }

    fn syntax(&self, error: &ScanError) -> YamlError {
        let start = self.offsets.place(error.marker());
        let end = self.offsets.next_boundary(start);
        YamlError::Syntax { at: Span::new(start, end), message: plain_words(&error.info()) }
    }
}

/// An empty plain scalar, `~` and `null` are the absence of a value.
fn scalar(text: String, style: ScalarStyle) -> Kind {
    let plain = matches!(style, ScalarStyle::Plain);
    if plain && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL") {
        Kind::Null
    } else {
        Kind::Scalar(text)
    }
}

/// Where the last thing in a collection ends; comments below it are not part of it.
fn last_end(kind: &Kind) -> Option<usize> {
    let end_of = |(key, value): &(Node, Node)| match value.kind {
        Kind::Null => key.span.end,
        _ => value.span.end.max(key.span.end),
    };
    match kind {
        Kind::Null | Kind::Scalar(_) => None,
        Kind::Sequence(items) => items.last().map(|item| item.span.end),
        Kind::Mapping(entries) => entries.last().map(end_of),
    }
}

fn refuse_duplicate(entries: &[(Node, Node)], key: &Node) -> Result<(), YamlError> {
    match entries.iter().find(|(earlier, _)| earlier.kind == key.kind) {
        None => Ok(()),
        Some((earlier, _)) => Err(YamlError::Duplicate {
            key: key.as_text().into_owned(),
            first: earlier.span,
            second: key.span,
        }),
    }
}

/// Whether a tree that was made otherwise is within the bounds of one that was read.
pub(crate) fn is_bounded(node: &Node) -> bool {
    let size = weigh(node);
    size.nodes <= MAX_NODES && size.text <= MAX_TEXT && size.depth <= MAX_DEPTH
}

fn weigh(node: &Node) -> Size {
    let children: Vec<&Node> = match &node.kind {
        Kind::Null => return Size::scalar(""),
        Kind::Scalar(text) => return Size::scalar(text),
        Kind::Sequence(items) => items.iter().collect(),
        Kind::Mapping(entries) => entries.iter().flat_map(|(key, value)| [key, value]).collect(),
    };
    children.into_iter().map(weigh).fold(Size::COLLECTION, |whole, child| Size {
        nodes: whole.nodes + child.nodes,
        text: whole.text + child.text,
        depth: whole.depth.max(child.depth + 1),
    })
}

/// The parser's words end like a sentence and may repeat the place; ours are clauses.
fn plain_words(message: &str) -> String {
    message.trim().trim_end_matches('.').to_owned()
}

/// Turns the parser's places into byte offsets.
struct Offsets<'a> {
    text: &'a str,
}

impl Offsets<'_> {
    fn span(&self, span: &granit_parser::Span) -> Span {
        let start = span.start.byte_offset().unwrap_or_default().min(self.text.len());
        let end = span.end.byte_offset().unwrap_or(start).min(self.text.len());
        Span::new(start, end.max(start))
    }

    /// The byte of a marker; one without an offset has a line (from 1) and a column (from 0).
    fn place(&self, marker: &Marker) -> usize {
        if let Some(offset) = marker.byte_offset() {
            return self.text.floor_char_boundary(offset);
        }
        let lines_before = marker.line().saturating_sub(1);
        let before: usize = self.text.split_inclusive('\n').take(lines_before).map(str::len).sum();
        let rest = &self.text[before..];
        let in_line = rest.char_indices().nth(marker.col()).map_or(rest.len(), |(at, _)| at);
        before + in_line
    }

    fn next_boundary(&self, start: usize) -> usize {
        self.text[start..].chars().next().map_or(start, |character| start + character.len_utf8())
    }

    /// What ends where the next thing starts should end with its text.
    fn trim_end(&self, start: usize, end: usize) -> usize {
        self.text.get(start..end).map_or(end, |text| start + text.trim_end().len())
    }
}
