//! What must be true of the pages: all are listed, none is empty, every link leads somewhere.

use std::collections::HashMap;
use std::fmt;
use std::fs;

use pulldown_cmark::{Event, Tag};

use super::book::{Book, SUMMARY};
use super::markdown::{self, Document};
use super::{html, place};

/// Files that are no page of the site and have links that must lead somewhere.
const BESIDE: &[&str] = &[SUMMARY];

/// Something that is wrong with a page.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    file: String,
    line: usize,
    what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.file, self.line, self.what)
    }
}

/// Everything that is wrong with the pages of a book.
pub(crate) fn problems(book: &Book) -> Vec<Problem> {
    let mut checker = Checker { book, anchors: HashMap::new(), problems: Vec::new() };
    checker.listed();
    for page in &book.pages {
        let document = markdown::parse(&page.text);
        checker.content(&page.source, &page.text, &document);
        checker.links(&page.source, &page.text, &document);
    }
    for file in BESIDE {
        let text = fs::read_to_string(book.root.join(file)).unwrap_or_default();
        checker.links(file, &text, &markdown::parse(&text));
    }
    checker.problems.sort();
    checker.problems
}

struct Checker<'a> {
    book: &'a Book,
    /// The anchors of the Markdown files that links led to.
    anchors: HashMap<String, Vec<String>>,
    problems: Vec<Problem>,
}

impl Checker<'_> {
    fn report(&mut self, file: &str, line: usize, what: String) {
        self.problems.push(Problem { file: file.into(), line, what });
    }

    fn listed(&mut self) {
        let book = self.book;
        for file in &book.folder {
            if file != SUMMARY && !book.pages.iter().any(|page| page.source == *file) {
                self.report(file, 1, format!("`{SUMMARY}` does not list this page"));
            }
        }
    }

    fn content(&mut self, file: &str, text: &str, document: &Document<'_>) {
        let is_title = |event: &Event<'_>| matches!(event, Event::Start(Tag::Heading { level, .. }) if *level as u8 == 1);
        let first = document.events.iter().map(|(event, _)| event).find(|event| {
            !matches!(event, Event::Html(_) | Event::Start(Tag::HtmlBlock) | Event::End(_))
        });
        if !first.is_some_and(is_title) {
            self.report(
                file,
                1,
                "the page does not begin with a heading of the first level".into(),
            );
        }
        for (event, range) in &document.events {
            if let Event::Html(raw) | Event::InlineHtml(raw) = event
                && !html::is_plain(raw)
            {
                let what = format!("raw HTML: `{}`; write Markdown, or code", raw.trim());
                self.report(file, markdown::line(text, range.start), what);
            }
        }
        let all = markdown::plain(document.events.iter().map(|(event, _)| event));
        let headings: usize = document.headings.iter().map(|heading| heading.text.len()).sum();
        if all.trim().len() <= headings {
            self.report(file, 1, "the page has nothing below its headings".into());
        }
    }

    fn links(&mut self, file: &str, text: &str, document: &Document<'_>) {
        for (name, range) in &document.undefined {
            let what = format!("the page does not define the link `{name}`");
            self.report(file, markdown::line(text, range.start), what);
        }
        for (event, range) in &document.events {
            let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event
            else {
                continue;
            };
            if let Some(what) = self.broken(file, dest_url) {
                self.report(file, markdown::line(text, range.start), what);
            }
        }
    }

    /// Why a link leads nowhere.
    fn broken(&mut self, file: &str, link: &str) -> Option<String> {
        if place::is_elsewhere(link) {
            return None;
        }
        if link.is_empty() {
            return Some("a link without an address".into());
        }
        let (path, anchor) = place::split(link);
        if path.starts_with('/') {
            return Some(format!("`{link}` does not begin at the folder of the page"));
        }
        let target = if path.is_empty() { Some(file.into()) } else { place::resolve(file, path) };
        let Some(target) = target else {
            return Some(format!("`{link}` leads out of the repository"));
        };
        if !self.book.root.join(&target).exists() {
            return Some(format!("`{link}` leads to `{target}`, which is not there"));
        }
        let anchor = anchor?;
        if !target.ends_with(".md") {
            return Some(format!("`{link}` leads into `{target}`, which has no headings"));
        }
        if self.anchors_of(&target).iter().any(|known| known == anchor) {
            return None;
        }
        Some(format!("`{link}` leads to a heading that `{target}` does not have"))
    }

    fn anchors_of(&mut self, file: &str) -> &[String] {
        let root = &self.book.root;
        self.anchors.entry(file.into()).or_insert_with(|| {
            let text = fs::read_to_string(root.join(file)).unwrap_or_default();
            markdown::parse(&text).headings.into_iter().map(|heading| heading.anchor).collect()
        })
    }
}
