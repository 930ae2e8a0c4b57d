//! What is around the body of a page: head, navigation, and the ways to the pages before and after.
//!
//! The navigation stands twice in a page, once beside the text and once in a menu that opens, and
//! the stylesheet shows one of them. That works without a script, and what is not shown is not
//! there for a screen reader either.

use std::fmt::Write;

use super::book::{Book, Page};
use super::html::{body, escape};
use super::markdown::{self, Heading};
use super::place;

/// The list of all headings, and the stylesheet, from the root of the site.
pub(super) const INDEX: &str = "contents.html";
pub(super) const STYLE: &str = "style.css";

const SITE: &str = "metier";
/// Search engines show about so much of a description.
const DESCRIPTION: usize = 160;
/// From so many headings on, a page has a list of them.
const LISTED: usize = 4;
/// A square with an m, as a picture inside the address.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='6' fill='%231f4e5f'/%3E%3Cpath d='M7 23V10h3l6 7 6-7h3v13' fill='none' stroke='%23fff' stroke-width='3'/%3E%3C/svg%3E";

/// What a page says beside its body.
struct Frame<'a> {
    title: &'a str,
    description: &'a str,
    /// Where the page is, from the root of the site.
    target: &'a str,
    /// The part between the navigation and the end.
    main: &'a str,
}

/// A page of the book.
pub(super) fn whole(book: &Book, position: usize) -> String {
    let page = &book.pages[position];
    let document = markdown::parse(&page.text);
    let title = document.title().unwrap_or(&page.label);
    let body = body(book, page);
    // The list stands below the title.
    let (above, below) = body.split_at(body.find("</h1>\n").map_or(0, |at| at + "</h1>\n".len()));
    let mut main = format!("{above}{}{below}", list(&document.headings));
    main.push_str(&neighbours(book, position));
    let description = shortened(&document.about());
    frame(book, &Frame { title, description: &description, target: &page.target, main: &main })
}

/// The page with the headings of all others.
pub(super) fn index(book: &Book) -> String {
    let mut main = "<h1>All headings</h1>\n".to_owned();
    for page in &book.pages {
        let document = markdown::parse(&page.text);
        let address = escape(&page.target);
        let title = escape(document.title().unwrap_or(&page.label));
        let _infallible = writeln!(main, "<h2><a href=\"{address}\">{title}</a></h2>");
        let below: Vec<_> =
            document.headings.iter().filter(|it| matches!(it.level, 2 | 3)).collect();
        if below.is_empty() {
            continue;
        }
        main.push_str("<ul class=\"headings\">\n");
        for heading in below {
            let (level, text) = (heading.level, escape(&heading.text));
            let anchor = escape(&heading.anchor);
            let _infallible = writeln!(
                main,
                "<li class=\"level-{level}\"><a href=\"{address}#{anchor}\">{text}</a></li>"
            );
        }
        main.push_str("</ul>\n");
    }
    let description = "Every heading of the documentation of metier, by page.";
    frame(book, &Frame { title: "All headings", description, target: INDEX, main: &main })
}

fn frame(book: &Book, frame: &Frame<'_>) -> String {
    let title = if frame.title == SITE {
        SITE.to_owned()
    } else {
        format!("{} · {SITE}", escape(frame.title))
    };
    let to = |path| escape(&place::relative(frame.target, path));
    let (style, home) = (to(STYLE), to("index.html"));
    let description = escape(frame.description);
    let (navigation, main) = (navigation(book, frame.target), frame.main);
    format!(
        r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<meta name="description" content="{description}">
<link rel="icon" href="{ICON}">
<link rel="stylesheet" href="{style}">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header><a class="name" href="{home}">{SITE}</a></header>
<details class="menu"><summary>Pages</summary>
<nav aria-label="Pages">
{navigation}</nav>
</details>
<div class="columns">
<nav class="sidebar" aria-label="Pages">
{navigation}</nav>
<main id="content" tabindex="-1">
{main}</main>
</div>
</body>
</html>
"##
    )
}

/// All pages by part, with the one that is shown marked.
fn navigation(book: &Book, shown: &str) -> String {
    let mut text = String::new();
    let mut part: Option<&str> = None;
    for page in &book.pages {
        if part != Some(&page.part) {
            if part.is_some() {
                text.push_str("</ul>\n");
            }
            if !page.part.is_empty() {
                let _infallible = writeln!(text, "<p class=\"part\">{}</p>", escape(&page.part));
            }
            text.push_str("<ul>\n");
            part = Some(&page.part);
        }
        text.push_str(&entry((&page.label, &page.target, page.depth), shown));
    }
    text.push_str(&entry(("All headings", INDEX, 0), shown));
    text.push_str("</ul>\n");
    text
}

fn entry((label, target, depth): (&str, &str, usize), shown: &str) -> String {
    let current = if target == shown { " aria-current=\"page\"" } else { "" };
    let address = escape(&place::relative(shown, target));
    let label = escape(label);
    let class = if depth > 0 { " class=\"below\"" } else { "" };
    format!("<li{class}><a href=\"{address}\"{current}>{label}</a></li>\n")
}

/// The headings of a long page, closed until somebody wants them.
fn list(headings: &[Heading]) -> String {
    let listed: Vec<_> = headings.iter().filter(|heading| heading.level == 2).collect();
    if listed.len() < LISTED {
        return String::new();
    }
    let mut text = "<details class=\"here\"><summary>On this page</summary>\n<ul>\n".to_owned();
    for heading in listed {
        let (anchor, words) = (escape(&heading.anchor), escape(&heading.text));
        let _infallible = writeln!(text, "<li><a href=\"#{anchor}\">{words}</a></li>");
    }
    text.push_str("</ul>\n</details>\n");
    text
}

fn neighbours(book: &Book, position: usize) -> String {
    let here = &book.pages[position].target;
    let link = |page: &Page, relation: &str, word: &str| {
        let (address, label) = (escape(&place::relative(here, &page.target)), escape(&page.label));
        format!("<a rel=\"{relation}\" href=\"{address}\"><small>{word}</small> {label}</a>\n")
    };
    let before = position.checked_sub(1).and_then(|at| book.pages.get(at));
    let after = book.pages.get(position + 1);
    let before = before.map(|page| link(page, "prev", "Previous")).unwrap_or_default();
    let after = after.map(|page| link(page, "next", "Next")).unwrap_or_default();
    format!(
        "<nav class=\"neighbours\" aria-label=\"Previous and next page\">\n{before}{after}</nav>\n"
    )
}

/// A text that ends at a word.
fn shortened(text: &str) -> String {
    if text.chars().count() <= DESCRIPTION {
        return text.to_owned();
    }
    let start: String = text.chars().take(DESCRIPTION).collect();
    let end = start.rfind(' ').unwrap_or(start.len());
    format!("{} …", start[..end].trim_end_matches([',', ';', ':']))
}
