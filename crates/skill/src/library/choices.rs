//! What the person chose among the skills that were found.

use std::collections::{BTreeMap, BTreeSet};

use globset::{Glob, GlobMatcher};
use thiserror::Error;
use unicode_normalization::UnicodeNormalization;

use crate::discover::Source;
use crate::name::SkillName;

/// Names or globs of names.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    patterns: Vec<(String, GlobMatcher)>,
}

/// A glob that cannot be read.
#[derive(Debug, Error)]
#[error("`{pattern}` is not a name or a pattern of names")]
pub struct PatternError {
    /// What was written.
    pub pattern: String,
    /// What is wrong with it.
    #[source]
    pub source: globset::Error,
}

impl Patterns {
    /// Compiles names and globs.
    ///
    /// # Errors
    ///
    /// At the first that is not a glob.
    pub fn new<T: AsRef<str>>(texts: &[T]) -> Result<Self, PatternError> {
        let compile = |text: &T| {
            // As names are: otherwise a pattern and a name that look the same would not meet.
            let pattern: String = text.as_ref().trim().nfkc().collect();
            match Glob::new(&pattern) {
                Ok(glob) => Ok((pattern, glob.compile_matcher())),
                Err(source) => Err(PatternError { pattern, source }),
            }
        };
        Ok(Self { patterns: texts.iter().map(compile).collect::<Result<_, _>>()? })
    }

    /// The pattern that names a skill, if one does.
    pub fn find(&self, name: &SkillName) -> Option<&str> {
        self.patterns
            .iter()
            .find(|(_, matcher)| matcher.is_match(name.as_str()))
            .map(|(pattern, _)| pattern.as_str())
    }
}

/// Filters over what was found. Each can only take away.
#[derive(Clone, Debug)]
pub struct Choices {
    /// `skills.enabled`: whether there are skills at all.
    pub enabled: bool,
    /// Lists that each must name a skill, with who wrote the list.
    pub allowed: Vec<(String, Patterns)>,
    /// Skills that are refused.
    pub denied: Patterns,
    /// `skills.entries`, by key.
    pub entries: BTreeMap<String, EntryChoice>,
    /// Whether a `skillKey` counts. It does not in a run that leaves out sources where a skill of that name may be.
    pub are_claims_counted: bool,
    /// Names of skills that are kept where this run does not look, whose entries no `skillKey` can claim.
    pub reserved_names: BTreeSet<String>,
}

/// What is configured for one skill.
#[derive(Clone, Debug, Default)]
pub struct EntryChoice {
    /// `false` switches the skill off.
    pub enabled: Option<bool>,
    /// Names of the variables it is given.
    pub env: BTreeSet<String>,
    /// Whether it has an API key.
    pub has_api_key: bool,
    /// The only source of skills that the entry is for, if it names one.
    pub source: Option<Source>,
}

impl Choices {
    /// Everything that was found.
    pub fn all() -> Self {
        Self {
            enabled: true,
            allowed: Vec::new(),
            denied: Patterns::default(),
            entries: BTreeMap::new(),
            are_claims_counted: true,
            reserved_names: BTreeSet::new(),
        }
    }
}
