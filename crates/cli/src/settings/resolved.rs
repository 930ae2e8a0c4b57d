//! What was decided: values, and where each came from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use metier_skill::discover::Source;
use metier_skill::library::{Choices, EntryChoice, PatternError, Patterns};
use metier_skill::problem::Problem;

use crate::settings::Key;

/// A value of a setting.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// `true` or `false`.
    Switch(bool),
    /// A number.
    Count(usize),
    /// Text.
    Text(String),
    /// Text that is never shown.
    Secret(String),
    /// Texts.
    List(Vec<String>),
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(value) => write!(formatter, "{value}"),
            Self::Count(value) => write!(formatter, "{value}"),
            Self::Text(value) => write!(formatter, "{value:?}"),
            Self::Secret(_) => write!(formatter, "\"****\""),
            Self::List(values) => write!(formatter, "{values:?}"),
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nobody set it.
    Default,
    /// A file, and the line in it.
    File {
        /// Which.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// An environment variable.
    Variable(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => write!(formatter, "default"),
            Self::File { path, line } => write!(formatter, "{}:{line}", path.display()),
            Self::Variable(name) => write!(formatter, "${name}"),
        }
    }
}

/// The settings in force.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// Values by dotted name, with every layer that had a say, the deciding one last.
    pub values: BTreeMap<String, (Value, Vec<Origin>)>,
    /// Lists that a project adds to ours, by dotted name.
    pub also: BTreeMap<String, Vec<(Vec<String>, Origin)>>,
    /// What was wrong in files that may be wrong without stopping us.
    pub problems: Vec<Problem>,
}

impl Settings {
    /// A list.
    pub(crate) fn list(&self, name: &str) -> &[String] {
        match self.values.get(name) {
            Some((Value::List(values), _)) => values,
            _ => &[],
        }
    }

    /// A list of what is allowed: ours, or the usual one, as far as every project has it too.
    pub(crate) fn allowed(&self, key: &Key) -> Vec<String> {
        let mut allowed = match self.values.get(key.name).map(|(value, _)| value) {
            Some(Value::List(values)) => values.clone(),
            _ => match key.default_value() {
                Value::List(values) => values,
                _ => Vec::new(),
            },
        };
        for (list, _) in self.also.get(key.name).into_iter().flatten() {
            allowed.retain(|it| list.contains(it));
        }
        allowed
    }

    /// A switch; one that nobody set is on.
    pub(crate) fn switch(&self, name: &str) -> bool {
        !matches!(self.values.get(name), Some((Value::Switch(false), _)))
    }

    /// A number.
    pub(crate) fn count(&self, name: &str) -> Option<usize> {
        match self.values.get(name) {
            Some((Value::Count(value), _)) => Some(*value),
            _ => None,
        }
    }

    /// A text that is not empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.values.get(name) {
            Some((Value::Text(value), _)) => Some(value.as_str()).filter(|it| !it.is_empty()),
            _ => None,
        }
    }

    /// A secret that is not empty.
    pub(crate) fn secret(&self, name: &str) -> Option<&str> {
        match self.values.get(name) {
            Some((Value::Secret(value), _)) => Some(value.as_str()).filter(|it| !it.is_empty()),
            _ => None,
        }
    }

    /// Returns whether a value comes from a file, and not from a variable.
    pub(crate) fn is_from_file(&self, name: &str) -> bool {
        let origins = self.values.get(name).map(|(_, origins)| origins);
        origins.into_iter().flatten().any(|origin| matches!(origin, Origin::File { .. }))
    }

    /// The variables that a skill is given under a key.
    pub(crate) fn variables_of(&self, key: &str) -> Vec<(String, String)> {
        let prefix = format!("skills.entries.{key}.env.");
        let names = self.values.keys().filter(|name| name.starts_with(&prefix));
        names
            .filter_map(|name| {
                Some((name[prefix.len()..].to_owned(), self.secret(name)?.to_owned()))
            })
            .collect()
    }

    /// Whether a setting is true in the sense of `requires.config`: set, and not empty, zero or
    /// false.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        match self.values.get(name).map(|(value, _)| value) {
            None => self.values.keys().any(|key| key.starts_with(&format!("{name}."))),
            Some(Value::Switch(value)) => *value,
            Some(Value::Count(value)) => *value != 0,
            Some(Value::Text(value) | Value::Secret(value)) => !value.trim().is_empty(),
            Some(Value::List(values)) => !values.is_empty(),
        }
    }

    /// The filters over skills for an agent.
    ///
    /// # Errors
    ///
    /// When a name is not a glob: a filter that cannot be read must not open.
    pub(crate) fn choices(&self, agent: &str) -> Result<Choices, PatternError> {
        let mut allowed = Vec::new();
        let (own, shared) = (format!("agents.{agent}.skills"), "agents.defaults.skills");
        let deciding = if self.values.contains_key(&own) { &own } else { shared };
        for name in ["skills.allowed", &own, shared] {
            // An agent with an empty list has no skills; a machine with one has all.
            let counts = |list: &[String]| name != "skills.allowed" || !list.is_empty();
            if (name == deciding || name == "skills.allowed")
                && self.values.contains_key(name)
                && counts(self.list(name))
            {
                allowed.push((format!("`{name}`"), Patterns::new(self.list(name))?));
            }
            let others = self.also.get(name).into_iter().flatten();
            for (list, origin) in others.filter(|(list, _)| counts(list)) {
                allowed.push((format!("`{name}` of {origin}"), Patterns::new(list)?));
            }
        }
        Ok(Choices {
            enabled: self.switch("skills.enabled"),
            allowed,
            denied: Patterns::new(self.list("skills.denied"))?,
            entries: self.entries(),
            are_claims_counted: true,
            reserved_names: BTreeSet::new(),
        })
    }

    fn entries(&self) -> BTreeMap<String, EntryChoice> {
        let mut entries: BTreeMap<String, EntryChoice> = BTreeMap::new();
        for (name, (value, _)) in &self.values {
            let Some((key, field)) =
                name.strip_prefix("skills.entries.").and_then(|rest| split_entry(rest))
            else {
                continue;
            };
            let entry = entries.entry(key.to_owned()).or_default();
            match (field, value) {
                ("enabled", Value::Switch(enabled)) => entry.enabled = Some(*enabled),
                ("source", Value::Text(word)) => entry.source = foreign_source(word),
                ("api_key", Value::Secret(secret)) => entry.has_api_key = !secret.is_empty(),
                (variable, Value::Secret(secret)) if !secret.is_empty() => {
                    let names: &mut BTreeSet<String> = &mut entry.env;
                    names.extend(variable.strip_prefix("env.").map(str::to_owned));
                }
                _ => {}
            }
        }
        entries
    }
}

/// `key.field` or `key.env.NAME`.
fn split_entry(rest: &str) -> Option<(&str, &str)> {
    let (key, field) = rest.split_once('.')?;
    Some((key, field))
}

/// The source that an entry of `skills.entries` names.
fn foreign_source(word: &str) -> Option<Source> {
    [Source::Project, Source::Plugin, Source::Remote].into_iter().find(|it| it.label() == word)
}
