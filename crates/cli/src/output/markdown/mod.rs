//! Markdown for a terminal, shown while it is still being written.
//!
//! Text comes in pieces. A block is laid out when it is complete and never touched again, so nothing on
//! the terminal is redrawn: lines of a fenced code block are complete by themselves, an item of a list
//! is when the next one begins, everything else when something else does. Lines are looked at one
//! after the other, so it does not matter in which pieces they came. Blocks are read apart from each
//! other: a link whose address is defined in another block stays as it was written.

mod block;
mod grid;
mod text;

use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::output::{plain, plain_block, style, styled};

/// A block that is longer, in bytes, is shown as it was written: finding its end would take too long.
const MAX_BLOCK: usize = 64 << 10;
/// How often each byte of a block is read, on average, to find its end. One that is longer than about so many
/// lines is not looked at after each of them.
const MAX_READS: usize = 64;
/// In front of lines of code where no fence is around them.
const CODE_INDENT: &str = "  ";
/// What is understood beside the common ground of all Markdown.
const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

/// How text looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// Columns there are.
    pub width: usize,
    /// Whether there are styles; else marks stay where styles would have been.
    pub is_styled: bool,
}

/// A text that is being written.
#[derive(Clone, Debug)]
pub(crate) struct Markdown {
    look: Look,
    /// The line that has not ended.
    line: String,
    /// The block that has not ended, in whole lines.
    block: String,
    /// Bytes that were read to find its end.
    read: usize,
    /// The fenced code that has not ended.
    fence: Option<Fence>,
    /// The list whose next item the block is.
    list: Option<List>,
    has_begun: bool,
}

/// How a fenced code block began.
#[derive(Clone, Copy, Debug)]
struct Fence {
    mark: char,
    count: usize,
    indent: usize,
}

/// A list of which items have been shown.
#[derive(Clone, Copy, Debug)]
struct List {
    /// The number of the next item.
    number: Option<u64>,
    /// Whether an empty line comes before it.
    is_apart: bool,
}

/// How far the first block of a text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// More may come.
    Open,
    /// All of it is there, and nothing else is.
    Whole,
    /// Something else begins here.
    Until(usize),
    /// The next item of the same list begins here.
    ItemUntil(usize),
}

impl Markdown {
    /// Begins a text.
    pub(crate) fn new(look: Look) -> Self {
        let (line, block) = (String::new(), String::new());
        Self { look, line, block, read: 0, fence: None, list: None, has_begun: false }
    }

    /// Takes what comes next; gives the lines that are complete by it.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut shown = String::new();
        for part in piece.split_inclusive('\n') {
            self.line.push_str(part);
            if part.ends_with('\n') {
                let line = std::mem::take(&mut self.line);
                self.take(&tidied(&line), &mut shown);
            }
        }
        shown
    }

    /// Nothing more comes; gives the lines that are left.
    pub(crate) fn finish(&mut self) -> String {
        let mut shown = String::new();
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take(&tidied(&line), &mut shown);
        }
        self.flush(&mut shown);
        (self.fence, self.list) = (None, None);
        shown
    }

    /// The last words, if they are not shown yet.
    pub(crate) fn pending(&self) -> &str {
        let line = self.line.trim();
        if line.is_empty() {
            self.block.trim_end().lines().next_back().unwrap_or_default()
        } else {
            line
        }
    }

    /// Takes a line.
    fn take(&mut self, line: &str, shown: &mut String) {
        if let Some(fence) = self.fence {
            return self.take_code(fence, line, shown);
        }
        if self.block.is_empty() {
            if line.trim().is_empty() {
                return;
            }
            if let Some(fence) = Fence::opened_by(line) {
                self.list = None;
                self.fence = Some(fence);
                self.separate(shown);
                return self.show_fence(line, shown);
            }
        }
        self.block.push_str(line);
        if self.block.len() > MAX_BLOCK {
            self.separate(shown);
            shown.push_str(&plain_block(&self.block));
            self.block.clear();
            (self.read, self.list) = (0, None);
            return;
        }
        if self.read <= self.block.len() * MAX_READS && !goes_on(&self.block) {
            self.read += self.block.len();
            self.settle(shown);
        }
    }

    /// Shows the block if it is complete, and goes on with what follows it.
    fn settle(&mut self, shown: &mut String) {
        let (end, is_item) = match extent(&self.block) {
            Extent::Open => return,
            Extent::Whole => return self.flush(shown),
            Extent::Until(end) => (end, false),
            Extent::ItemUntil(end) => (end, true),
        };
        let rest = self.block.split_off(end);
        let is_apart = self.block.ends_with("\n\n");
        let number = self.list.and_then(|list| list.number).or_else(|| first_number(&self.block));
        self.flush(shown);
        self.list = is_item.then(|| List { number: number.map(|it| it.wrapping_add(1)), is_apart });
        for line in rest.split_inclusive('\n') {
            self.take(line, shown);
        }
    }

    /// Shows the block.
    fn flush(&mut self, shown: &mut String) {
        let block = std::mem::take(&mut self.block);
        self.read = 0;
        let list = self.list.take();
        if block.trim().is_empty() {
            return;
        }
        if list.is_none_or(|list| list.is_apart) {
            self.separate(shown);
        }
        shown.push_str(&block::render(&block, self.look, list.and_then(|list| list.number)));
    }

    /// An empty line, unless nothing is above it.
    fn separate(&mut self, shown: &mut String) {
        if std::mem::replace(&mut self.has_begun, true) {
            shown.push('\n');
        }
    }

    fn take_code(&mut self, fence: Fence, line: &str, shown: &mut String) {
        if fence.is_closed_by(line) {
            self.fence = None;
            return self.show_fence(line, shown);
        }
        let indent = line.bytes().take(fence.indent).take_while(|it| *it == b' ').count();
        shown.push_str(&self.look.code(&plain_block(&line[indent..])));
    }

    fn show_fence(&self, line: &str, shown: &mut String) {
        if self.look.has_fences() {
            shown.push_str(&plain(line.trim()));
            shown.push('\n');
        }
    }
}

impl Look {
    /// Whether fences are shown; else code is set in.
    fn has_fences(self) -> bool {
        !self.is_styled
    }

    /// Lines of fenced code, already safe.
    fn code(self, lines: &str) -> String {
        if self.has_fences() {
            return lines.to_owned();
        }
        let set_in = |line: &str| {
            if line.trim().is_empty() { "\n".into() } else { format!("{CODE_INDENT}{line}") }
        };
        lines.split_inclusive('\n').map(set_in).collect()
    }

    /// Something that is not text itself, such as the mark of an item.
    fn mark(self, text: &str) -> String {
        if self.is_styled { styled(style::DIM, plain(text)) } else { plain(text) }
    }
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let (indent, rest) = unindented(line)?;
        let mark = rest.chars().next().filter(|it| matches!(it, '`' | '~'))?;
        let info = rest.trim_start_matches(mark);
        let count = rest.len() - info.len();
        (count >= 3 && !(mark == '`' && info.contains('`'))).then_some(Self { mark, count, indent })
    }

    fn is_closed_by(self, line: &str) -> bool {
        let Some((_, rest)) = unindented(line) else { return false };
        let after = rest.trim_start_matches(self.mark);
        rest.len() - after.len() >= self.count && after.trim().is_empty()
    }
}

/// A line without the up to three spaces before it; more would make it something else.
fn unindented(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches(' ');
    let indent = line.len() - rest.len();
    (indent < 4).then_some((indent, rest))
}

/// A line with the one end that lines have.
fn tidied(line: &str) -> String {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    // Others would end it as well.
    format!("{}\n", line.replace('\r', "\\u{d}"))
}

/// Whether the last line of a block is certainly no end of it: words below words. Saves looking at the
/// whole block again.
fn goes_on(block: &str) -> bool {
    let mut lines = block.lines().rev();
    let begins_with_letter =
        |line: &str| line.trim_start().starts_with(|it: char| it.is_alphabetic());
    lines.next().is_some_and(begins_with_letter) && lines.next().is_some_and(begins_with_letter)
}

fn extent(block: &str) -> Extent {
    let is_ended = block.ends_with("\n\n") || block.lines().next_back().is_some_and(is_blank);
    let (mut depth, mut first, mut items) = (0_usize, None, 0);
    for (event, range) in Parser::new_ext(block, OPTIONS).into_offset_iter() {
        let is_list = matches!(first, Some(Extent::Open)) && depth == 1;
        match event {
            Event::Start(tag) => {
                if depth == 0 && first.is_some() {
                    return Extent::Until(line_start(block, range.start));
                }
                if depth == 0 {
                    first = Some(match tag {
                        // They go on after an empty line, or may do so.
                        Tag::List(_) | Tag::CodeBlock(_) | Tag::HtmlBlock => Extent::Open,
                        Tag::Heading { .. } => Extent::Whole,
                        _ if is_ended => Extent::Whole,
                        _ => Extent::Until(0),
                    });
                } else if is_list && matches!(tag, Tag::Item) {
                    items += 1;
                    if items > 1 {
                        return Extent::ItemUntil(line_start(block, range.start));
                    }
                }
                depth += 1;
            }
            Event::End(_) => depth -= 1,
            Event::Rule if depth == 0 => match first {
                Some(_) => return Extent::Until(line_start(block, range.start)),
                None => first = Some(Extent::Whole),
            },
            _ => {}
        }
    }
    match first {
        Some(Extent::Whole) => Extent::Whole,
        // Definitions of addresses, which show nothing by themselves.
        None if is_ended => Extent::Whole,
        _ => Extent::Open,
    }
}

/// The beginning of the line that something is in, so that what is set in stays so.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// The number that a list begins with.
fn first_number(block: &str) -> Option<u64> {
    Parser::new_ext(block, OPTIONS).find_map(|event| match event {
        Event::Start(Tag::List(number)) => Some(number),
        _ => None,
    })?
}

#[cfg(test)]
mod tests;
