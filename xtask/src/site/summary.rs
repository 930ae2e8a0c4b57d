//! `SUMMARY.md`: the pages of the book in their order, in the format of mdBook.
//!
//! Links are pages, headings of the first level after the title are parts. What mdBook knows
//! beside that (drafts without a file) is a mistake here: a page is there, or it is not listed.

use pulldown_cmark::{Event, HeadingLevel, Tag, TagEnd};

use super::markdown;

/// A page as the summary lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// What it is called in the navigation.
    pub(super) label: String,
    /// The link as it is written, from the folder of the summary.
    pub(super) link: String,
    /// The part it belongs to; empty before the first.
    pub(super) part: String,
    /// How deep it is below other pages.
    pub(super) depth: usize,
}

/// The pages of a summary.
pub(super) fn parse(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let (mut part, mut headings, mut lists) = (String::new(), 0_usize, 0_usize);
    // What a heading or a link says so far.
    let mut words: Option<String> = None;
    let mut link = String::new();
    for (event, _) in markdown::parse(text).events {
        match event {
            Event::Start(Tag::List(_)) => lists += 1,
            Event::End(TagEnd::List(_)) => lists -= 1,
            Event::Start(Tag::Heading { level: HeadingLevel::H1, .. }) => {
                headings += 1;
                words = Some(String::new());
            }
            Event::End(TagEnd::Heading(HeadingLevel::H1)) => {
                let said = words.take().unwrap_or_default();
                if headings > 1 {
                    part = said;
                }
            }
            Event::Start(Tag::Link { dest_url, .. }) => {
                link = dest_url.into_string();
                words = Some(String::new());
            }
            Event::End(TagEnd::Link) => entries.push(Entry {
                label: words.take().unwrap_or_default(),
                link: std::mem::take(&mut link),
                part: part.clone(),
                depth: lists.saturating_sub(1),
            }),
            Event::Text(text) | Event::Code(text) => {
                if let Some(words) = &mut words {
                    words.push_str(&text);
                }
            }
            _ => {}
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_pages_and_pages_below_pages_are_read_in_order() {
        let text = "# Summary\n\n[Before](a.md)\n\n# Guides\n\n- [Write](b.md)\n  - [`lint`](b/c.md)\n\n# Reference\n\n- [Keys](d.md)\n";
        let entries = parse(text)
            .into_iter()
            .map(|entry| format!("{}|{}|{}|{}", entry.part, entry.depth, entry.label, entry.link));
        insta::assert_snapshot!(entries.collect::<Vec<_>>().join("\n"), @r"
        |0|Before|a.md
        Guides|0|Write|b.md
        Guides|1|lint|b/c.md
        Reference|0|Keys|d.md
        ");
    }
}
