//! JSON whose parts are kept as they were written.
//!
//! A parsed number or string does not say how it was spelled; what goes back to a provider, and
//! what a model wrote as arguments, must be spelled as before.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An object whose values are the text they were; keys in order, even twice.
#[derive(Debug, Default)]
pub(crate) struct RawObject<'a> {
    pub(crate) entries: Vec<(String, &'a RawValue)>,
}

impl<'a> RawObject<'a> {
    pub(crate) fn parse(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// The text of a value.
    pub(crate) fn get(&self, key: &str) -> Option<&'a str> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value.get())
    }

    /// A value that is a string.
    pub(crate) fn string(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?).ok()
    }

    pub(crate) fn has_duplicates(&self) -> bool {
        let mut known = HashSet::new();
        !self.entries.iter().all(|(key, _)| known.insert(key))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawObject<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = RawObject<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(RawObject { entries })
    }
}

/// A step into JSON.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// The text of a value within JSON.
pub(crate) fn dig<'a>(json: &'a str, steps: &[Step<'_>]) -> Option<&'a str> {
    let Some((step, rest)) = steps.split_first() else { return Some(json) };
    let inner = match step {
        Step::Key(key) => RawObject::parse(json)?.get(key)?,
        Step::Index(index) => serde_json::from_str::<Vec<&RawValue>>(json)
            .ok()?
            .get(*index)
            .map(|value| value.get())?,
    };
    dig(inner, rest)
}

/// Whether a text is one JSON object, as it stands.
pub(crate) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<&RawValue>(text).is_ok()
}

/// A short name for some bytes, the same everywhere and always (FNV-1a). Not for security.
pub(crate) fn fingerprint<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for byte in part.iter().chain(&[0xff]) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_comes_again_is_found_among_many() {
        let members: Vec<_> = (0..200_000).map(|key| format!("\"{key}\":0")).collect();
        let once = format!("{{{}}}", members.join(","));
        assert!(!RawObject::parse(&once).unwrap().has_duplicates());
        let twice = format!("{{{},\"7\":1}}", members.join(","));
        assert!(RawObject::parse(&twice).unwrap().has_duplicates());
    }
}
