//! Reading a `SKILL.md`: the one way from text to a [`Manifest`].

use std::borrow::Cow;

use crate::diagnostic::{Code, Diagnostic, Edit};
use crate::header::fields::{Manifest, read_fields};
use crate::header::frame::{Frame, FrameError};
use crate::header::quick;
use crate::header::repair::{self, Change, Meaning};
use crate::header::yaml::{self, Kind, Node, Tree, YamlError};
use crate::name::SkillName;
use crate::text::{LineIndex, Span};

/// How to read.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions<'a> {
    /// The folder the file is in, if it is in one.
    pub folder: Option<&'a str>,
    /// What to do about a file without a header.
    pub without_header: WithoutHeader,
}

/// What to do about a file without a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutHeader {
    /// It is not a skill.
    Refuse,
    /// The folder gives the name and the first paragraph the description.
    FirstParagraph,
}

/// What reading gave.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The manifest, unless something made the skill unusable; then a diagnostic says what.
    pub manifest: Option<Manifest>,
    /// Everything that was noticed, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// Where the body is.
    pub body: Span,
    /// Where the description is, if there is one.
    pub description: Option<Span>,
}

/// Makes text of the bytes of a file, which should be UTF-8.
///
/// Bytes that are not become U+FFFD, with a diagnostic at the first; spans refer to the text.
pub fn decode(bytes: &[u8]) -> (Cow<'_, str>, Option<Diagnostic>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), None),
        Err(error) => {
            let at = error.valid_up_to();
            let diagnostic = Diagnostic::new(
                Code::NotUtf8,
                Span::new(at, at + char::REPLACEMENT_CHARACTER.len_utf8()),
                format!("byte 0x{:02x} is not UTF-8", bytes[at]),
            )
            .help("save the file as UTF-8");
            (String::from_utf8_lossy(bytes), Some(diagnostic))
        }
    }
}

/// Reads the text of a `SKILL.md`, or enough of it to hold the whole header.
///
/// It never fails: what is wrong is in the diagnostics, each with its place in the text, and a header that YAML
/// refuses is read as it was meant where that is clear.
///
/// ```
/// use metier_skill::diagnostic::{Level, Severity};
/// use metier_skill::header::{ReadOptions, WithoutHeader, read};
///
/// let text = "---\nname: Ship\ndescription: Use when: a release is made\n---\n\nRun `make dist`.\n";
/// let options = ReadOptions { folder: Some("ship"), without_header: WithoutHeader::Refuse };
/// let reading = read(text, &options);
///
/// // It can be used all the same, and its author is told what to mend.
/// let manifest = reading.manifest.expect("it can be used");
/// assert_eq!(manifest.description, "Use when: a release is made");
/// assert_eq!(reading.body.slice(text).trim(), "Run `make dist`.");
/// let errors = reading.diagnostics.iter().filter(|it| it.severity(Level::Strict) == Severity::Error);
/// let places: Vec<&str> = errors.map(|it| it.span.slice(text)).collect();
/// assert!(places.contains(&"Ship"), "{places:?}");
/// ```
pub fn read(text: &str, options: &ReadOptions<'_>) -> Reading {
    let frame = match Frame::find(text.as_bytes()) {
        Ok(frame) => frame,
        Err(error) => return read_without_header(text, error, options),
    };
    let mut diagnostics = Vec::new();
    if frame.byte_order_mark {
        diagnostics.push(byte_order_mark());
    }
    let header = frame.header.slice(text);
    let mut own = Vec::new();
    let mut description = None;
    let manifest = match tree(header, &mut own) {
        Some(tree) => {
            description = value_span(&tree.root, "description");
            if let Some(span) = tree.feature {
                own.push(Diagnostic::new(
                    Code::YamlFeature,
                    span,
                    "the header uses an anchor, an alias or a tag",
                ));
            }
            read_fields(&tree.root, options.folder, &mut own)
        }
        None => None,
    };
    own.iter_mut().for_each(|diagnostic| keep_comments(diagnostic, header));
    diagnostics.extend(own.into_iter().map(|diagnostic| shifted(diagnostic, frame.header.start)));
    diagnostics.sort_by_key(|diagnostic| (diagnostic.span, diagnostic.code));
    let description = description.map(|span| span.shifted(frame.header.start));
    Reading { manifest, diagnostics, body: frame.body, description }
}

/// Takes back the offer to rewrite a list that has comments in it: they would be lost.
fn keep_comments(diagnostic: &mut Diagnostic, header: &str) {
    let has_comment =
        |edit: &Edit| edit.span.slice(header).lines().any(|line| format!(" {line}").contains(" #"));
    let is_list = diagnostic.code == Code::AllowedToolsList;
    if is_list && diagnostic.fix.as_ref().is_some_and(|fix| fix.edits.iter().any(has_comment)) {
        diagnostic.fix = None;
    }
}

/// The first paragraph of a body that is neither a heading nor code.
fn first_paragraph(body: &str) -> Option<String> {
    use pulldown_cmark::{Event, Parser, Tag, TagEnd};
    let mut paragraph: Option<String> = None;
    for event in Parser::new(body) {
        match (event, &mut paragraph) {
            (Event::Start(Tag::Paragraph), slot) => *slot = Some(String::new()),
            (Event::End(TagEnd::Paragraph), Some(text)) if !text.trim().is_empty() => break,
            (Event::Text(text) | Event::Code(text), Some(paragraph)) => paragraph.push_str(&text),
            (Event::SoftBreak | Event::HardBreak, Some(paragraph)) => paragraph.push(' '),
            _ => {}
        }
    }
    paragraph.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn value_span(root: &Node, name: &str) -> Option<Span> {
    let Kind::Mapping(entries) = &root.kind else { return None };
    entries.iter().find(|(key, _)| key.text() == Some(name)).map(|(_, value)| value.span)
}

fn byte_order_mark() -> Diagnostic {
    let span = Span::new(0, '\u{feff}'.len_utf8());
    let edit = Edit { span, replacement: String::new() };
    Diagnostic::new(Code::ByteOrderMark, span, "the file starts with a byte order mark")
        .fix("remove it", vec![edit])
}

fn read_without_header(text: &str, error: FrameError, options: &ReadOptions<'_>) -> Reading {
    let first_line = Span::new(0, text.lines().next().map_or(0, str::len));
    let body = Span::new(0, text.len());
    if error == FrameError::Unclosed {
        let diagnostic = Diagnostic::new(Code::HeaderUnclosed, first_line, error.to_string())
            .help("put a line with only `---` after the fields");
        return Reading { manifest: None, diagnostics: vec![diagnostic], body, description: None };
    }
    let manifest = match (options.without_header, options.folder) {
        (WithoutHeader::FirstParagraph, Some(folder)) => stand_in(folder, text),
        _ => None,
    };
    let diagnostic = if manifest.is_some() {
        Diagnostic::new(
            Code::HeaderFallback,
            first_line,
            "there is no header; the folder and the first paragraph stand in for it",
        )
    } else {
        Diagnostic::new(Code::NoHeader, first_line, error.to_string())
    };
    let diagnostic =
        diagnostic.help("start the file with `---`, `name: …`, `description: …`, `---`");
    Reading { manifest, diagnostics: vec![diagnostic], body, description: None }
}

fn stand_in(folder: &str, body: &str) -> Option<Manifest> {
    Some(Manifest::bare(SkillName::new(folder).ok()?, first_paragraph(body)?))
}

/// Reads the YAML, mending it if need be. The original error is what people see if that fails.
fn tree(header: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<Tree> {
    if let Some(tree) = quick::parse(header) {
        return Some(tree);
    }
    let original = match yaml::parse(header) {
        Ok(tree) => return Some(tree),
        Err(error) => error,
    };
    let mendable = matches!(original, YamlError::Syntax { .. });
    if let Some(repaired) = mendable.then(|| repair::repair(header)).flatten() {
        diagnostics.extend(repaired.changes.into_iter().map(mended));
        return Some(repaired.tree);
    }
    diagnostics.push(unreadable(&original));
    None
}

fn mended(change: Change) -> Diagnostic {
    let found = format!("the value of `{}` is not valid YAML as it stands", change.key);
    let diagnostic = Diagnostic::new(Code::Repaired, change.edit.span, found);
    match change.meaning {
        Meaning::Kept => diagnostic
            .help("put quotes around the value")
            .fix(format!("quote the value of `{}`", change.key), vec![change.edit]),
        Meaning::Lost => diagnostic.help("check that every bracket and brace is closed"),
    }
}

fn unreadable(error: &YamlError) -> Diagnostic {
    let message = error.to_string();
    match error {
        YamlError::Syntax { at, .. } => Diagnostic::new(
            Code::InvalidYaml,
            *at,
            format!("the header is not valid YAML: {message}"),
        )
        .help("put quotes around a value that contains `: `"),
        YamlError::Duplicate { first, second, .. } => {
            Diagnostic::new(Code::DuplicateKey, *second, message)
                .related(*first, "it stands here first")
                .help("keep one of the two")
        }
        YamlError::TooLarge { at, .. } => Diagnostic::new(Code::HeaderTooLarge, *at, message),
    }
}

fn shifted(mut diagnostic: Diagnostic, by: usize) -> Diagnostic {
    diagnostic.span = diagnostic.span.shifted(by);
    for label in &mut diagnostic.related {
        label.span = label.span.shifted(by);
    }
    for edit in diagnostic.fix.iter_mut().flat_map(|fix| &mut fix.edits) {
        edit.span = edit.span.shifted(by);
    }
    diagnostic
}

/// Whether a header that is not valid YAML may be mended before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mending {
    Allowed,
    Refused,
}

/// Why there is no tree.
#[derive(Debug)]
pub(crate) enum Unread {
    Frame(FrameError),
    Yaml(String),
}

/// The header as a tree, for callers that judge it in other words than ours.
pub(crate) fn header_tree(text: &str, mending: Mending) -> Result<Node, Unread> {
    let frame = Frame::find(text.as_bytes()).map_err(Unread::Frame)?;
    let header = frame.header.slice(text);
    let original = match yaml::parse(header) {
        Ok(tree) => return Ok(tree.root),
        Err(error) => error,
    };
    let repaired = match mending {
        Mending::Allowed => repair::repair(header),
        Mending::Refused => None,
    };
    repaired.map(|repaired| repaired.tree.root).ok_or_else(|| {
        let line = LineIndex::new(text).position(frame.header.start + original.place().start).line;
        Unread::Yaml(format!("{original} (line {line})"))
    })
}
