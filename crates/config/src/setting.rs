//! A typed value of one setting, with its origins and the lists that narrow it.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

use crate::key::{ProjectNarrowing, SettingKey, SettingKind};
use crate::layers::ConfigLayers;
use crate::value::{SettingOrigin, SettingValue};

/// The value of one setting, whoever set it.
///
/// It dereferences to the value.
#[derive(Clone, Debug)]
pub struct Setting<T> {
    value: T,
    origins: Vec<SettingOrigin>,
    also: Vec<(Vec<String>, SettingOrigin)>,
}

/// A type that a setting can have.
pub trait SettingType: Sized {
    /// Its kind in the table.
    const KIND: SettingKind;

    /// The value, if it is one of this type.
    fn of_value(value: &SettingValue) -> Option<Self>;
}

/// A field of a section that is made of one key.
pub(crate) trait SectionField: Sized {
    const KIND: SettingKind;

    /// Reads the field. `name` is the dotted name with the names that the person chose in place of `*`.
    fn of_layers(layers: &ConfigLayers, key: &SettingKey, name: &str) -> Self;

    /// Everybody who had a say.
    fn origins(&self) -> Vec<&SettingOrigin>;
}

/// A secret text. It is shown as `****`.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

/// Secret texts by names that the person chose.
#[derive(Clone, Debug, Default)]
pub struct SecretMap(BTreeMap<String, Setting<Option<SecretText>>>);

/// A word, or a list of texts; a word is a list of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordOrList(Vec<String>);

impl<T> Setting<T> {
    /// Returns whether somebody set it.
    pub fn is_set(&self) -> bool {
        !self.origins.is_empty()
    }

    /// Who had a say, the deciding one last; empty if nobody set it.
    pub fn origins(&self) -> &[SettingOrigin] {
        &self.origins
    }

    /// Returns whether a file set it, and not a variable alone.
    pub fn is_from_file(&self) -> bool {
        self.origins.iter().any(|origin| matches!(origin, SettingOrigin::File { .. }))
    }

    /// Lists of projects that must hold besides the value.
    pub fn also(&self) -> &[(Vec<String>, SettingOrigin)] {
        &self.also
    }

    /// Sets the value by an option of the command line, which outranks every other origin.
    pub fn set_by_flag(&mut self, flag: &'static str, value: T) {
        self.value = value;
        self.origins.push(SettingOrigin::Flag(flag));
    }
}

impl Setting<Vec<String>> {
    /// A list of what is allowed: the value, as far as the list of every project has it too.
    pub fn narrowed(&self) -> Vec<String> {
        let is_everywhere = |text: &&String| self.also.iter().all(|(list, _)| list.contains(*text));
        self.value.iter().filter(is_everywhere).cloned().collect()
    }
}

impl<T> Deref for Setting<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: SettingType> SectionField for Setting<T> {
    const KIND: SettingKind = T::KIND;

    fn of_layers(layers: &ConfigLayers, key: &SettingKey, name: &str) -> Self {
        let set = layers.values.get(name);
        let default = key.default_value();
        // An empty text counts as not set.
        let given = set.map(|(value, _)| value).filter(|value| !is_empty_text(value));
        let value = given.and_then(T::of_value).or_else(|| T::of_value(&default));
        Self {
            value: value.expect("a test reads every default as its type"),
            origins: set.map(|(_, origins)| origins.clone()).unwrap_or_default(),
            also: match key.narrowing {
                ProjectNarrowing::Also => layers.also.get(name).cloned().unwrap_or_default(),
                _ => Vec::new(),
            },
        }
    }

    fn origins(&self) -> Vec<&SettingOrigin> {
        self.origins.iter().collect()
    }
}

fn is_empty_text(value: &SettingValue) -> bool {
    matches!(value, SettingValue::Text(text) | SettingValue::Secret(text) if text.is_empty())
}

impl SectionField for SecretMap {
    const KIND: SettingKind = SettingKind::Secret;

    fn of_layers(layers: &ConfigLayers, key: &SettingKey, name: &str) -> Self {
        let prefix = name.strip_suffix('*').unwrap_or(name);
        let below = layers.values.range(prefix.to_owned()..);
        let below = below.take_while(|(name, _)| name.starts_with(prefix));
        let field = |name: &String| Setting::of_layers(layers, key, name);
        Self(below.map(|(name, _)| (name[prefix.len()..].to_owned(), field(name))).collect())
    }

    fn origins(&self) -> Vec<&SettingOrigin> {
        self.0.values().flat_map(|secret| &secret.origins).collect()
    }
}

impl SecretMap {
    /// The secrets that are not empty, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &SecretText)> {
        self.0.iter().filter_map(|(name, secret)| Some((name.as_str(), (**secret).as_ref()?)))
    }

    /// Returns whether somebody set one of them.
    pub fn is_set(&self) -> bool {
        !self.0.is_empty()
    }
}

impl SecretText {
    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for SecretText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("****")
    }
}

impl fmt::Display for SecretText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("****")
    }
}

impl Deref for WordOrList {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

impl SettingType for bool {
    const KIND: SettingKind = SettingKind::Switch;

    fn of_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Switch(value) => Some(*value),
            _ => None,
        }
    }
}

impl SettingType for usize {
    const KIND: SettingKind = SettingKind::Count;

    fn of_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Count(value) => Some(*value),
            _ => None,
        }
    }
}

impl SettingType for u64 {
    const KIND: SettingKind = SettingKind::Count;

    fn of_value(value: &SettingValue) -> Option<Self> {
        usize::of_value(value).map(|value| Self::try_from(value).unwrap_or(Self::MAX))
    }
}

impl SettingType for String {
    const KIND: SettingKind = SettingKind::Text;

    fn of_value(value: &SettingValue) -> Option<Self> {
        value.as_text().map(str::to_owned)
    }
}

impl SettingType for Option<String> {
    const KIND: SettingKind = SettingKind::Text;

    fn of_value(value: &SettingValue) -> Option<Self> {
        value.as_text().map(|text| Some(text.to_owned()).filter(|text| !text.is_empty()))
    }
}

impl SettingType for Option<SecretText> {
    const KIND: SettingKind = SettingKind::Secret;

    fn of_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Secret(text) | SettingValue::Text(text) => {
                Some(Some(SecretText(text.clone())).filter(|text| !text.0.is_empty()))
            }
            _ => None,
        }
    }
}

impl SettingType for Vec<String> {
    const KIND: SettingKind = SettingKind::List;

    fn of_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::List(texts) => Some(texts.clone()),
            _ => None,
        }
    }
}

impl SettingType for WordOrList {
    const KIND: SettingKind = SettingKind::Words;

    fn of_value(value: &SettingValue) -> Option<Self> {
        Vec::of_value(value).map(Self)
    }
}

impl SettingType for NameGlobs {
    const KIND: SettingKind = SettingKind::Globs;

    fn of_value(value: &SettingValue) -> Option<Self> {
        Vec::of_value(value).map(Self)
    }
}

/// A list of names and globs of names, each of which can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameGlobs(Vec<String>);

impl Deref for NameGlobs {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}
