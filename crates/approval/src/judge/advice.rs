//! What an entry covers, for whoever makes it.

use std::path::PathBuf;

use super::paths::has_wildcards;
use super::{entries, patterns};
use crate::facts::Executable;
use crate::policy::{ArgumentRule, Entry, Remembered};
use crate::tables::{self, Because};

/// The commands that an entry covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryCoverage {
    /// The program with any arguments, because none of them makes it run others or load code.
    Harmless,
    /// The uses of the program that the tables know to be harmless.
    KnownUses {
        /// What the program can do beyond them, as a sentence without a period.
        beyond: String,
    },
    /// Each program that the wildcards match, in the uses that the tables know to be harmless.
    KnownPrograms,
    /// Arguments that match the pattern of the entry.
    Matching,
    /// Any arguments, also those that make the program run others.
    AnyArguments,
    /// Nothing: the tables do not describe the program, or know no harmless use of it.
    Nothing {
        /// What is not known, or what the program can do, as a sentence without a period.
        because: String,
    },
}

impl Entry {
    /// Whether its pattern and its arguments can be compared with anything. If not, it covers nothing.
    #[must_use]
    pub fn is_readable(&self) -> bool {
        !self.is_too_wild()
            && self.arguments.pattern().is_none_or(|text| patterns::read(text).is_some())
    }

    /// Whether its pattern is too long, or has too many signs that stand for others, to be compared with anything.
    #[must_use]
    pub fn is_too_wild(&self) -> bool {
        has_wildcards(&self.pattern) && entries::glob(&self.pattern).is_none()
    }

    /// Returns what it covers of the program that was found for its pattern, if one was.
    #[must_use]
    pub fn coverage(
        &self,
        program: Option<&Executable>,
        trusted_folders: &[PathBuf],
    ) -> EntryCoverage {
        match self.arguments {
            ArgumentRule::Like(_) => return EntryCoverage::Matching,
            ArgumentRule::Any => return EntryCoverage::AnyArguments,
            ArgumentRule::Known if has_wildcards(&self.pattern) => {
                return EntryCoverage::KnownPrograms;
            }
            ArgumentRule::Known => {}
        }
        let name = tables::base_name(&self.pattern);
        let Some(because) = tables::beyond(name, program, trusted_folders) else {
            return EntryCoverage::Harmless;
        };
        let words = match because {
            Because::Use(words) => format!("`{name}`: {words}"),
            Because::Kind(_) | Because::Unknown => because.about(name),
        };
        if tables::has_covered_use(name, program, trusted_folders) {
            EntryCoverage::KnownUses { beyond: words }
        } else {
            EntryCoverage::Nothing { because: words }
        }
    }
}

impl Remembered {
    /// Whether the tables describe its program and know these arguments to be harmless. If not, a person is asked
    /// again: the same words could run something else by then.
    #[must_use]
    pub fn is_known(&self, program: &Executable, trusted_folders: &[PathBuf]) -> bool {
        let Some(word) = self.words.first() else { return false };
        let kind = tables::kind_in(word, program, trusted_folders);
        kind.is_ordinary() && tables::uncovered(&self.words, (program, kind), false).is_none()
    }
}
