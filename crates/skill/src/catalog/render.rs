//! The two renderings of a catalog. Nothing from a skill can close a tag or begin a line.

use std::fmt::Write as _;

use crate::name::is_invisible;

/// How the catalog is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `- name: description` lines.
    Lines,
    /// `<available_skills>` with `<name>`, `<description>` and `<location>`.
    Xml,
}

/// One line of a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A skill with as much of its description as it keeps.
    Skill { name: &'a str, description: &'a str, cut: bool, location: &'a str },
    /// A skill by its name.
    Name { name: &'a str, location: &'a str },
    /// So many skills whose names begin alike.
    Group { prefix: &'a str, count: usize },
    /// So many skills that are found by searching only.
    Behind { count: usize },
}

/// Shown where a description was cut.
pub(crate) const ELLIPSIS: &str = "…";

impl Format {
    pub(crate) fn opening(self) -> &'static str {
        match self {
            Self::Lines => "Available skills:\n",
            Self::Xml => "<available_skills>\n",
        }
    }

    pub(crate) fn closing(self) -> &'static str {
        match self {
            Self::Lines => "",
            Self::Xml => "</available_skills>\n",
        }
    }

    pub(crate) fn write(self, line: &Line<'_>, out: &mut String) {
        match self {
            Self::Lines => write_line(line, out),
            Self::Xml => write_xml(line, out),
        }
    }
}

fn write_line(line: &Line<'_>, out: &mut String) {
    let _infallible = match line {
        Line::Skill { name, description, cut, .. } => {
            let ellipsis = if *cut { ELLIPSIS } else { "" };
            writeln!(out, "- {name}: {description}{ellipsis}")
        }
        Line::Name { name, .. } => writeln!(out, "- {name}"),
        Line::Group { prefix, count } => writeln!(out, "- {prefix}-* ({count})"),
        Line::Behind { count } => {
            writeln!(out, "{count} of the skills are not named here; find them with skill_search.")
        }
    };
}

fn write_xml(line: &Line<'_>, out: &mut String) {
    let _infallible = match line {
        Line::Skill { name, description, cut, location } => {
            let (name, location) = (escape(name), escape_place(location));
            let ellipsis = if *cut { ELLIPSIS } else { "" };
            writeln!(
                out,
                "<skill><name>{name}</name><description>{}{ellipsis}</description>\
                 <location>{location}</location></skill>",
                escape(description)
            )
        }
        Line::Name { name, location } => writeln!(
            out,
            "<skill><name>{}</name><location>{}</location></skill>",
            escape(name),
            escape_place(location)
        ),
        Line::Group { prefix, count } => {
            writeln!(out, "<skills names=\"{}-*\" count=\"{count}\"/>", escape(prefix))
        }
        Line::Behind { count } => {
            writeln!(out, "<more count=\"{count}\">find them with skill_search</more>")
        }
    };
}

/// Escapes `& < > " '`, so that a text stays a text.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#x27;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Escapes where something is. Folders may have names with line breaks in them; those, and what
/// shows nothing, are written as numbers, since a place must stay the same to be found.
pub(crate) fn escape_place(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in escape(text).chars() {
        if is_invisible(character) {
            let _infallible = write!(escaped, "&#x{:x};", u32::from(character));
        } else {
            escaped.push(character);
        }
    }
    escaped
}
