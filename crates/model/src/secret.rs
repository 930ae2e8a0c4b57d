//! Keys of providers.

use std::fmt;

/// Shorter ones are placeholders such as `none`, and part of everyday words.
const SHORTEST: usize = 6;

/// A key. It is shown as `****`, however it is printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a key; white space around it, which files and variables often have, is left out.
    pub fn new(key: impl AsRef<str>) -> Self {
        Self(key.as_ref().trim().to_owned())
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The key itself.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

/// A text that someone else wrote, without these keys: servers quote them in their errors.
pub(crate) fn without(secrets: &[Secret], text: &str) -> String {
    let real = secrets.iter().filter(|secret| secret.0.len() >= SHORTEST);
    real.fold(text.to_owned(), |text, secret| text.replace(&secret.0, "****"))
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("****")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("****")
    }
}
