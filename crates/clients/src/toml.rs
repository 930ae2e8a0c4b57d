//! TOML, changed by whole tables: an entry is a table under a header of its own.
//!
//! Headers are found by their lines. A line that only looks like one, inside a text of several lines, gives
//! a wrong change, which the caller notices and refuses.

use std::ops::Range;

use metier_config::toml_key;
use serde_json::{Map, Value};
use toml::Table;

use crate::format::{line_ranges, newline};

/// Reads the document.
pub(crate) fn read(text: &str) -> Option<Value> {
    serde_json::to_value(text.parse::<Table>().ok()?).ok()
}

/// Returns a text with an entry at a path, new or instead of the one there is.
pub(crate) fn set(text: &str, path: &[&str], entry: &Value) -> Option<String> {
    write(text, path, entry.as_object()?, &places(text, path))
}

/// Returns a text whose entry at a path has these members, and those that are kept. Tables of what is kept stay.
pub(crate) fn renew(
    text: &str,
    path: &[&str],
    members: &Map<String, Value>,
    kept: &Map<String, Value>,
) -> Option<String> {
    let mut members = members.clone();
    let mut tables = tables(text, path);
    let is_below = |keys: &[String], key: &String| keys.get(path.len()) == Some(key);
    for (key, value) in kept {
        let count = tables.len();
        tables.retain(|(_, keys)| !is_below(keys, key));
        if tables.len() == count {
            members.insert(key.clone(), value.clone());
        }
    }
    let places: Vec<_> = tables.into_iter().map(|(place, _)| place).collect();
    write(text, path, &members, &places)
}

fn write(
    text: &str,
    path: &[&str],
    members: &Map<String, Value>,
    places: &[Range<usize>],
) -> Option<String> {
    let nl = newline(text);
    let mut lines =
        vec![format!("[{}]", path.iter().map(|it| toml_key(it)).collect::<Vec<_>>().join("."))];
    for (name, value) in members {
        let value = toml::Value::try_from(value).ok()?;
        lines.push(format!("{} = {value}", toml_key(name)));
    }
    let block = lines.join(nl);
    let Some(first) = places.first() else {
        let has_end = text.is_empty() || text.ends_with('\n');
        let gap = if text.is_empty() { "" } else { nl };
        let (middle, end) = if has_end { ("", nl) } else { (nl, "") };
        return Some(format!("{text}{middle}{gap}{block}{end}"));
    };
    let mut changed = without(text, &places[1..]);
    let end = if text[first.clone()].ends_with('\n') { nl } else { "" };
    changed.replace_range(first.clone(), &format!("{block}{end}"));
    Some(changed)
}

/// Returns texts without the entry at a path. They differ in the empty lines that go with it.
pub(crate) fn removals(text: &str, path: &[&str]) -> Option<Vec<String>> {
    let places = places(text, path);
    let first = places.first()?;
    let rest = without(text, &places);
    let (before, after) = rest.split_at(first.start);
    let nl = newline(text);
    let tighter = before.strip_suffix(nl).filter(|it| it.ends_with('\n'));
    let mut ways = Vec::new();
    if after.is_empty() && !text.ends_with('\n') {
        ways.extend(tighter.and_then(|it| it.strip_suffix(nl)).map(str::to_owned));
    }
    let loose = rest.clone();
    let tight = tighter.map(|it| format!("{it}{after}"));
    if after.trim_start_matches([' ', '\t', '\r']).starts_with('\n') || after.is_empty() {
        ways.push(loose);
        ways.extend(tight);
    } else {
        ways.extend(tight);
        ways.push(loose);
    }
    Some(ways)
}

/// Returns the places of the tables at a path and below it.
pub(crate) fn places(text: &str, path: &[&str]) -> Vec<Range<usize>> {
    tables(text, path).into_iter().map(|(place, _)| place).collect()
}

/// Returns the same places, with the keys of each. Comments and empty lines behind them belong to what follows.
fn tables(text: &str, path: &[&str]) -> Vec<(Range<usize>, Vec<String>)> {
    let lines = line_ranges(text);
    let headers: Vec<(usize, Vec<String>)> = lines
        .iter()
        .enumerate()
        .filter_map(|(index, range)| Some((index, header(&text[range.clone()])?)))
        .collect();
    let mut found = Vec::new();
    for (position, (index, keys)) in headers.iter().enumerate() {
        if keys.len() < path.len() || keys.iter().zip(path).any(|(key, wanted)| key != wanted) {
            continue;
        }
        let mut end = headers.get(position + 1).map_or(lines.len(), |(next, _)| *next);
        let is_aside = |range: &Range<usize>| {
            let line = text[range.clone()].trim();
            line.is_empty() || line.starts_with('#')
        };
        while end > index + 1 && is_aside(&lines[end - 1]) {
            end -= 1;
        }
        let mut start = *index;
        // Empty lines between two of them are between nothing once they are gone.
        while !found.is_empty() && text[lines[start - 1].clone()].trim().is_empty() {
            start -= 1;
        }
        found.push((lines[start].start..lines[end - 1].end, keys.clone()));
    }
    found
}

/// Returns the keys of a line that is a header.
fn header(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    if !line.starts_with('[') {
        return None;
    }
    let mut keys = Vec::new();
    let mut table = line.parse::<Table>().ok()?;
    while let Some((key, inner)) = table.into_iter().next() {
        keys.push(key);
        table = match inner {
            toml::Value::Table(inner) => inner,
            _ => Table::new(),
        };
    }
    Some(keys)
}

fn without(text: &str, places: &[Range<usize>]) -> String {
    let mut rest = text.to_owned();
    for place in places.iter().rev() {
        rest.replace_range(place.clone(), "");
    }
    rest
}
