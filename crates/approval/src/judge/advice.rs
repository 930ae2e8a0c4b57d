//! What an entry is worth, for whoever makes it.

use super::paths::has_wildcards;
use super::{entries, patterns};
use crate::facts::Executable;
use crate::policy::Entry;
use crate::tables::{self, Because};

impl Entry {
    /// Whether its pattern and its arguments can be compared with anything. If not, it covers nothing.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        !self.is_too_wild()
            && self.arguments.as_deref().is_none_or(|text| patterns::read(text).is_some())
    }

    /// Whether its pattern is too long, or has too many signs that stand for others, to be compared with anything.
    #[must_use]
    pub fn is_too_wild(&self) -> bool {
        has_wildcards(&self.pattern) && entries::glob(&self.pattern).is_none()
    }

    /// Why it covers only some uses of a program; none if it covers all, or says itself which.
    #[must_use]
    pub fn limits(&self, program: &Executable) -> Option<String> {
        if self.arguments.is_some() {
            return None;
        }
        let name = tables::base_name(&self.pattern);
        Some(match tables::beyond(name, program)? {
            Because::Use(words) => format!("`{name}`: {words}"),
            because @ Because::Kind(_) => because.about(name),
        })
    }
}
