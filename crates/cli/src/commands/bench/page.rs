//! A page for browsers: charts with their numbers in tables beside them.
//!
//! It is one file that needs nothing else: no script, no font, no address. It follows the light or dark
//! of whoever reads it, fits a phone and paper, and a chart is a list of names and numbers in which a bar is drawn
//! beside each. What is ours is told by a word and by a bar that is filled, not by a colour alone. It is
//! well-formed XML too.

use super::cache::OURS;
use super::live::{Live, Paid};
use super::tokens::PROGRESSIVE;
use super::{grouped, percent};

/// How the page looks.
const STYLE: &str = include_str!("page.css");

/// Points that a bar is high.
const BAR: usize = 16;
/// What stands beside the name of a bar that is ours.
const OUR_MARK: &str = "metier";

/// A page.
#[derive(Clone, Debug)]
pub(super) struct Page {
    /// What it is about.
    pub title: String,
    /// What comes of it.
    pub lead: String,
    /// The charts.
    pub sections: Vec<Section>,
    /// How to read it.
    pub notes: Vec<String>,
}

/// A chart and its table.
#[derive(Clone, Debug)]
pub(super) struct Section {
    /// What it is about.
    pub heading: String,
    /// More about it.
    pub note: String,
    /// What bars show.
    pub chart: String,
    /// The bars.
    pub bars: Vec<Bar>,
    /// Headings of the table; the first column has names.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}

/// A bar.
#[derive(Clone, Debug)]
pub(super) struct Bar {
    /// What it is.
    pub label: String,
    /// How long it is.
    pub value: usize,
    /// Whether it is what the others are compared with.
    pub is_ours: bool,
}

impl Page {
    /// The whole page.
    pub(super) fn render(&self) -> String {
        let sections: Vec<String> =
            self.sections.iter().enumerate().map(|(at, section)| section.render(at)).collect();
        let notes: String =
            self.notes.iter().map(|note| format!("<li>{}</li>\n", safe(note))).collect();
        let (title, lead) = (safe(&self.title), safe(&self.lead));
        let (style, sections) = (STYLE.trim_end(), sections.concat());
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <title>{title}</title>\n<style>\n{style}\n</style>\n</head>\n<body>\n<main>\n\
             <h1>{title}</h1>\n<p class=\"lead\">{lead}</p>\n{sections}\
             <section>\n<h2>How to read this</h2>\n<ul>\n{notes}</ul>\n</section>\n\
             </main>\n</body>\n</html>\n"
        )
    }
}

impl Section {
    /// What a provider was paid for.
    pub(super) fn live(live: &Live) -> Self {
        let name = |paid: &Paid| format!("{}, {}", paid.title, paid.layout);
        let bar = |paid: &Paid| Bar {
            label: name(paid),
            value: paid.uncached_tokens,
            is_ours: [OURS, PROGRESSIVE].contains(&paid.layout.as_str()),
        };
        let row = |paid: &Paid| {
            let share = if paid.error.is_some() { "–".to_owned() } else { percent(paid.share()) };
            [name(paid)].into_iter().chain(paid.cells()).chain([share]).collect()
        };
        let columns =
            ["case and layout", "requests", "prompt", "cached", "uncached", "written", "share"];
        Self {
            heading: format!("The same with {}", live.model),
            note:
                "Tokens by the provider's own count; the model decides how many requests it takes."
                    .to_owned(),
            chart: "uncached tokens".to_owned(),
            bars: live.paid.iter().filter(|paid| paid.error.is_none()).map(bar).collect(),
            columns: columns.map(str::to_owned).into(),
            rows: live.paid.iter().map(row).collect(),
        }
    }

    fn render(&self, number: usize) -> String {
        let (heading, note) = (safe(&self.heading), safe(&self.note));
        format!(
            "<section>\n<h2>{heading}</h2>\n<p class=\"note\">{note}</p>\n<div class=\"pair\">\n\
             {}{}</div>\n</section>\n",
            self.chart(),
            self.table(number),
        )
    }

    /// A list, because that is what it is to somebody who listens; without bars there is none.
    fn chart(&self) -> String {
        if self.bars.is_empty() {
            return String::new();
        }
        let largest = self.bars.iter().map(|bar| bar.value).max().unwrap_or_default().max(1);
        let bars: String = self.bars.iter().map(|bar| bar.render(largest)).collect();
        let caption = safe(&self.chart);
        let filled = if self.bars.iter().any(|bar| bar.is_ours) {
            format!("; the filled bar is that of {OUR_MARK}")
        } else {
            String::new()
        };
        format!(
            "<figure>\n<figcaption>{caption}{filled}</figcaption>\n<ul class=\"bars\">\n{bars}</ul>\n</figure>\n"
        )
    }

    fn table(&self, number: usize) -> String {
        let heads: String =
            self.columns.iter().map(|it| format!("<th scope=\"col\">{}</th>", safe(it))).collect();
        let rows: String = self.rows.iter().map(|row| table_row(row)).collect();
        format!(
            "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-labelledby=\"table-{number}\">\n<table>\n\
             <caption id=\"table-{number}\">Numbers: {}</caption>\n\
             <thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n",
            safe(&self.heading),
        )
    }
}

fn table_row(cells: &[String]) -> String {
    let cell = |(at, text): (usize, &String)| match at {
        0 => format!("<th scope=\"row\">{}</th>", safe(text)),
        _ => format!("<td>{}</td>", safe(text)),
    };
    format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>())
}

impl Bar {
    /// The bar itself is not spoken: the number beside it says the same.
    fn render(&self, largest: usize) -> String {
        let (label, value) = (safe(&self.label), grouped(self.value));
        let (class, mark) = if self.is_ours {
            ("bar ours", format!(" <span class=\"mark\">{OUR_MARK}</span>"))
        } else {
            ("bar", String::new())
        };
        // Nothing is no bar, and what is there can be seen.
        let bar = match (self.value * 1000).div_ceil(largest) {
            0 => String::new(),
            length => {
                let length = format!("{}.{}", length / 10, length % 10);
                format!("<rect class=\"{class}\" width=\"{length}%\" height=\"{BAR}\" rx=\"3\"/>")
            }
        };
        format!(
            "<li><span class=\"label\">{label}{mark}</span> <span class=\"value\">{value}</span>\
             <svg width=\"100%\" height=\"{BAR}\" aria-hidden=\"true\">{bar}</svg></li>\n"
        )
    }
}

/// Text of others that cannot become part of the page's own.
fn safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // What a browser would take for a control, or XML forbids.
            other if other.is_control() => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str) -> Page {
        let section = Section {
            heading: name.to_owned(),
            note: name.to_owned(),
            chart: "tokens".to_owned(),
            bars: vec![
                Bar { label: name.to_owned(), value: 1500, is_ours: false },
                Bar { label: "ours".to_owned(), value: 0, is_ours: true },
            ],
            columns: vec!["layout".to_owned(), "tokens".to_owned()],
            rows: vec![vec![name.to_owned(), "1 500".to_owned()]],
        };
        let (title, lead) = (name.to_owned(), name.to_owned());
        Page { title, lead, sections: vec![section], notes: vec![name.to_owned()] }
    }

    /// Elements that are open at the end, or closed though they were not open.
    fn unbalanced(page: &str) -> Vec<String> {
        let mut open: Vec<String> = Vec::new();
        for tag in page.trim_start_matches("<!DOCTYPE html>").split('<').skip(1) {
            let tag = tag.split('>').next().unwrap_or_default();
            let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default();
            if tag.starts_with('/') {
                match open.pop() {
                    Some(last) if last == name => {}
                    last => open.extend(last.into_iter().chain([format!("/{name}")])),
                }
            } else if !tag.ends_with('/') {
                open.push(name.to_owned());
            }
        }
        open
    }

    #[test]
    fn a_page_closes_what_it_opens_and_names_no_address() {
        let page = page("a skill").render();
        assert_eq!(unbalanced(&page), [""; 0], "{page}");
        for word in ["http", "//", "src=", "href=", "url(", "@import", "<script"] {
            assert!(!page.contains(word), "{word}");
        }
        assert!(page.contains("prefers-color-scheme: dark") && page.contains("viewport"), "{page}");
    }

    #[test]
    fn names_of_skills_cannot_become_part_of_the_page() {
        let page = page("\"><script>alert('x')</script>\u{1b}<b>&").render();
        assert!(
            !page.contains("<script") && !page.contains("<b>") && !page.contains('\u{1b}'),
            "{page}"
        );
        assert!(page.contains("&lt;script&gt;") && page.contains("&amp;"), "{page}");
    }

    #[test]
    fn the_longest_bar_is_as_wide_as_the_chart_and_nothing_is_no_bar() {
        let bar = |value| Bar { label: "x".to_owned(), value, is_ours: false }.render(1500);
        assert!(bar(1500).contains("width=\"100.0%\" height=\"16\" rx"), "{}", bar(1500));
        assert!(bar(1).contains("width=\"0.1%\""), "{}", bar(1));
        assert!(!bar(0).contains("<rect"), "{}", bar(0));
    }

    #[test]
    fn what_is_ours_is_told_by_a_word_as_well() {
        let of = |is_ours| Bar { label: "stays".to_owned(), value: 3, is_ours }.render(3);
        assert!(of(true).contains("stays <span class=\"mark\">metier</span>"), "{}", of(true));
        assert!(!of(false).contains("metier"), "{}", of(false));
        let page = page("x").render();
        assert!(page.contains("the filled bar is that of metier"), "{page}");
    }

    #[test]
    fn a_section_without_bars_has_no_chart() {
        let mut page = page("x");
        page.sections[0].bars.clear();
        assert!(!page.render().contains("<figure>"), "{}", page.render());
    }
}
