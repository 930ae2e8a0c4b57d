//! One block of Markdown, laid out.
//!
//! All text passes [`plain()`] on its way here, after it was read: an entity such as `&#27;` becomes the
//! character it stands for only then.

use anstyle::{AnsiColor, Style};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Parser, Tag, TagEnd};

use super::grid::Grid;
use super::text::{Long, Text, rendered};
use super::{Look, OPTIONS};
use crate::output::{plain, plain_block, style};

/// Code within a line.
const CODE: Style = AnsiColor::Cyan.on_default();
/// Text is never laid out narrower than this, however deep it is set in.
const NARROWEST: usize = 20;
/// The longest rule.
const RULE: usize = 60;

/// A block as lines for a terminal. If it is an item of a list that has begun, it has that number.
pub(super) fn render(source: &str, look: Look, number: Option<u64>) -> String {
    let mut page = Page {
        look,
        shown: String::new(),
        margins: Vec::new(),
        containers: vec![Container::default()],
        styles: Vec::new(),
        text: Text::default(),
        links: Vec::new(),
        code: None,
        grid: None,
        number,
    };
    let parser = Parser::new_ext(source, OPTIONS);
    let mut definitions: Vec<_> =
        parser.reference_definitions().iter().map(|(_, it)| it.span.clone()).collect();
    definitions.sort_by_key(|span| span.start);
    for span in definitions {
        page.lines_of(&source[span]);
    }
    parser.for_each(|event| page.take(event));
    page.end_text();
    page.shown
}

/// What is in front of the lines of something.
#[derive(Debug)]
struct Margin {
    /// In front of its first line, until that is there.
    first: Option<String>,
    rest: String,
}

/// What blocks are in.
#[derive(Debug, Default)]
struct Container {
    is_item: bool,
    /// The number of the next item, in a list that has numbers.
    number: Option<u64>,
    has_block: bool,
}

#[derive(Debug)]
struct Link {
    address: String,
    /// Where its text begins.
    start: usize,
    is_bare: bool,
}

struct Page {
    look: Look,
    shown: String,
    margins: Vec<Margin>,
    containers: Vec<Container>,
    styles: Vec<Style>,
    text: Text,
    links: Vec<Link>,
    /// The code of a block, with its fence.
    code: Option<(Option<String>, String)>,
    grid: Option<Grid>,
    /// The number that the outermost list begins with, whatever its text says.
    number: Option<u64>,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.say(&text),
            },
            Event::Code(text) => self.marked("`", CODE, |page| page.say(&text)),
            Event::Html(text) => self.lines_of(&text),
            Event::InlineHtml(text) if is_line_break(&text) => self.break_line(),
            Event::SoftBreak => self.say(" "),
            Event::HardBreak => self.break_line(),
            Event::Rule => {
                self.separate();
                let rule = "─".repeat(self.room().min(RULE));
                let rule = self.look.mark(&rule);
                self.line(&rule);
            }
            Event::TaskListMarker(is_done) => self.say(if is_done { "[x] " } else { "[ ] " }),
            Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.say(&text),
        }
    }

    fn begin(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.separate(),
            Tag::Heading { level, .. } => {
                self.separate();
                self.styles.push(self.style(|it| it.bold()));
                self.say(&format!("{} ", "#".repeat(depth(level))));
            }
            Tag::BlockQuote(_) => {
                self.separate();
                let bar = self.look.mark("│ ");
                self.enter(Margin { first: None, rest: bar }, Container::default());
            }
            Tag::HtmlBlock => self.separate(),
            Tag::CodeBlock(kind) => {
                self.separate();
                let fence = match kind {
                    CodeBlockKind::Fenced(info) => Some(format!("```{info}")),
                    CodeBlockKind::Indented => None,
                };
                self.code = Some((fence, String::new()));
            }
            Tag::List(number) => {
                self.end_text();
                if !self.container().is_item {
                    self.separate();
                }
                let number = self.number.take().or(number);
                self.containers.push(Container { number, ..Container::default() });
            }
            Tag::Item => self.begin_item(),
            Tag::Table(alignments) => {
                self.separate();
                self.grid = Some(Grid::new(alignments));
            }
            Tag::TableHead => {
                self.styles.push(self.style(|it| it.bold()));
                self.grid.iter_mut().for_each(Grid::begin_row);
            }
            Tag::TableRow => self.grid.iter_mut().for_each(Grid::begin_row),
            Tag::Emphasis => self.mark("*", |it| it.italic()),
            Tag::Strong => self.mark("**", |it| it.bold()),
            Tag::Strikethrough => self.mark("~~", |it| it.strikethrough()),
            Tag::Link { link_type, dest_url, .. } => {
                let is_bare = matches!(link_type, LinkType::Autolink | LinkType::Email);
                self.begin_link(&dest_url, is_bare);
            }
            Tag::Image { dest_url, .. } => {
                self.say("[image: ");
                self.begin_link(&dest_url, false);
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.end_text(),
            TagEnd::Heading(_) => {
                self.end_text();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) | TagEnd::Item => {
                self.end_text();
                self.leave();
            }
            TagEnd::List(_) => {
                self.containers.pop();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::TableCell => {
                let text = std::mem::take(&mut self.text);
                self.grid.iter_mut().for_each(|grid| grid.cell(text.clone()));
            }
            TagEnd::TableHead => {
                self.styles.pop();
            }
            TagEnd::Table => {
                let lines = self.grid.take().map(|grid| grid.lines(self.room(), self.dim()));
                lines.unwrap_or_default().iter().for_each(|line| self.line(line));
            }
            TagEnd::Emphasis => self.unmark("*"),
            TagEnd::Strong => self.unmark("**"),
            TagEnd::Strikethrough => self.unmark("~~"),
            TagEnd::Link => self.end_link(""),
            TagEnd::Image => self.end_link("]"),
            _ => {}
        }
    }

    fn begin_item(&mut self) {
        let container = self.containers.last_mut();
        let number = container.and_then(|it| it.number.replace(it.number?.wrapping_add(1)));
        let sign = number.map_or_else(|| "• ".to_owned(), |number| format!("{number}. "));
        let rest = " ".repeat(sign.chars().count());
        let sign = self.look.mark(&sign);
        let container = Container { is_item: true, ..Container::default() };
        self.enter(Margin { first: Some(sign), rest }, container);
    }

    fn enter(&mut self, margin: Margin, container: Container) {
        self.margins.push(margin);
        self.containers.push(container);
    }

    /// Ends a quotation or an item, which is to be seen even if it is empty.
    fn leave(&mut self) {
        if self.margins.last().is_some_and(|margin| margin.first.is_some()) {
            self.line("");
        }
        self.margins.pop();
        self.containers.pop();
    }

    fn end_code(&mut self) {
        let Some((fence, code)) = self.code.take() else { return };
        let code = plain_block(&code);
        let Some(fence) = fence else {
            return code.lines().for_each(|line| self.line(&format!("    {line}")));
        };
        if !self.look.has_fences() {
            return self.look.code(&code).lines().for_each(|line| self.line(line));
        }
        self.line(&plain(&fence));
        code.lines().for_each(|line| self.line(line));
        self.line("```");
    }

    fn begin_link(&mut self, address: &str, is_bare: bool) {
        let link = Link { address: plain(address), start: self.text.len(), is_bare };
        self.links.push(link);
        self.styles.push(self.style(|it| it.underline()));
    }

    fn end_link(&mut self, closing: &str) {
        self.styles.pop();
        self.say(closing);
        let Some(link) = self.links.pop() else { return };
        if !link.is_bare && !link.address.is_empty() && self.text.since(link.start) != link.address
        {
            self.text.push(&format!(" ({})", link.address), self.dim());
        }
    }

    /// Something in a style, or between marks where there are none.
    fn marked(&mut self, mark: &str, style: Style, say: impl FnOnce(&mut Self)) {
        self.mark(mark, |_| style);
        say(self);
        self.unmark(mark);
    }

    fn mark(&mut self, mark: &str, change: impl FnOnce(Style) -> Style) {
        if !self.look.is_styled {
            self.say(mark);
        }
        self.styles.push(self.style(change));
    }

    fn unmark(&mut self, mark: &str) {
        self.styles.pop();
        if !self.look.is_styled {
            self.say(mark);
        }
    }

    fn style(&self, change: impl FnOnce(Style) -> Style) -> Style {
        let style = self.styles.last().copied().unwrap_or_default();
        if self.look.is_styled { change(style) } else { style }
    }

    fn dim(&self) -> Style {
        if self.look.is_styled { style::DIM } else { Style::new() }
    }

    fn say(&mut self, text: &str) {
        let style = self.styles.last().copied().unwrap_or_default();
        self.text.push(&plain(text), style);
    }

    fn break_line(&mut self) {
        self.text.push("\n", Style::new());
    }

    /// Text whose lines are kept.
    fn lines_of(&mut self, text: &str) {
        plain_block(text).lines().for_each(|line| self.line(line));
    }

    fn container(&mut self) -> &mut Container {
        self.containers.last_mut().expect("the outermost is never left")
    }

    /// An empty line between this block and the one before it, which may be text of a tight item.
    fn separate(&mut self) {
        self.end_text();
        let container = self.container();
        if std::mem::replace(&mut container.has_block, true) && !self.shown.is_empty() {
            self.line("");
        }
    }

    fn end_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        if text.is_empty() {
            return;
        }
        self.container().has_block = true;
        for line in text.wrapped(self.room(), Long::Stays) {
            self.line(&rendered(&line));
        }
    }

    fn line(&mut self, text: &str) {
        let mut line = String::new();
        for margin in &mut self.margins {
            line.push_str(margin.first.take().as_ref().unwrap_or(&margin.rest));
        }
        line.push_str(text);
        self.shown.push_str(line.trim_end());
        self.shown.push('\n');
    }

    fn room(&self) -> usize {
        let marks = self.margins.iter().map(|margin| match margin.rest.trim().is_empty() {
            true => margin.rest.len(),
            false => 2,
        });
        self.look.width.saturating_sub(marks.sum()).max(NARROWEST)
    }
}

fn is_line_break(html: &str) -> bool {
    matches!(html, "<br>" | "<br/>" | "<br />")
}

fn depth(level: HeadingLevel) -> usize {
    level as usize
}
