//! The formats of configuration files, each changed as text and believed only when it reads as it should.
//!
//! A change is taken when the changed text reads as the old one with the entry, or without it, and with
//! nothing else changed. So the editors may be simple: what they do not understand is refused here.

use std::ops::Range;

use serde_json::{Map, Value, json};

use crate::{json, toml, yaml};

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DocumentFormat {
    /// JSON; comments and trailing commas are kept where they are.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

impl DocumentFormat {
    /// Reads the document; `None` when it cannot be understood.
    pub(crate) fn read(self, text: &str) -> Option<Value> {
        let document = match self {
            Self::Json => json::read(text),
            Self::Toml => toml::read(text),
            Self::Yaml => yaml::read(text),
        };
        document.filter(Value::is_object)
    }

    /// Returns whether the entry at a path says all that another says. What people add to it is theirs.
    pub(crate) fn has(self, document: &Value, path: &[&str], entry: &Value) -> bool {
        let wanted = self.as_read(entry);
        let there = find(document, path).and_then(Value::as_object);
        there.zip(wanted.as_object()).is_some_and(|(there, wanted)| {
            wanted.iter().all(|(key, value)| there.get(key) == Some(value))
        })
    }

    /// Returns a text with an entry at a path; `None` if it cannot be understood, or has no place for it.
    pub(crate) fn set(self, text: &str, path: &[&str], entry: &Value) -> Option<String> {
        let mut wanted = self.read(text)?;
        put(&mut wanted, path, self.as_read(entry))?;
        let changed = match self {
            Self::Json => json::set(text, path, entry),
            Self::Toml => toml::set(text, path, entry),
            Self::Yaml => yaml::set(text, path, entry),
        }?;
        (self.read(&changed)? == wanted).then_some(changed)
    }

    /// The same as [`set`](Self::set), but an entry that is there keeps its members of other keys than the new one, except
    /// `other_keys`.
    pub(crate) fn renew(
        self,
        text: &str,
        path: &[&str],
        entry: &Value,
        other_keys: &[&str],
    ) -> Option<String> {
        let mut wanted = self.read(text)?;
        let Some(there) = find(&wanted, path).and_then(Value::as_object).cloned() else {
            return self.set(text, path, entry);
        };
        let mut members = entry.as_object()?.clone();
        for (key, value) in &mut members {
            if let (Some(value), Some(Value::Object(there))) =
                (value.as_object_mut(), there.get(key))
            {
                let own = there.iter().filter(|(key, _)| !value.contains_key(*key));
                let own: Vec<_> = own.map(|(key, own)| (key.clone(), own.clone())).collect();
                value.extend(own);
            }
        }
        let is_kept = |key: &str| !members.contains_key(key) && !other_keys.contains(&key);
        let kept: Map<String, Value> = there.into_iter().filter(|(key, _)| is_kept(key)).collect();
        let mut all = self.as_read(&Value::Object(members.clone()));
        all.as_object_mut()?.extend(kept.clone());
        put(&mut wanted, path, all)?;
        let changed = match self {
            Self::Json => json::renew(text, path, &members, other_keys),
            Self::Toml => toml::renew(text, path, &members, &kept),
            Self::Yaml => yaml::renew(text, path, &members, &kept),
        }?;
        (self.read(&changed)? == wanted).then_some(changed)
    }

    /// Returns the places of the entry at a path: more than one if it is written in parts.
    pub(crate) fn places(self, text: &str, path: &[&str]) -> Vec<Range<usize>> {
        match self {
            Self::Json => json::place(text, path).into_iter().collect(),
            Self::Toml => toml::places(text, path),
            Self::Yaml => yaml::place(text, path).into_iter().collect(),
        }
    }

    /// Returns a text without the entry at a path: the one that would become this text by adding an entry, if there
    /// is one. An object that was only made for the entry goes with it.
    pub(crate) fn remove(self, text: &str, path: &[&str]) -> Option<String> {
        let document = self.read(text)?;
        let allowed = without(&document, path)?;
        let ways = match self {
            Self::Json => json::removals(text, path),
            Self::Toml => toml::removals(text, path),
            Self::Yaml => yaml::removals(text, path),
        }?;
        let is_allowed =
            |way: &&String| self.read(way).is_some_and(|document| allowed.contains(&document));
        let ways: Vec<&String> = ways.iter().filter(is_allowed).collect();
        // Any entry would do: what is compared is everything around it.
        let entry = json!({ "command": "" });
        let with_entry = self.set(text, path, &entry);
        let is_inverse = |way: &&&String| self.set(way, path, &entry) == with_entry;
        let exact = with_entry.as_ref().and_then(|_| ways.iter().find(is_inverse));
        exact.or(ways.last()).map(|way| (*way).clone())
    }

    fn as_read(self, entry: &Value) -> Value {
        match self {
            Self::Yaml => yaml::as_read(entry),
            Self::Json | Self::Toml => entry.clone(),
        }
    }
}

/// Returns the value at a path.
pub(crate) fn find<'a>(document: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(document, |value, key| value.get(key))
}

fn put(document: &mut Value, path: &[&str], entry: Value) -> Option<()> {
    let (last, above) = path.split_last()?;
    let mut value = document;
    for key in above {
        let inner = value.as_object_mut()?.entry(*key).or_insert(Value::Null);
        if inner.is_null() {
            *inner = Value::Object(Map::new());
        }
        value = inner;
    }
    value.as_object_mut()?.insert((*last).to_owned(), entry);
    Some(())
}

/// Returns the document without an entry, then those that also lose the objects around it that would be empty.
fn without(document: &Value, path: &[&str]) -> Option<Vec<Value>> {
    let mut all = Vec::new();
    let mut rest = document.clone();
    for depth in (0..path.len()).rev() {
        let object = path[..depth].iter().try_fold(&mut rest, |value, key| value.get_mut(key));
        let object = object?.as_object_mut()?;
        object.shift_remove(path[depth])?;
        let is_empty = object.is_empty();
        all.push(rest.clone());
        if !is_empty {
            break;
        }
    }
    Some(all)
}

/// Returns the line ending of a text.
pub(crate) fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Returns the places of the lines of a text, with their endings.
pub(crate) fn line_ranges(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let ranges = text.split_inclusive('\n').map(|line| {
        let start = at;
        at += line.len();
        start..at
    });
    ranges.collect()
}
