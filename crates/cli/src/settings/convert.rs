//! From what somebody wrote to the value of a setting, or to what was probably meant.

use metier_skill::library::Patterns;
use metier_skill::search::edit_distance;
use toml::de::DeValue;

use crate::settings::{KEYS, Key, Kind, Value};

/// How many letters of a name may be wrong for it to be guessed.
const MAX_WRONG_IN_NAME: usize = 4;
/// How many letters of a word may be.
const MAX_WRONG_IN_WORD: usize = 2;

impl Key {
    /// Reads a value of a file.
    pub(crate) fn read(&self, value: &DeValue<'_>) -> Option<Value> {
        match (self.kind, value) {
            (Kind::Switch, DeValue::Boolean(value)) => Some(Value::Switch(*value)),
            (Kind::Count, DeValue::Integer(value)) => {
                value.as_str().replace('_', "").parse().ok().map(Value::Count)
            }
            (Kind::Text, value) => text(value).map(Value::Text),
            (Kind::Secret, value) => text(value).map(Value::Secret),
            (Kind::List, value) => texts(value),
            (Kind::Globs, value) => texts(value).filter(is_readable),
            (Kind::Words, DeValue::String(word)) => Some(Value::List(vec![word.to_string()])),
            (Kind::Words, value) => texts(value),
            (Kind::Choice(_), value) => text(value).and_then(|word| self.choose(&word)),
            _ => None,
        }
    }

    /// Reads the text of an environment variable.
    pub(crate) fn read_text(&self, text: &str) -> Option<Value> {
        let list = || {
            let items = text.split(',').map(str::trim).filter(|it| !it.is_empty());
            Value::List(items.map(Into::into).collect())
        };
        match self.kind {
            Kind::Switch => match text.trim() {
                "true" | "1" => Some(Value::Switch(true)),
                "false" | "0" => Some(Value::Switch(false)),
                _ => None,
            },
            Kind::Count => text.trim().parse().ok().map(Value::Count),
            Kind::Text => Some(Value::Text(text.to_owned())),
            Kind::Secret => Some(Value::Secret(text.to_owned())),
            Kind::List | Kind::Words => Some(list()),
            Kind::Globs => Some(list()).filter(is_readable),
            Kind::Choice(_) => self.choose(text.trim()),
        }
    }

    /// What a value must be, for people.
    pub(crate) fn wanted(&self) -> &'static str {
        match self.kind {
            Kind::Switch => "`true` or `false`",
            Kind::Count => "a whole number",
            Kind::Text | Kind::Secret => "a text",
            Kind::List => "a list of texts",
            Kind::Words => "a word or a list of texts",
            Kind::Globs => "a list of names or globs of names",
            Kind::Choice(choice) => choice.said,
        }
    }

    /// The word that was probably meant by one that is none.
    pub(crate) fn nearest_word(&self, word: &str) -> Option<&'static str> {
        let word = word.trim().to_lowercase();
        let words = self.words().into_iter().filter(|it| !it.is_empty());
        let near = words.map(|it| (edit_distance(&word, it), it)).min();
        near.filter(|(distance, _)| *distance <= MAX_WRONG_IN_WORD).map(|(_, word)| word)
    }

    /// The first glob that cannot be read in a value that is a list of texts.
    pub(crate) fn unreadable_glob(&self, value: &DeValue<'_>) -> Option<String> {
        match texts(value) {
            Some(Value::List(globs)) if self.kind == Kind::Globs => {
                globs.into_iter().find(|glob| Patterns::new(std::slice::from_ref(glob)).is_err())
            }
            _ => None,
        }
    }

    fn choose(&self, word: &str) -> Option<Value> {
        self.words().contains(&word).then(|| Value::Text(word.to_owned()))
    }
}

/// The setting that was probably meant by a name that is none, with the names that the person chose.
pub(crate) fn nearest_name(name: &str) -> Option<String> {
    let given: Vec<&str> = name.split('.').collect();
    let near = KEYS.iter().map(|key| (distance(key.name, &given), key.name)).min();
    let near = near.filter(|(distance, _)| *distance <= MAX_WRONG_IN_NAME);
    // A name that only looks like one, because no agent is called so, is no better.
    if let Some(near) = near.map(|(_, key)| filled(key, &given)).filter(|near| near != name) {
        return Some(near);
    }
    // The right word in the wrong place.
    let last = given.last()?;
    let keys = KEYS.iter().filter(|key| !key.is_in_map());
    let mut keys = keys.filter(|key| key.name.rsplit('.').next() == Some(last));
    keys.next().map(|key| key.name.to_owned())
}

/// How many letters of a name differ; what the person chooses does not count.
fn distance(key: &str, given: &[&str]) -> usize {
    let wanted: Vec<&str> = key.split('.').collect();
    if wanted.len() != given.len() {
        return edit_distance(key, &given.join("."));
    }
    let parts = wanted.iter().zip(given).filter(|(wanted, _)| **wanted != "*");
    parts.map(|(wanted, given)| edit_distance(wanted, given)).sum()
}

fn filled(key: &str, given: &[&str]) -> String {
    let parts = key.split('.').enumerate().map(|(index, part)| match (part, given.get(index)) {
        ("*", Some(given)) => given,
        _ => part,
    });
    parts.collect::<Vec<_>>().join(".")
}

fn text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    }
}

fn texts(value: &DeValue<'_>) -> Option<Value> {
    let DeValue::Array(items) = value else { return None };
    items.iter().map(|item| text(item.get_ref())).collect::<Option<_>>().map(Value::List)
}

/// Whether every glob in a list can be read. One that cannot must not stand for none.
fn is_readable(value: &Value) -> bool {
    matches!(value, Value::List(globs) if Patterns::new(globs).is_ok())
}
