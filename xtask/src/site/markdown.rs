//! Markdown as this site reads it: what GitHub shows of tables and lists, and its anchors.

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{BrokenLink, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

/// Shorter paragraphs, such as who wrote a page, do not tell what it is about.
const TELLING: usize = 60;

/// A page, read.
#[derive(Debug)]
pub(super) struct Document<'a> {
    /// What the page is made of, with the bytes each came from.
    pub(super) events: Vec<(Event<'a>, Range<usize>)>,
    /// Its headings, in order.
    pub(super) headings: Vec<Heading>,
    /// Links of the form `[text][name]` to a name that the page does not define.
    pub(super) undefined: Vec<(String, Range<usize>)>,
}

/// A heading and where links find it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    pub(super) level: u8,
    pub(super) text: String,
    pub(super) anchor: String,
}

/// Reads a page.
pub(super) fn parse(text: &str) -> Document<'_> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut undefined = Vec::new();
    let mut remember = |link: BrokenLink<'_>| {
        // `[o]nce` is a word with brackets; `[this][form]` is a link, and a broken one.
        if link.link_type == LinkType::Reference {
            undefined.push((link.reference.to_string(), link.span));
        }
        None::<(CowStr<'_>, CowStr<'_>)>
    };
    let parser = Parser::new_with_broken_link_callback(text, options, Some(&mut remember));
    let events: Vec<_> = parser.into_offset_iter().collect();
    let headings = headings(&events);
    Document { events, headings, undefined }
}

impl Document<'_> {
    /// What the first heading of the first level says.
    pub(super) fn title(&self) -> Option<&str> {
        self.headings.iter().find(|heading| heading.level == 1).map(|it| it.text.as_str())
    }

    /// What the page is about: its first paragraph that says something, or its first at all.
    pub(super) fn about(&self) -> String {
        let is_start = |event: &Event<'_>| matches!(event, Event::Start(Tag::Paragraph));
        let is_end = |event: &Event<'_>| matches!(event, Event::End(TagEnd::Paragraph));
        let starts = self.events.iter().enumerate().filter(|(_, (event, _))| is_start(event));
        let mut paragraphs = starts.map(|(start, _)| {
            let inside = self.events[start..].iter().take_while(|(event, _)| !is_end(event));
            plain(inside.map(|(event, _)| event))
        });
        let first = paragraphs.next().unwrap_or_default();
        if first.len() >= TELLING {
            return first;
        }
        paragraphs.find(|text| text.len() >= TELLING).unwrap_or(first)
    }
}

/// The line on which a byte of a text is, from one.
pub(super) fn line(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// Text without what formats it.
pub(super) fn plain<'e, 'a: 'e>(events: impl Iterator<Item = &'e Event<'a>>) -> String {
    let mut text = String::new();
    for event in events {
        match event {
            Event::Text(words) | Event::Code(words) => text.push_str(words),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
    }
    text
}

fn headings(events: &[(Event<'_>, Range<usize>)]) -> Vec<Heading> {
    let mut headings = Vec::new();
    let mut taken: HashMap<String, usize> = HashMap::new();
    for (position, (event, _)) in events.iter().enumerate() {
        let Event::Start(Tag::Heading { level, .. }) = event else { continue };
        let is_end = |event: &Event<'_>| matches!(event, Event::End(TagEnd::Heading(_)));
        let inside = events[position..].iter().take_while(|(event, _)| !is_end(event));
        let text = plain(inside.map(|(event, _)| event));
        let word = anchor(&text);
        let times = taken.entry(word.clone()).or_default();
        let anchor = if *times == 0 { word } else { format!("{word}-{times}") };
        *times += 1;
        headings.push(Heading { level: *level as u8, text, anchor });
    }
    headings
}

/// The anchor that GitHub and mdBook make of a heading.
fn anchor(text: &str) -> String {
    let kept = text.trim().chars().filter_map(|character| match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        other if other.is_alphanumeric() => Some(other),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anchors(text: &str) -> String {
        let headings = parse(text).headings.into_iter().map(|heading| heading.anchor);
        headings.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn anchors_are_those_that_github_makes() {
        insta::assert_snapshot!(
            anchors("# Use it: `metier mcp`\n## What *may* run?\n## Über_uns - 1.2\n"),
            @"use-it-metier-mcp what-may-run über_uns---12"
        );
    }

    #[test]
    fn the_second_heading_of_a_name_has_a_number() {
        insta::assert_snapshot!(anchors("# A\n## A\n## A\n"), @"a a-1 a-2");
    }

    #[test]
    fn brackets_around_a_word_are_no_link_and_an_undefined_name_is_one() {
        let document = parse("[o]nce or [this][nowhere] or [that][here]\n\n[here]: x.md\n");
        let names: Vec<_> = document.undefined.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["nowhere"]);
    }

    #[test]
    fn a_page_is_about_its_first_paragraph_that_says_something() {
        let long = "What `metier skills lint` and\n`metier skills list` look for in a header and in a body.";
        let about = parse(&format!("# T\n\nShort.\n\n{long}\n")).about();
        insta::assert_snapshot!(about, @"What metier skills lint and metier skills list look for in a header and in a body.");
        assert_eq!(parse("# T\n\nShort.\n\nNext.\n").about(), "Short.");
    }
}
