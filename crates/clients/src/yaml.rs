//! YAML of two levels, changed by lines: a mapping at the left edge, and entries set in below it.
//!
//! That is the layout in which the client writes its own file. Any other gives no change, or a wrong one, which the
//! caller notices and refuses. Scalars are read as their text.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::format::{line_ranges, newline};

/// The indentation of entries where a file does not show its own.
const USUAL_INDENT: &str = "  ";

/// Reads the document, its scalars as text; a blank one is an empty mapping.
pub(crate) fn read(text: &str) -> Option<Value> {
    match metier_skill::header::yaml(text)? {
        Value::Null => Some(Value::Object(Map::new())),
        document => Some(document),
    }
}

/// Returns an entry as [`read`] gives it.
pub(crate) fn as_read(value: &Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members.iter().map(|(key, value)| (key.clone(), as_read(value))).collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(as_read).collect()),
        Value::Bool(flag) => Value::String(flag.to_string()),
        Value::Number(number) => Value::String(number.to_string()),
        other => other.clone(),
    }
}

/// Returns a text with an entry at a path of two keys, new or instead of the one there is.
pub(crate) fn set(text: &str, path: &[&str], entry: &Value) -> Option<String> {
    let [mapping, name] = path else { return None };
    let yaml = YamlMapping::of(text, mapping)?;
    let nl = newline(text);
    let has_end = text.is_empty() || text.ends_with('\n');
    let Some(header) = yaml.header else {
        let middle = if has_end { "" } else { nl };
        let lines = yaml.lines_of(name, entry)?.join(nl);
        let end = if has_end { nl } else { "" };
        return Some(format!("{text}{middle}{mapping}:{nl}{lines}{end}"));
    };
    let lines = yaml.lines_of(name, entry)?.join(nl);
    let mut changed = text.to_owned();
    match yaml.entry(name) {
        Some(place) => {
            let end = if text[place.clone()].ends_with('\n') { nl } else { "" };
            changed.replace_range(place, &format!("{lines}{end}"));
        }
        None => {
            let at = yaml.end;
            let is_open = text[..at].ends_with('\n');
            let added = if is_open { format!("{lines}{nl}") } else { format!("{nl}{lines}") };
            changed.insert_str(at, &added);
            let line = &text[yaml.lines[header].clone()];
            if let Some(empty) = line.find("{}").filter(|_| yaml.is_flow) {
                let start = yaml.lines[header].start;
                let from = start + line[..empty].trim_end().len();
                changed.replace_range(from..start + empty + "{}".len(), "");
            }
        }
    }
    Some(changed)
}

/// Returns a text whose entry at a path has these members, and the lines of those that are kept.
pub(crate) fn renew(
    text: &str,
    path: &[&str],
    members: &Map<String, Value>,
    kept: &Map<String, Value>,
) -> Option<String> {
    let [mapping, name] = path else { return None };
    if kept.is_empty() {
        return set(text, path, &Value::Object(members.clone()));
    }
    let yaml = YamlMapping::of(text, mapping)?;
    let place = yaml.entry(name)?;
    let inside: Vec<usize> =
        yaml.inside.clone().filter(|it| place.contains(&yaml.lines[*it].start)).skip(1).collect();
    let own = inside.iter().map(|it| yaml.line(*it)).find(|it| says_something(it)).map(indent)?;
    let mut changed = text[yaml.lines[inside.first()? - 1].clone()].to_owned();
    for (key, value) in members {
        changed += &format!("{own}{key}: {value}{}", newline(text));
    }
    let mut is_kept = false;
    for line in inside.iter().map(|it| yaml.line(*it)) {
        if says_something(line) && indent(line) == own && !line.trim_start().starts_with("- ") {
            is_kept = kept.keys().any(|key| is_key(line, key));
        }
        changed += if is_kept { line } else { "" };
    }
    let end = if text[place.clone()].ends_with('\n') { newline(text) } else { "" };
    Some(format!("{}{}{end}{}", &text[..place.start], changed.trim_end(), &text[place.end..]))
}

/// Returns the place of the entry at a path.
pub(crate) fn place(text: &str, path: &[&str]) -> Option<Range<usize>> {
    let [mapping, name] = path else { return None };
    YamlMapping::of(text, mapping)?.entry(name)
}

/// Returns texts without the entry at a path: first without a mapping that has nothing else in it, then with it.
pub(crate) fn removals(text: &str, path: &[&str]) -> Option<Vec<String>> {
    let [mapping, name] = path else { return None };
    let yaml = YamlMapping::of(text, mapping)?;
    let (header, place) = (yaml.header?, yaml.entry(name)?);
    let mut ways = Vec::new();
    let is_only = yaml.entries().count() == 1;
    let header_line = yaml.lines[header].clone();
    if is_only {
        ways.push(without(text, header_line.start..place.end));
        let colon = header_line.start + mapping.len() + 1;
        let mut emptied = without(text, place.clone());
        emptied.insert_str(colon, " {}");
        ways.push(emptied);
    } else {
        ways.push(without(text, place));
    }
    if !text.ends_with('\n') {
        let shortened =
            ways.iter().map(|way| way.strip_suffix(newline(text)).unwrap_or(way).to_owned());
        ways = shortened.collect();
    }
    Some(ways)
}

fn without(text: &str, place: Range<usize>) -> String {
    format!("{}{}", &text[..place.start], &text[place.end..])
}

/// A text and the mapping in it that has the entries.
struct YamlMapping<'a> {
    text: &'a str,
    lines: Vec<Range<usize>>,
    /// The line of the mapping's key.
    header: Option<usize>,
    /// Whether it is written as `{}`.
    is_flow: bool,
    /// Lines behind the header, up to the last that says something.
    inside: Range<usize>,
    /// Behind the last line of the mapping.
    end: usize,
}

impl<'a> YamlMapping<'a> {
    fn of(text: &'a str, mapping: &str) -> Option<Self> {
        let lines = line_ranges(text);
        let is_header = |range: &Range<usize>| {
            text[range.clone()].strip_prefix(mapping).is_some_and(|rest| rest.starts_with(':'))
        };
        let header = lines.iter().position(is_header);
        let Some(index) = header else {
            let end = text.len();
            return Some(Self { text, lines, header, is_flow: false, inside: 0..0, end });
        };
        let value = text[lines[index].clone()][mapping.len() + 1..].trim();
        let value = value.split(" #").next().unwrap_or_default().trim();
        let is_flow = value == "{}";
        if !is_flow && !value.is_empty() && !value.starts_with('#') {
            return None;
        }
        let mut inside = index + 1..index + 1;
        for (line, range) in lines.iter().enumerate().skip(index + 1) {
            let content = &text[range.clone()];
            if content.trim().is_empty() || content.trim_start().starts_with('#') {
                continue;
            }
            if indent(content).is_empty() {
                break;
            }
            inside.end = line + 1;
        }
        let end = lines[inside.end - 1].end;
        Some(Self { text, lines, header, is_flow, inside, end })
    }

    fn line(&self, index: usize) -> &'a str {
        &self.text[self.lines[index].clone()]
    }

    /// Returns the indentation of entries.
    fn indent(&self) -> &'a str {
        let first = self.inside.clone().map(|it| self.line(it)).find(|it| says_something(it));
        first.map_or(USUAL_INDENT, indent)
    }

    /// Returns the lines on which entries begin.
    fn entries(&self) -> impl Iterator<Item = usize> {
        let own = self.indent();
        self.inside.clone().filter(move |it| {
            says_something(self.line(*it)) && indent(self.line(*it)).len() == own.len()
        })
    }

    /// Returns the place of an entry.
    fn entry(&self, name: &str) -> Option<Range<usize>> {
        let start = self.entries().find(|it| is_key(self.line(*it), name))?;
        let end = self.entries().find(|it| *it > start).unwrap_or(self.inside.end);
        let last = (start..end).rev().find(|it| says_something(self.line(*it)))?;
        Some(self.lines[start].start..self.lines[last].end)
    }

    fn lines_of(&self, name: &str, entry: &Value) -> Option<Vec<String>> {
        let own = self.indent();
        let members = entry.as_object()?.iter();
        let members = members.map(|(key, value)| format!("{own}{USUAL_INDENT}{key}: {value}"));
        Some([format!("{own}{name}:")].into_iter().chain(members).collect())
    }
}

/// Returns whether a line begins with a key.
fn is_key(line: &str, key: &str) -> bool {
    let line = line.trim_start();
    ["", "\"", "'"].iter().any(|quote| line.starts_with(&format!("{quote}{key}{quote}:")))
}

fn says_something(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#')
}

fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(' ').len()]
}
