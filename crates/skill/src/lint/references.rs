//! What the body points to: links, scripts, and how many steps away they are.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, LinkType, Parser, Tag, TagEnd};

use crate::diagnostic::{Code, Diagnostic};
use crate::files::{Tree, is_doc};
use crate::text::Span;

/// Folders by which a path in code is known to be meant as a file of the skill.
const OWN_FOLDERS: [&str; 4] = ["scripts/", "references/", "assets/", "bin/"];

pub(crate) fn check(text: &str, body: Span, tree: &Tree) -> Vec<Diagnostic> {
    let references = references(body.slice(text));
    let named: BTreeSet<&str> = references.iter().map(|it| it.path.as_str()).collect();
    let mut diagnostics = Vec::new();
    let mut seen = BTreeSet::new();
    for reference in &references {
        let span = reference.span.shifted(body.start);
        if !seen.insert((&reference.path, reference.kind)) {
            continue;
        }
        if reference.path.split('/').any(|part| part == "..") {
            let message = format!("`{}` leads outside the skill", reference.path);
            diagnostics.push(Diagnostic::new(Code::DeadLink, span, message));
        } else if !exists(tree, &reference.path) {
            diagnostics.push(missing(reference, span));
        } else {
            diagnostics.extend(check_depth(reference, span, tree, &named));
        }
    }
    diagnostics
}

struct Reference {
    path: String,
    span: Span,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Link,
    Code,
}

fn missing(reference: &Reference, span: Span) -> Diagnostic {
    let path = &reference.path;
    match reference.kind {
        Kind::Link => {
            Diagnostic::new(Code::DeadLink, span, format!("there is no file `{path}` in the skill"))
                .help("paths are relative to the folder of `SKILL.md`")
        }
        Kind::Code => {
            Diagnostic::new(Code::DeadScript, span, format!("there is no `{path}` in the skill"))
                .help("paths are relative to the folder of `SKILL.md`")
        }
    }
}

/// A doc should be named by `SKILL.md` itself, and not lie deeper than one folder.
fn check_depth(
    reference: &Reference,
    span: Span,
    tree: &Tree,
    named: &BTreeSet<&str>,
) -> Option<Diagnostic> {
    let path = reference.path.as_str();
    if reference.kind != Kind::Link || !is_doc(path) {
        return None;
    }
    let onward = onward(tree, path).into_iter().find(|next| !named.contains(next.as_str()));
    let message = match onward {
        Some(next) => format!("`{path}` leads on to `{next}`, which `SKILL.md` does not name"),
        None if path.matches('/').count() > 1 => format!("`{path}` lies deeper than one folder"),
        None => return None,
    };
    Some(
        Diagnostic::new(Code::DeepReference, span, message)
            .help("name every file that matters in `SKILL.md`; chains are not followed"),
    )
}

/// The docs of the skill that a doc links to.
fn onward(tree: &Tree, path: &str) -> Vec<String> {
    let Ok(doc) = tree.read_doc(path) else { return Vec::new() };
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    references(&doc.text)
        .into_iter()
        .filter(|reference| reference.kind == Kind::Link)
        .filter_map(|reference| resolve(folder, &reference.path))
        .filter(|next| next != path && is_doc(next) && tree.find(next).is_some())
        .collect()
}

fn resolve(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

fn exists(tree: &Tree, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let inside = format!("{path}/");
    tree.find(path).is_some() || tree.entries.iter().any(|entry| entry.path.starts_with(&inside))
}

/// Links, images and paths in code, each normalised to a path from the skill's folder.
fn references(markdown: &str) -> Vec<Reference> {
    let mut references = Vec::new();
    let mut in_block = false;
    for (event, range) in Parser::new(markdown).into_offset_iter() {
        let span = Span::new(range.start, range.end);
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_block = true,
            Event::End(TagEnd::CodeBlock) => in_block = false,
            Event::Start(
                Tag::Link { dest_url, link_type, .. } | Tag::Image { dest_url, link_type, .. },
            ) => {
                let is_path = !matches!(link_type, LinkType::Email | LinkType::Autolink);
                if let Some(path) = link_path(&dest_url).filter(|_| is_path) {
                    references.push(Reference { path, span, kind: Kind::Link });
                }
            }
            Event::Code(_) => references.extend(paths_in_code(markdown, span)),
            Event::Text(_) if in_block => references.extend(paths_in_code(markdown, span)),
            _ => {}
        }
    }
    references
}

/// A relative path in a link; nothing for other addresses, anchors and placeholders.
fn link_path(address: &str) -> Option<String> {
    let path = address.split(['#', '?']).next().unwrap_or_default();
    let scheme = path.split_once(':').is_some_and(|(scheme, _)| !scheme.contains('/'));
    if path.is_empty() || scheme || path.starts_with('/') || is_placeholder(path) {
        return None;
    }
    let path = percent_decoded(path);
    let normalised = resolve("", &path).unwrap_or(path);
    (!normalised.is_empty()).then_some(normalised)
}

fn is_placeholder(path: &str) -> bool {
    path.contains(['{', '}', '<', '>', '*', '$', '…', ' ']) || path.contains("...")
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let pair = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        let decoded = pair.filter(|_| first == b'%').and_then(|it| u8::from_str_radix(it, 16).ok());
        bytes.push(decoded.unwrap_or(first));
        rest = if decoded.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Words of code that name a file in one of the usual folders.
fn paths_in_code(markdown: &str, span: Span) -> Vec<Reference> {
    let code = span.slice(markdown);
    let mut references = Vec::new();
    let mut offset = 0;
    for word in code.split_inclusive(|it: char| it.is_whitespace() || "`\"'()=;|,".contains(it)) {
        let start = span.start + offset;
        offset += word.len();
        let word =
            word.trim_end_matches(|it: char| it.is_whitespace() || "`\"'()=;|,:.".contains(it));
        let path = word.strip_prefix("./").unwrap_or(word);
        let is_file = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
        let own =
            OWN_FOLDERS.iter().any(|folder| path.starts_with(folder) && path.len() > folder.len());
        if own && is_file && !is_placeholder(path) {
            let span = Span::new(start, start + word.len());
            references.push(Reference { path: path.to_owned(), span, kind: Kind::Code });
        }
    }
    references
}
