//! The body of a page: events of Markdown, written as HTML.
//!
//! Every text is escaped. Links to pages and files of the site are rewritten; a link to something
//! that is in the repository and not on the site says so in words. Of raw HTML only the few tags
//! in [`PLAIN_TAGS`] pass, as they need no judgement; the check refuses all other.

use std::fmt::Write;
use std::ops::Range;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Tag, TagEnd};

use super::book::{Book, Page};
use super::markdown::{self, Heading};
use super::place;

/// Raw HTML that may stand in a page.
const PLAIN_TAGS: &[&str] = &[
    "br", "details", "/details", "summary", "/summary", "kbd", "/kbd", "sub", "/sub", "sup", "/sup",
];

/// Code with longer lines is wider than a page on a small screen, so a keyboard must reach it.
const WIDE_CODE: usize = 80;
/// Rows with more characters make a table wider than a page.
const WIDE_ROW: usize = 80;

/// A page as HTML, without what is around it.
pub(super) fn body(book: &Book, page: &Page) -> String {
    let document = markdown::parse(&page.text);
    let mut writer = Writer {
        book,
        page,
        events: &document.events,
        headings: document.headings.iter(),
        out: String::new(),
        alignments: Vec::new(),
        cell: 0,
        in_head: false,
        section: None,
        outside: Vec::new(),
    };
    let mut position = 0;
    while position < document.events.len() {
        position = writer.write(position);
    }
    writer.out
}

/// A text in which nothing is markup any more.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Whether raw HTML may stand in a page: a comment, or tags that need no judgement.
pub(super) fn is_plain(html: &str) -> bool {
    let mut rest = html.trim();
    while !rest.is_empty() {
        let after = if let Some(comment) = rest.strip_prefix("<!--") {
            comment.split_once("-->").map(|(_, after)| after)
        } else {
            let tag = rest.strip_prefix('<').and_then(|tag| tag.split_once('>'));
            tag.filter(|(name, _)| PLAIN_TAGS.contains(name)).map(|(_, after)| after)
        };
        let Some(after) = after else { return false };
        rest = after.trim_start_matches(|text: char| text != '<');
    }
    true
}

struct Writer<'a> {
    book: &'a Book,
    page: &'a Page,
    events: &'a [(Event<'a>, Range<usize>)],
    /// Headings that are still to come.
    headings: std::slice::Iter<'a, Heading>,
    out: String,
    /// Of the table that is being written: how columns are aligned, which cell comes, which part.
    alignments: Vec<Alignment>,
    cell: usize,
    in_head: bool,
    /// The last heading.
    section: Option<&'a Heading>,
    /// For each link that is open: what is to be said at its end instead of leading somewhere.
    outside: Vec<Option<String>>,
}

impl Writer<'_> {
    /// Writes an event and says which comes next.
    fn write(&mut self, position: usize) -> usize {
        match &self.events[position].0 {
            Event::Start(Tag::CodeBlock(kind)) => return self.code(position, kind),
            Event::Start(Tag::Image { dest_url, .. }) => return self.image(position, dest_url),
            Event::Start(Tag::TableHead) if self.is_empty_head(position) => {
                return self.after(position, TagEnd::TableHead);
            }
            Event::Start(Tag::Table(alignments)) => self.table(position, alignments),
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(*tag),
            Event::Text(text) => self.text(text),
            Event::Code(text) => self.put(&format!("<code>{}</code>", escape(text))),
            Event::Html(html) | Event::InlineHtml(html) if is_plain(html) => self.put(html),
            Event::Html(html) | Event::InlineHtml(html) => self.text(html),
            Event::SoftBreak => self.put("\n"),
            Event::HardBreak => self.put("<br>\n"),
            Event::Rule => self.put("<hr>\n"),
            Event::TaskListMarker(done) => {
                self.put(if *done { "<span>☑</span> " } else { "<span>☐</span> " });
            }
            // Mathematics and footnotes are not switched on.
            Event::InlineMath(_) | Event::DisplayMath(_) | Event::FootnoteReference(_) => {}
        }
        position + 1
    }

    fn put(&mut self, html: &str) {
        self.out.push_str(html);
    }

    fn text(&mut self, text: &str) {
        let text = escape(text);
        self.put(&text);
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Paragraph => self.put("<p>"),
            Tag::Heading { level, .. } => self.heading(*level),
            Tag::BlockQuote(_) => self.put("<blockquote>\n"),
            Tag::List(None) => self.put("<ul>\n"),
            Tag::List(Some(1)) => self.put("<ol>\n"),
            Tag::List(Some(first)) => self.put(&format!("<ol start=\"{first}\">\n")),
            Tag::Item => self.put("<li>"),
            Tag::TableHead => {
                self.in_head = true;
                self.cell = 0;
                self.put("<thead><tr>");
            }
            Tag::TableRow => {
                self.cell = 0;
                self.put("<tr>");
            }
            Tag::TableCell => self.cell(),
            Tag::Emphasis => self.put("<em>"),
            Tag::Strong => self.put("<strong>"),
            Tag::Strikethrough => self.put("<del>"),
            Tag::Link { dest_url, .. } => self.link(dest_url),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.put("</p>\n"),
            TagEnd::Heading(level) => self.end_heading(level),
            TagEnd::BlockQuote(_) => self.put("</blockquote>\n"),
            TagEnd::List(true) => self.put("</ol>\n"),
            TagEnd::List(false) => self.put("</ul>\n"),
            TagEnd::Item => self.put("</li>\n"),
            TagEnd::Table => self.put("</tbody></table></div>\n"),
            TagEnd::TableHead => {
                self.in_head = false;
                self.put("</tr></thead>\n<tbody>\n");
            }
            TagEnd::TableRow => self.put("</tr>\n"),
            TagEnd::TableCell => {
                self.put(if self.in_head { "</th>" } else { "</td>" });
                self.cell += 1;
            }
            TagEnd::Emphasis => self.put("</em>"),
            TagEnd::Strong => self.put("</strong>"),
            TagEnd::Strikethrough => self.put("</del>"),
            TagEnd::Link => match self.outside.pop().flatten() {
                Some(path) => {
                    let path = escape(&path);
                    self.put(&format!(" <small>(<code>{path}</code> in the repository)</small>"));
                }
                None => self.put("</a>"),
            },
            _ => {}
        }
    }

    fn heading(&mut self, level: HeadingLevel) {
        self.section = self.headings.next();
        let anchor = self.section.map(|heading| escape(&heading.anchor)).unwrap_or_default();
        self.put(&format!("<{level} id=\"{anchor}\">"));
    }

    /// A heading has a link to itself, so that a place can be named to somebody else.
    fn end_heading(&mut self, level: HeadingLevel) {
        let Some(heading) = self.section else { return };
        let (anchor, words) = (escape(&heading.anchor), escape(&heading.text));
        self.put(&format!(
            " <a class=\"anchor\" href=\"#{anchor}\" aria-label=\"Link to {words}\">#</a></{level}>\n"
        ));
    }

    fn link(&mut self, link: &str) {
        match self.destination(link) {
            Ok(address) => {
                let address = escape(&address);
                self.put(&format!("<a href=\"{address}\">"));
                self.outside.push(None);
            }
            Err(path) => self.outside.push(Some(path)),
        }
    }

    /// The address of a link on the site, or the path of what is only in the repository.
    fn destination(&self, link: &str) -> Result<String, String> {
        let (path, anchor) = place::split(link);
        if place::is_elsewhere(link) || path.is_empty() {
            return Ok(link.into());
        }
        let path = place::resolve(&self.page.source, path).unwrap_or_else(|| path.into());
        let Some(target) = self.book.target(&path) else { return Err(path) };
        let mut address = place::relative(&self.page.target, target);
        if let Some(anchor) = anchor {
            let _infallible = write!(address, "#{anchor}");
        }
        Ok(address)
    }

    fn image(&mut self, position: usize, link: &str) -> usize {
        let next = self.after(position, TagEnd::Image);
        let inside = self.events[position..next].iter().map(|(event, _)| event);
        let words = escape(&markdown::plain(inside));
        match self.destination(link) {
            Ok(address) => {
                let address = escape(&address);
                self.put(&format!("<img src=\"{address}\" alt=\"{words}\">"));
            }
            Err(path) => {
                let path = escape(&path);
                self.put(&format!(
                    "{words} <small>(<code>{path}</code> in the repository)</small>"
                ));
            }
        }
        next
    }

    /// In a session at a terminal, what is typed stands out from what is printed.
    fn code(&mut self, position: usize, kind: &CodeBlockKind<'_>) -> usize {
        let next = self.after(position, TagEnd::CodeBlock);
        let inside = self.events[position..next].iter().map(|(event, _)| event);
        let text = markdown::plain(inside);
        let language = match kind {
            CodeBlockKind::Fenced(words) => words.split([' ', ',']).next().unwrap_or_default(),
            CodeBlockKind::Indented => "",
        };
        let reach = if text.lines().any(|line| line.chars().count() > WIDE_CODE) {
            " tabindex=\"0\""
        } else {
            ""
        };
        let class = if language.is_empty() {
            String::new()
        } else {
            format!(" class=\"language-{}\"", escape(language))
        };
        self.put(&format!("<pre{reach}><code{class}>"));
        for line in text.split_inclusive('\n') {
            if language == "console" && line.starts_with("$ ") {
                let typed = escape(line.trim_end_matches('\n'));
                self.put(&format!("<b>{typed}</b>\n"));
            } else {
                self.text(line);
            }
        }
        self.put("</code></pre>\n");
        next
    }

    /// A table that may be wider than the screen scrolls by itself, also from the keyboard.
    fn table(&mut self, position: usize, alignments: &[Alignment]) {
        self.alignments = alignments.to_vec();
        let end = self.after(position, TagEnd::Table);
        let rows = self.events[position..end]
            .split(|(event, _)| matches!(event, Event::Start(Tag::TableHead | Tag::TableRow)));
        let widest = rows.map(|row| markdown::plain(row.iter().map(|(event, _)| event)));
        let widest = widest.map(|row| row.chars().count()).max().unwrap_or_default();
        if widest > WIDE_ROW {
            let section = self.section.map(|heading| heading.text.as_str()).unwrap_or_default();
            let name = escape(&format!("Table: {section}"));
            self.put(&format!(
                "<div class=\"table\" role=\"region\" aria-label=\"{name}\" tabindex=\"0\">"
            ));
        } else {
            self.put("<div class=\"table\">");
        }
        self.put("<table>\n");
        if self.is_empty_head(position + 1) {
            self.put("<tbody>\n");
        }
    }

    /// A table of two columns that need no names has a head without words, which is not shown.
    fn is_empty_head(&self, position: usize) -> bool {
        let end = self.after(position, TagEnd::TableHead);
        let inside = self.events[position..end].iter().map(|(event, _)| event);
        markdown::plain(inside).trim().is_empty()
    }

    fn cell(&mut self) {
        let class = match self.alignments.get(self.cell) {
            Some(Alignment::Right) => " class=\"right\"",
            Some(Alignment::Center) => " class=\"center\"",
            _ => "",
        };
        let start = if self.in_head {
            format!("<th scope=\"col\"{class}>")
        } else {
            format!("<td{class}>")
        };
        self.put(&start);
    }

    /// The position after the end of what starts at a position.
    fn after(&self, position: usize, end: TagEnd) -> usize {
        let rest = &self.events[position..];
        let length = rest.iter().position(|(event, _)| *event == Event::End(end));
        length.map_or(self.events.len(), |length| position + length + 1)
    }
}
