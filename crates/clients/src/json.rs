//! JSON as editors keep it, with comments and trailing commas, changed in one place.
//!
//! The text without them is read strictly, and places in it are places in the original. Whether a change reads as it
//! should is for the caller to check.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::blanked_json::{BlankedJson, comment_end, string_end, value_end};
use crate::format::{find, newline};

/// The indentation where a file does not show its own.
const USUAL_UNIT: &str = "  ";

/// Reads the document; a blank one is an empty object.
pub(crate) fn read(text: &str) -> Option<Value> {
    if is_blank(text) {
        return Some(Value::Object(Map::new()));
    }
    serde_json::from_str(&BlankedJson::of(text)?.plain).ok()
}

/// Returns a text with an entry at a path, new or instead of the one there is.
pub(crate) fn set(text: &str, path: &[&str], entry: &Value) -> Option<String> {
    if is_blank(text) {
        return set("{}\n", path, entry);
    }
    let json = JsonText::of(text)?;
    let mut object = json.root()?;
    for (depth, key) in path.iter().enumerate() {
        let Some(index) = object.position(key)? else {
            let value = path[depth + 1..].iter().rev().fold(entry.clone(), |value, key| {
                Value::Object(Map::from_iter([((*key).to_owned(), value)]))
            });
            return Some(json.add(&object, key, &value));
        };
        let member = &object.members[index];
        if depth + 1 == path.len() {
            let value = json.value_at(member.start, entry);
            return Some(splice(text, &[(member.value.clone(), value)]));
        }
        object = json.object(member.value.start)?;
    }
    None
}

/// Returns a text whose entry at a path has these members, and no longer those of other keys. What else is in it stays.
pub(crate) fn renew(
    text: &str,
    path: &[&str],
    members: &Map<String, Value>,
    other_keys: &[&str],
) -> Option<String> {
    let mut changed = text.to_owned();
    let below = |key| [path, &[key]].concat();
    for (key, value) in members {
        if find(&read(&changed)?, &below(key)) != Some(value) {
            changed = set(&changed, &below(key), value)?;
        }
    }
    for key in other_keys.iter().filter(|key| !members.contains_key(**key)) {
        if find(&read(&changed)?, &below(key)).is_some() {
            changed = removals(&changed, &below(key))?.pop()?;
        }
    }
    Some(changed)
}

/// Returns texts without the entry at a path: first those that also lose objects that have nothing else in them, from
/// the outermost, then the one that loses the entry alone.
pub(crate) fn removals(text: &str, path: &[&str]) -> Option<Vec<String>> {
    let json = JsonText::of(text)?;
    let mut ways = Vec::new();
    let mut around: Option<&JsonMemberSpan> = None;
    let steps = json.steps(path)?;
    for (object, index) in &steps {
        let member = &object.members[*index];
        let is_needed = object.members.len() > 1
            || around.is_some_and(|around| {
                json.has_comment(around.start..member.start)
                    || json.has_comment(member.value.end..around.value.end)
            });
        if is_needed {
            ways.clear();
        }
        ways.push(json.without_member(object, *index));
        around = Some(member);
    }
    Some(ways)
}

/// Returns the place of the entry at a path, from the beginning of its line if nothing else is there.
pub(crate) fn place(text: &str, path: &[&str]) -> Option<Range<usize>> {
    let json = JsonText::of(text)?;
    let (object, index) = json.steps(path)?.pop()?;
    let member = &object.members[index];
    let is_own = json.is_own_line(member.start);
    let start = if is_own { json.line_start(member.start) } else { member.start };
    Some(start..member.value.end)
}

fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim().is_empty()
}

/// A text and its form without comments.
struct JsonText<'a> {
    text: &'a str,
    blanked: BlankedJson,
}

struct JsonObjectSpan {
    open: usize,
    close: usize,
    members: Vec<JsonMemberSpan>,
}

struct JsonMemberSpan {
    key: String,
    start: usize,
    value: Range<usize>,
}

impl JsonObjectSpan {
    /// Returns the index of a key; `None` if it is there twice, which clients read differently.
    fn position(&self, key: &str) -> Option<Option<usize>> {
        let mut found = (0..self.members.len()).filter(|index| self.members[*index].key == key);
        let first = found.next();
        found.next().is_none().then_some(first)
    }
}

impl<'a> JsonText<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let blanked = BlankedJson::of(text)?;
        serde_json::from_str::<Value>(&blanked.plain).ok()?;
        Some(Self { text, blanked })
    }

    fn root(&self) -> Option<JsonObjectSpan> {
        self.object(self.next(0))
    }

    /// Returns the first place from here on that is no space.
    fn next(&self, at: usize) -> usize {
        let rest = &self.blanked.plain[at..];
        at + (rest.len() - rest.trim_start().len())
    }

    /// Returns the objects on a path, each with the index of its member on it.
    fn steps(&self, path: &[&str]) -> Option<Vec<(JsonObjectSpan, usize)>> {
        let mut steps: Vec<(JsonObjectSpan, usize)> = Vec::new();
        for key in path {
            let object = match steps.last() {
                Some((above, index)) => self.object(above.members[*index].value.start)?,
                None => self.root()?,
            };
            let index = object.position(key)??;
            steps.push((object, index));
        }
        Some(steps)
    }

    fn has_comment(&self, range: Range<usize>) -> bool {
        self.text[range.clone()] != self.blanked.uncommented[range]
    }

    fn object(&self, open: usize) -> Option<JsonObjectSpan> {
        let bytes = self.blanked.plain.as_bytes();
        if bytes.get(open)? != &b'{' {
            return None;
        }
        let mut members = Vec::new();
        let mut at = self.next(open + 1);
        while bytes.get(at)? != &b'}' {
            let key_end = string_end(bytes, at)?;
            let key = serde_json::from_str(&self.blanked.plain[at..key_end]).ok()?;
            let value = self.next(self.next(key_end) + 1);
            let end = value_end(bytes, value)?;
            members.push(JsonMemberSpan { key, start: at, value: value..end });
            at = self.next(end);
            if bytes.get(at)? == &b',' {
                at = self.next(at + 1);
            }
        }
        Some(JsonObjectSpan { open, close: at, members })
    }

    /// Returns the place of the comma behind a value, the trailing one too.
    fn comma(&self, value_end: usize, close: usize) -> Option<usize> {
        Some(value_end + self.blanked.uncommented[value_end..close].find(',')?)
    }

    fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |it| it + 1)
    }

    /// Returns whether only spaces are before this place on its line, and it is not the first.
    fn is_own_line(&self, at: usize) -> bool {
        let start = self.line_start(at);
        start > 0 && self.text[start..at].trim().is_empty()
    }

    fn indent(&self, at: usize) -> &'a str {
        let line = &self.text[self.line_start(at)..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// Returns the indentation of one level.
    fn unit(&self) -> &'a str {
        let first = self.root().and_then(|root| root.members.first().map(|it| it.start));
        match first.filter(|it| self.is_own_line(*it)).map(|it| self.indent(it)) {
            Some(indent) if !indent.is_empty() => indent,
            _ => USUAL_UNIT,
        }
    }

    /// Returns a value as it is written behind a key that stands here.
    fn value_at(&self, key: usize, value: &Value) -> String {
        if self.is_own_line(key) {
            self.laid_out(value, self.indent(key))
        } else {
            value.to_string()
        }
    }

    fn laid_out(&self, value: &Value, indent: &str) -> String {
        let nl = newline(self.text);
        match value {
            Value::Object(members) if !members.is_empty() => {
                let inner = format!("{indent}{}", self.unit());
                let members = members.iter().map(|(key, value)| {
                    format!(
                        "{inner}{}: {}",
                        Value::from(key.as_str()),
                        self.laid_out(value, &inner)
                    )
                });
                let members = members.collect::<Vec<_>>().join(&format!(",{nl}"));
                format!("{{{nl}{members}{nl}{indent}}}")
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(Value::to_string).collect();
                format!("[{}]", items.join(", "))
            }
            other => other.to_string(),
        }
    }

    /// Returns the text with one more member, behind the others.
    fn add(&self, object: &JsonObjectSpan, key: &str, value: &Value) -> String {
        match (object.members.first(), object.members.last()) {
            (Some(first), Some(last)) if self.is_own_line(first.start) => self.add_below(
                object,
                (first, last),
                &self.member(key, value, self.indent(first.start)),
            ),
            (_, Some(last)) => self.add_beside(object, last, key, value),
            _ => self.add_first(object, key, value),
        }
    }

    fn member(&self, key: &str, value: &Value, indent: &str) -> String {
        format!("{}: {}", Value::from(key), self.laid_out(value, indent))
    }

    fn add_below(
        &self,
        object: &JsonObjectSpan,
        (first, last): (&JsonMemberSpan, &JsonMemberSpan),
        member: &str,
    ) -> String {
        let (nl, indent, end) = (newline(self.text), self.indent(first.start), last.value.end);
        match self.comma(end, object.close) {
            Some(comma) => {
                let at = self.behind_comments(comma + 1);
                splice(self.text, &[(at..at, format!("{nl}{indent}{member},"))])
            }
            None => {
                let at = self.behind_comments(end);
                let added = format!("{nl}{indent}{member}");
                splice(self.text, &[(end..end, ",".to_owned()), (at..at, added)])
            }
        }
    }

    /// Returns the place behind the comments that begin on the same line, and end on it.
    fn behind_comments(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        let start = at + (rest.len() - rest.trim_start_matches([' ', '\t']).len());
        let bytes = self.text.as_bytes();
        let is_comment = bytes.get(start) == Some(&b'/');
        match is_comment.then(|| comment_end(bytes, start)).flatten() {
            Some(end) if !self.text[start..end].contains('\n') => {
                self.behind_comments(start + self.text[start..end].trim_end().len())
            }
            _ => at,
        }
    }

    fn add_beside(
        &self,
        object: &JsonObjectSpan,
        last: &JsonMemberSpan,
        key: &str,
        value: &Value,
    ) -> String {
        let is_spaced = self.text[object.open..object.close].contains("\": ");
        let space = if is_spaced { " " } else { "" };
        let member = format!("{}:{space}{value}", Value::from(key));
        match self.comma(last.value.end, object.close) {
            Some(comma) => {
                splice(self.text, &[(comma + 1..comma + 1, format!("{space}{member},"))])
            }
            None => {
                let end = last.value.end;
                splice(self.text, &[(end..end, format!(",{space}{member}"))])
            }
        }
    }

    fn add_first(&self, object: &JsonObjectSpan, key: &str, value: &Value) -> String {
        let whole = self.text.trim_start_matches('\u{feff}').trim();
        let inside = &self.text[object.open + 1..object.close];
        if !whole.contains('\n') && whole != "{}" {
            let at = object.close;
            return splice(self.text, &[(at..at, format!("{}:{value}", Value::from(key)))]);
        }
        let (nl, outer) = (newline(self.text), self.indent(object.open));
        let inner = format!("{outer}{}", self.unit());
        let member = format!("{nl}{inner}{}", self.member(key, value, &inner));
        let kept = object.open + 1 + inside.trim_end().len();
        splice(self.text, &[(kept..object.close, format!("{member}{nl}{outer}"))])
    }

    /// Returns the text without a member.
    fn without_member(&self, object: &JsonObjectSpan, index: usize) -> String {
        let member = &object.members[index];
        let comma = self.comma(member.value.end, object.close);
        let end = comma.map_or(member.value.end, |comma| comma + 1);
        let before = &self.text[..member.start];
        let start = if self.is_own_line(member.start) {
            before.trim_end().len()
        } else {
            before.trim_end_matches([' ', '\t']).len()
        };
        let is_last = index + 1 == object.members.len();
        if object.members.len() == 1 {
            // A comment before it may go on to the end of its line, and what follows must not come there.
            let is_all =
                before[..start].ends_with('{') && self.text[end..object.close].trim().is_empty();
            let end = if is_all { object.close } else { end };
            return splice(self.text, &[(start..end, String::new())]);
        }
        let previous = index.checked_sub(1).map(|it| object.members[it].value.end);
        match previous.and_then(|end| self.comma(end, object.close)) {
            Some(previous) if is_last && comma.is_none() => {
                let gone = [(previous..previous + 1, String::new()), (start..end, String::new())];
                splice(self.text, &gone)
            }
            _ => splice(self.text, &[(start..end, String::new())]),
        }
    }
}

/// Returns the text with parts of it replaced, which are in order.
fn splice(text: &str, parts: &[(Range<usize>, String)]) -> String {
    let (mut changed, mut at) = (String::new(), 0);
    for (range, replacement) in parts {
        changed.push_str(&text[at..range.start]);
        changed.push_str(replacement);
        at = range.end;
    }
    changed + &text[at..]
}
