//! Entries of the list: which of them match a program, and how nearly.

use std::cell::OnceCell;
use std::path::Path;

use regex_lite::{Regex, RegexBuilder};

use super::paths::{has_wildcards, is_name_like, is_path_like, normal};
use super::program::{Invocation, is_taken_by_name};
use crate::facts::Facts;
use crate::policy::{Entry, Policy};
use crate::show::brief;
use crate::tables;

/// Most memory that a pattern of arguments may take.
const MAX_PATTERN_BYTES: usize = 1 << 20;
/// Longest pattern of arguments.
const MAX_PATTERN_LENGTH: usize = 4096;

/// The entries of a policy, with patterns read when they are first needed.
pub(super) struct Entries<'a> {
    policy: &'a Policy,
    facts: &'a dyn Facts,
    patterns: Vec<OnceCell<Option<Regex>>>,
}

/// How an entry stands to a program.
enum Match {
    /// It covers it.
    Covers,
    /// It would, were it not for this.
    Nearly(String),
    /// It is about something else.
    Not,
}

impl<'a> Entries<'a> {
    pub(super) fn new(policy: &'a Policy, facts: &'a dyn Facts) -> Self {
        Self { policy, facts, patterns: policy.entries.iter().map(|_| OnceCell::new()).collect() }
    }

    /// The entry that covers a program.
    ///
    /// # Errors
    ///
    /// What the first one lacks that is about this program; none if there is no such.
    pub(super) fn covering(
        &self,
        invocation: &Invocation<'_>,
    ) -> Result<&'a Entry, Option<String>> {
        let mut nearly = None;
        for (place, entry) in self.policy.entries.iter().enumerate() {
            match self.compare(place, entry, invocation) {
                Match::Covers => return Ok(entry),
                Match::Nearly(reason) => nearly = nearly.or(Some(reason)),
                Match::Not => {}
            }
        }
        Err(nearly)
    }

    fn compare(&self, place: usize, entry: &Entry, invocation: &Invocation<'_>) -> Match {
        match self.is_about(entry, invocation) {
            Match::Covers => {}
            other => return other,
        }
        let (word, pattern) = (brief(&invocation.words[0]), brief(&entry.pattern));
        if let Some(folder) = &entry.directory
            && !self.is_in(invocation.directory, folder)
        {
            let folder = brief(&folder.to_string_lossy());
            return Match::Nearly(format!("the entry `{pattern}` is for `{folder}` alone"));
        }
        let Some(arguments) = &entry.arguments else {
            let is_for_folder = entry.directory.is_some();
            return match tables::uncovered(invocation.words, invocation.program, is_for_folder) {
                None => Match::Covers,
                Some(because) => Match::Nearly(format!(
                    "`{}` is not covered by the entry `{pattern}`: {}; it needs an entry with `--args`",
                    brief(&invocation.text()),
                    because.about(&word),
                )),
            };
        };
        match self.pattern(place, arguments) {
            None => Match::Nearly(format!(
                "the entry `{pattern}` matches nothing: `{}` is not a valid pattern for arguments",
                brief(arguments)
            )),
            Some(regex) if regex.is_match(invocation.arguments()) => Match::Covers,
            Some(_) => Match::Nearly(format!(
                "`{}` is not covered by the entry `{pattern}`: its arguments must be like `{}`",
                brief(&invocation.text()),
                brief(arguments)
            )),
        }
    }

    /// Whether an entry is about a program, whatever its arguments are.
    fn is_about(&self, entry: &Entry, invocation: &Invocation<'_>) -> Match {
        let (word, program) = (invocation.words[0].as_str(), invocation.program);
        let is = |is_it: bool| if is_it { Match::Covers } else { Match::Not };
        if !entry.pattern.contains('/') {
            if word.contains('/') || !is_name_like(&entry.pattern, word) {
                return Match::Not;
            }
            return match is_taken_by_name(program, self.policy) {
                Ok(()) => Match::Covers,
                Err(because) => Match::Nearly(format!("`{}` {because}", brief(word))),
            };
        }
        if has_wildcards(&entry.pattern) {
            if !is_path_like(&entry.pattern, &program.file.real) {
                return is(false);
            }
            return if program.is_replaceable {
                Match::Nearly(format!(
                    "`{}` could be replaced by others; it needs an entry with its whole path",
                    brief(&program.file.real.to_string_lossy())
                ))
            } else {
                is(true)
            };
        }
        let path = normal(Path::new(&entry.pattern));
        if path == program.file.real {
            return is(true);
        }
        self.is_link_to(&path, invocation)
    }

    /// Whether the path of an entry is a link to a program that may be followed: one that lies where programs are
    /// taken for what they are called, and leads to such a place.
    fn is_link_to(&self, path: &Path, invocation: &Invocation<'_>) -> Match {
        let real = &invocation.program.file.real;
        let found = path.to_str().and_then(|path| self.facts.executable(Path::new("/"), path));
        let Some(found) = found.filter(|found| found.file == invocation.program.file) else {
            return Match::Not;
        };
        let is_trusted = |path: &Path| {
            path.parent().is_some_and(|parent| {
                self.policy.trusted_folders.iter().any(|folder| folder == parent)
            })
        };
        if is_trusted(&found.path) && is_trusted(real) && !found.is_replaceable {
            return Match::Covers;
        }
        Match::Nearly(format!(
            "the entry `{}` is a link; the program is `{}`, which an entry must name",
            brief(&path.to_string_lossy()),
            brief(&real.to_string_lossy())
        ))
    }

    fn is_in(&self, directory: &Path, folder: &Path) -> bool {
        folder.is_absolute()
            && self.facts.folder(folder).is_some_and(|folder| directory.starts_with(folder.real))
    }

    fn pattern(&self, place: usize, text: &str) -> Option<&Regex> {
        self.patterns.get(place)?.get_or_init(|| read(text)).as_ref()
    }
}

/// A pattern for all the arguments. It must be one by itself, so that no sign in it ends the group around it.
fn read(text: &str) -> Option<Regex> {
    if text.len() > MAX_PATTERN_LENGTH {
        return None;
    }
    let limited = |text: &str| RegexBuilder::new(text).size_limit(MAX_PATTERN_BYTES).build().ok();
    limited(text)?;
    limited(&format!(r"\A(?:{text})\z"))
}
