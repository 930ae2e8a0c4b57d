//! What an entry is worth, for whoever makes it.

use super::entries;
use crate::facts::Executable;
use crate::policy::Entry;
use crate::tables::{self, Because};

impl Entry {
    /// Whether its arguments can be compared with anything. If not, it covers nothing.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        self.arguments.as_deref().is_none_or(|text| entries::read(text).is_some())
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
