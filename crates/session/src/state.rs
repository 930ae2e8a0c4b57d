//! The state of a session: names and values, and what changes them.
//!
//! A [`Delta`] can only be made of names and values within their bounds, also when it is read, so
//! applying one never fails. What a name means is the business of those who write it.

use std::collections::{BTreeMap, btree_map};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::error::shown;
use crate::{Event, SessionError, prepare};

/// Longest name in bytes: a prefix, an agent and a skill.
const MAX_NAME_BYTES: usize = 1024;
/// Longest value in bytes: a list of the docs of a skill.
const MAX_VALUE_BYTES: usize = 256 * 1024;
/// Most names that one delta changes: all skills of a session at once.
const MAX_CHANGES: usize = 10_000;

/// What one event changes: names with their new value, or none to remove it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<String, Option<String>>")]
pub struct Delta(BTreeMap<String, Option<String>>);

/// The names that are set, with their values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct State(BTreeMap<String, String>);

/// Why something cannot be part of a delta.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeltaError {
    /// A name breaks a rule.
    #[error("`{name}` cannot be a name in the state: {rule}")]
    Name {
        /// Its beginning, made safe to show.
        name: String,
        /// The rule.
        rule: &'static str,
    },
    /// A value is too long.
    #[error("the value of `{name}` has {size} bytes, and at most {limit} are taken")]
    Value {
        /// Its name, made safe to show.
        name: String,
        /// Its length.
        size: usize,
        /// How long it may be.
        limit: usize,
    },
    /// The delta changes too many names.
    #[error("more than {limit} names change at once: use several events")]
    TooMany {
        /// How many may.
        limit: usize,
    },
}

impl Delta {
    /// A delta that changes nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a name, whatever this delta said about it before.
    ///
    /// # Errors
    ///
    /// When the name or the value breaks a rule, or there are too many.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), DeltaError> {
        self.change(name.to_owned(), Some(value.to_owned()))
    }

    /// Removes a name, whatever this delta said about it before.
    ///
    /// # Errors
    ///
    /// When the name breaks a rule, or there are too many.
    pub fn remove(&mut self, name: &str) -> Result<(), DeltaError> {
        self.change(name.to_owned(), None)
    }

    /// Adds what a later delta changes, which wins where both change the same.
    ///
    /// # Errors
    ///
    /// When both together change too many names.
    pub fn merge(&mut self, later: Self) -> Result<(), DeltaError> {
        later.0.into_iter().try_for_each(|(name, value)| self.change(name, value))
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The names it changes, in their order, with the new value of each.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.0.iter().map(|(name, value)| (&**name, value.as_deref()))
    }

    fn change(&mut self, name: String, value: Option<String>) -> Result<(), DeltaError> {
        judge(&name, value.as_deref())?;
        if self.0.len() >= MAX_CHANGES && !self.0.contains_key(&name) {
            return Err(DeltaError::TooMany { limit: MAX_CHANGES });
        }
        self.0.insert(name, value);
        Ok(())
    }
}

impl TryFrom<BTreeMap<String, Option<String>>> for Delta {
    type Error = DeltaError;

    fn try_from(changes: BTreeMap<String, Option<String>>) -> Result<Self, DeltaError> {
        if changes.len() > MAX_CHANGES {
            return Err(DeltaError::TooMany { limit: MAX_CHANGES });
        }
        changes.iter().try_for_each(|(name, value)| judge(name, value.as_deref()))?;
        Ok(Self(changes))
    }
}

impl State {
    /// Makes the changes of a delta. A name that is removed leaves nothing behind.
    pub fn apply(&mut self, delta: &Delta) {
        for (name, value) in delta.iter() {
            match value {
                Some(value) => drop(self.0.insert(name.to_owned(), value.to_owned())),
                None => drop(self.0.remove(name)),
            }
        }
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All names, in their order, with their values.
    pub fn iter(&self) -> btree_map::Iter<'_, String, String> {
        self.0.iter()
    }

    /// Names that begin like this, without that beginning, in their order, with their values.
    pub fn below<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let from =
            self.0.range::<str, _>((std::ops::Bound::Included(prefix), std::ops::Bound::Unbounded));
        from.map_while(move |(name, value)| Some((name.strip_prefix(prefix)?, &**value)))
    }

    /// How many names are set.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no name is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes of all names and values.
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|(name, value)| name.len() + value.len()).sum()
    }

    /// Judges whether a store may keep it.
    ///
    /// # Errors
    ///
    /// When it is too large.
    pub fn judge(&self) -> Result<(), SessionError> {
        prepare::state(self.bytes())
    }

    /// Puts in what a store has kept.
    pub(crate) fn insert(&mut self, name: String, value: String) {
        self.0.insert(name, value);
    }
}

impl<'a> IntoIterator for &'a State {
    type Item = (&'a String, &'a String);
    type IntoIter = btree_map::Iter<'a, String, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The state after these events, which are those of a session from its first.
pub fn replay<'a>(events: impl IntoIterator<Item = &'a Event>) -> State {
    let mut state = State::default();
    events.into_iter().for_each(|event| state.apply(&event.state));
    state
}

fn judge(name: &str, value: Option<&str>) -> Result<(), DeltaError> {
    let rule = match name.len() {
        0 => Some("it is empty"),
        1..=MAX_NAME_BYTES => None,
        _ => Some("it is longer than 1024 bytes"),
    };
    if let Some(rule) = rule {
        return Err(DeltaError::Name { name: shown(name), rule });
    }
    match value.map_or(0, str::len) {
        0..=MAX_VALUE_BYTES => Ok(()),
        size => Err(DeltaError::Value { name: shown(name), size, limit: MAX_VALUE_BYTES }),
    }
}
