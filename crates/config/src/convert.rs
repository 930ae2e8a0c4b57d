//! Reads the text of a file or a variable as the value of a setting, and guesses what was meant by one that is none.

use globset::Glob;
use strsim::levenshtein;
use toml::de::DeValue;

use crate::key::{SettingKey, SettingKind};
use crate::value::SettingValue;

/// Most letters of a name that may be wrong for it to be guessed.
const MAX_WRONG_IN_NAME: usize = 4;
/// Most letters of a word that may be.
const MAX_WRONG_IN_WORD: usize = 2;

/// Reads a value of a file.
pub(crate) fn read_toml(key: &SettingKey, value: &DeValue<'_>) -> Option<SettingValue> {
    match (key.kind, value) {
        (SettingKind::Switch, DeValue::Boolean(value)) => Some(SettingValue::Switch(*value)),
        (SettingKind::Count, DeValue::Integer(value)) => {
            value.as_str().replace('_', "").parse().ok().map(SettingValue::Count)
        }
        (SettingKind::Text, value) => text(value).map(SettingValue::Text),
        (SettingKind::Secret, value) => text(value).map(SettingValue::Secret),
        (SettingKind::List, value) => texts(value),
        (SettingKind::Globs, value) => texts(value).filter(has_only_globs),
        (SettingKind::Words, DeValue::String(word)) => {
            Some(SettingValue::List(vec![word.to_string()]))
        }
        (SettingKind::Words, value) => texts(value),
        (SettingKind::Choice(_), value) => text(value).and_then(|word| choose(key, &word)),
        _ => None,
    }
}

/// Reads the text of a variable or of a command line.
pub(crate) fn read_text(key: &SettingKey, text: &str) -> Option<SettingValue> {
    let list = || {
        let items = text.split(',').map(str::trim).filter(|it| !it.is_empty());
        SettingValue::List(items.map(Into::into).collect())
    };
    match key.kind {
        SettingKind::Switch => match text.trim() {
            "true" | "1" => Some(SettingValue::Switch(true)),
            "false" | "0" => Some(SettingValue::Switch(false)),
            _ => None,
        },
        SettingKind::Count => text.trim().parse().ok().map(SettingValue::Count),
        SettingKind::Text => Some(SettingValue::Text(text.to_owned())),
        SettingKind::Secret => Some(SettingValue::Secret(text.to_owned())),
        SettingKind::List | SettingKind::Words => Some(list()),
        SettingKind::Globs => Some(list()).filter(has_only_globs),
        SettingKind::Choice(_) => choose(key, text.trim()),
    }
}

/// The description of a key's type, for people.
pub(crate) fn wanted(key: &SettingKey) -> String {
    match key.kind {
        SettingKind::Switch => "`true` or `false`".to_owned(),
        SettingKind::Count => "a whole number".to_owned(),
        SettingKind::Text | SettingKind::Secret => "a text".to_owned(),
        SettingKind::List => "a list of texts".to_owned(),
        SettingKind::Words => "a word or a list of texts".to_owned(),
        SettingKind::Globs => "a list of names or globs of names".to_owned(),
        SettingKind::Choice(choice) => choice.listed(),
    }
}

/// The first glob that cannot be read in a value that is a list of texts.
pub(crate) fn unreadable_glob(key: &SettingKey, value: &DeValue<'_>) -> Option<String> {
    match texts(value) {
        Some(SettingValue::List(globs)) if key.kind == SettingKind::Globs => {
            globs.into_iter().find(|glob| !is_glob(glob))
        }
        _ => None,
    }
}

impl SettingKey {
    /// The word that was probably meant by one that is none.
    pub fn nearest_word(&self, word: &str) -> Option<&'static str> {
        let word = word.trim().to_lowercase();
        let words = self.words().into_iter().filter(|it| !it.is_empty());
        let near = words.map(|it| (levenshtein(&word, it), it)).min();
        near.filter(|(distance, _)| *distance <= MAX_WRONG_IN_WORD).map(|(_, word)| word)
    }
}

/// The setting that was probably meant by a name that is none, with the names that the person chose.
pub(crate) fn nearest_name(name: &str) -> Option<String> {
    let given: Vec<&str> = name.split('.').collect();
    let near = SettingKey::all().map(|key| (distance(key.name, &given), key.name)).min();
    let near = near.filter(|(distance, _)| *distance <= MAX_WRONG_IN_NAME);
    // A name that only looks like one, because no agent is called so, is no better.
    if let Some(near) = near.map(|(_, key)| filled(key, &given)).filter(|near| near != name) {
        return Some(near);
    }
    // The right word in the wrong place.
    let last = given.last()?;
    let mut keys = SettingKey::all().filter(|key| !key.is_in_map());
    keys.find(|key| key.name.rsplit('.').next() == Some(last)).map(|key| key.name.to_owned())
}

/// The number of letters in which a name differs; those that the person chooses do not count.
fn distance(key: &str, given: &[&str]) -> usize {
    let wanted: Vec<&str> = key.split('.').collect();
    if wanted.len() != given.len() {
        return levenshtein(key, &given.join("."));
    }
    let parts = wanted.iter().zip(given).filter(|(wanted, _)| **wanted != "*");
    parts.map(|(wanted, given)| levenshtein(wanted, given)).sum()
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

fn texts(value: &DeValue<'_>) -> Option<SettingValue> {
    let DeValue::Array(items) = value else { return None };
    items.iter().map(|item| text(item.get_ref())).collect::<Option<_>>().map(SettingValue::List)
}

fn choose(key: &SettingKey, word: &str) -> Option<SettingValue> {
    key.words().contains(&word).then(|| SettingValue::Text(word.to_owned()))
}

/// Returns whether every glob in a list can be read. One that cannot must not stand for none.
fn has_only_globs(value: &SettingValue) -> bool {
    matches!(value, SettingValue::List(globs) if globs.iter().all(|glob| is_glob(glob)))
}

fn is_glob(text: &str) -> bool {
    Glob::new(text.trim()).is_ok()
}
