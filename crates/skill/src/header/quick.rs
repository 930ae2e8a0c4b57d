//! The short way through nearly every header: what is written plainly is taken as it stands, and
//! only the other entries are handed to the YAML parser, one by one.
//!
//! Plain are mappings and lists in block style whose keys are words and whose values are one line
//! of text, quoted or not, or words in brackets. Says exactly what the parser says of the whole
//! header, or nothing; property tests hold it to that. It saves a third of a cold scan, which
//! is spent in the parser's machinery more than in the text.

use std::iter::Peekable;

use crate::header::entries::{Entry, entries};
use crate::header::yaml::{self, Kind, Node, Tree};
use crate::text::Span;

/// Longer headers are left to the parser, which counts what it makes. This is too short for any
/// of its bounds.
const LONGEST_HEADER: usize = 8 << 10;
/// Deepest nesting that is read here.
const MAX_DEPTH: usize = 8;
/// Longest key that is read here; the parser refuses those that are much longer.
const LONGEST_KEY: usize = 64;

/// Reads a header whose entries can be read apart.
pub(crate) fn parse(header: &str) -> Option<Tree> {
    // To YAML a carriage return ends a line by itself.
    if header.len() > LONGEST_HEADER || header.contains('\r') {
        return None;
    }
    let entries = entries(header)?;
    // A remark above the entries is skipped here, so it must be one that YAML skips.
    let above = &header[..entries.first()?.span.start];
    if !above.bytes().all(is_visible_or_newline) {
        return None;
    }
    let mut pairs = Vec::with_capacity(entries.len());
    for entry in &entries {
        let pair = plain(header, entry).or_else(|| apart(header, entry))?;
        push_new(&mut pairs, pair)?;
    }
    Some(Tree { root: mapping(pairs)?, feature: None })
}

/// An entry that is written plainly throughout.
pub(super) fn plain(header: &str, entry: &Entry) -> Option<(Node, Node)> {
    let lines = Lines { text: entry.span.slice(header), offset: entry.span.start };
    let mut reader = Reader { lines: lines.peekable() };
    let first = reader.lines.next()?;
    let pair = reader.pair(first, MAX_DEPTH)?;
    reader.lines.next().is_none().then_some(pair)
}

/// An entry that the parser reads by itself, as it would among the others.
pub(super) fn apart(header: &str, entry: &Entry) -> Option<(Node, Node)> {
    let tree = yaml::parse(entry.span.slice(header)).ok()?;
    let Kind::Mapping(mut pairs) = tree.root.kind else { return None };
    let only = pairs.pop().filter(|_| pairs.is_empty() && tree.feature.is_none())?;
    let mut pair = (only.0, only.1);
    pair.0.shift(entry.span.start);
    pair.1.shift(entry.span.start);
    (pair.0.text() == Some(entry.key.slice(header))).then_some(pair)
}

/// A line without the spaces around it.
#[derive(Clone, Copy)]
struct Line<'a> {
    indent: usize,
    start: usize,
    content: &'a str,
}

/// Cuts the lines off a text that stands at an offset.
struct Lines<'a> {
    text: &'a str,
    offset: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.text.is_empty() {
            return None;
        }
        let (line, rest) = self.text.split_once('\n').unwrap_or((self.text, ""));
        let indent = line.bytes().take_while(|&byte| byte == b' ').count();
        let start = self.offset + indent;
        self.offset += self.text.len() - rest.len();
        self.text = rest;
        Some(Line { indent, start, content: line[indent..].trim_end_matches(' ') })
    }
}

/// Reads an entry line by line.
struct Reader<'a> {
    lines: Peekable<Lines<'a>>,
}

impl<'a> Reader<'a> {
    /// The next line if it is indented so far; nothing at all if it is indented further.
    fn next_at(&mut self, indent: usize) -> Option<Option<Line<'a>>> {
        match self.lines.peek() {
            Some(line) if line.indent > indent => None,
            _ => Some(self.lines.next_if(|line| line.indent == indent)),
        }
    }

    /// A key with its value, which may take further lines.
    fn pair(&mut self, line: Line<'a>, depth: usize) -> Option<(Node, Node)> {
        let (key, value) = line.content.split_once(':')?;
        let key =
            word(key, line.start).filter(|key| key.span.end - key.span.start <= LONGEST_KEY)?;
        let value = match value.strip_prefix(' ') {
            None if value.is_empty() => self.block(line.indent, depth.checked_sub(1)?)?,
            None => return None,
            Some(value) => {
                let value = value.trim_start_matches(' ');
                inline(value, line.start + line.content.len() - value.len())?
            }
        };
        Some((key, value))
    }

    /// A mapping or a list that is indented further than this.
    fn block(&mut self, outer: usize, depth: usize) -> Option<Node> {
        let first = *self.lines.peek().filter(|line| line.indent > outer)?;
        if first.content.starts_with('-') {
            return self.list(first);
        }
        let mut pairs = Vec::new();
        while let Some(line) = self.next_at(first.indent)? {
            let pair = self.pair(line, depth)?;
            push_new(&mut pairs, pair)?;
        }
        mapping(pairs)
    }

    fn list(&mut self, first: Line<'a>) -> Option<Node> {
        let mut items = Vec::new();
        while let Some(line) = self.next_at(first.indent)? {
            let item = line.content.strip_prefix("- ")?.trim_start_matches(' ');
            items.push(scalar(item, line.start + line.content.len() - item.len())?);
        }
        let span = Span::new(first.start, items.last()?.span.end);
        Some(Node::new(span, Kind::Sequence(items)))
    }
}

/// A value on the line of its key.
fn inline(value: &str, start: usize) -> Option<Node> {
    let Some(inside) = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return scalar(value, start);
    };
    let mut items = Vec::new();
    let mut offset = start + 1;
    for part in inside.split(',') {
        let item = part.trim_start_matches(' ');
        items.push(word(item.trim_end_matches(' '), offset + part.len() - item.len())?);
        offset += part.len() + 1;
    }
    Some(Node::new(Span::new(start, start + value.len()), Kind::Sequence(items)))
}

/// A value that is surely the text that stands there, or the text between its quotes.
fn scalar(value: &str, start: usize) -> Option<Node> {
    let text = match value.as_bytes() {
        [quote @ (b'"' | b'\''), inside @ .., last] if quote == last => {
            let is_simple = |byte: &u8| is_visible(*byte) && *byte != *quote && *byte != b'\\';
            inside.iter().all(is_simple).then(|| &value[1..value.len() - 1])?
        }
        _ => Some(value).filter(|value| is_plain_text(value))?,
    };
    let span = Span::new(start, start + value.len());
    let is_plain = text.len() == value.len();
    Some(Node { span, kind: Kind::Scalar(text.to_owned()), is_plain })
}

fn word(text: &str, start: usize) -> Option<Node> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_word = text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(is_part)
        && !is_null(text);
    let span = Span::new(start, start + text.len());
    is_word.then(|| Node { span, kind: Kind::Scalar(text.to_owned()), is_plain: true })
}

/// Visible ASCII that begins like a word and has none of the signs that end a plain scalar.
fn is_plain_text(value: &str) -> bool {
    // Without leaving early, so that many bytes are compared at a time.
    let visible = value.bytes().fold(true, |all, byte| all & is_visible(byte));
    let ends_scalar = |pair: &[u8; 2]| {
        ((pair[0] == b':') & (pair[1] == b' ')) | ((pair[0] == b' ') & (pair[1] == b'#'))
    };
    let ended = value.as_bytes().array_windows().fold(false, |any, pair| any | ends_scalar(pair));
    visible
        && !ended
        && value.starts_with(|first: char| first.is_ascii_alphanumeric())
        && !value.ends_with(':')
        && !is_null(value)
}

fn is_visible(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

fn is_visible_or_newline(byte: u8) -> bool {
    is_visible(byte) || byte == b'\n'
}

fn is_null(text: &str) -> bool {
    matches!(text, "null" | "Null" | "NULL")
}

fn mapping(pairs: Vec<(Node, Node)>) -> Option<Node> {
    let span = Span::new(pairs.first()?.0.span.start, pairs.last()?.1.span.end);
    Some(Node::new(span, Kind::Mapping(pairs)))
}

/// Adds a pair whose key is not there yet.
fn push_new(pairs: &mut Vec<(Node, Node)>, pair: (Node, Node)) -> Option<()> {
    let is_new = pairs.iter().all(|(key, _)| key.kind != pair.0.kind);
    is_new.then(|| pairs.push(pair))
}
