//! Entries of the list: which of them match a program, and how nearly.

use std::cell::OnceCell;
use std::path::Path;

use regex_lite::{Regex, RegexBuilder};

use super::found::{Found, Machine};
use super::paths::{has_wildcards, is_name_like, is_path_like, normal};
use super::program::{Invocation, is_left_alone, is_taken_by_name};
use crate::facts::Executable;
use crate::policy::{Entry, Policy};
use crate::show::brief;
use crate::tables;

/// Most memory that a pattern of arguments may take.
const MAX_PATTERN_BYTES: usize = 1 << 20;
/// Longest pattern of arguments.
const MAX_PATTERN_LENGTH: usize = 4096;
/// Longest arguments that are compared with a pattern.
const MAX_ARGUMENTS: usize = 16 << 10;

/// The entries of a policy, with patterns read when they are first needed.
pub(super) struct Entries<'a> {
    policy: &'a Policy,
    machine: &'a Machine<'a>,
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
    pub(super) fn new(policy: &'a Policy, machine: &'a Machine<'a>) -> Self {
        Self { policy, machine, patterns: policy.entries.iter().map(|_| OnceCell::new()).collect() }
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
        let word = &invocation.words[0];
        let about = invocation.found.entries.get_or_init(|| self.about(word, invocation.found));
        let mut nearly = None;
        for (place, lack) in about {
            let entry = &self.policy.entries[*place];
            let lack = match lack {
                Some(lack) => Some(lack.clone()),
                None => self.compare(*place, entry, invocation),
            };
            match lack {
                None => return Ok(entry),
                Some(lack) => nearly = nearly.or(Some(lack)),
            }
        }
        Err(nearly)
    }

    /// Entries that are about a program, whatever its arguments are, and what keeps them from counting.
    fn about(&self, word: &str, found: &Found) -> Vec<(usize, Option<String>)> {
        let entries = self.policy.entries.iter().enumerate();
        let about = entries.map(|(place, entry)| (place, self.is_about(entry, word, found)));
        about
            .filter_map(|(place, about)| match about {
                Match::Covers => Some((place, None)),
                Match::Nearly(lack) => Some((place, Some(lack))),
                Match::Not => None,
            })
            .collect()
    }

    /// What an entry about a program lacks to cover it.
    fn compare(&self, place: usize, entry: &Entry, invocation: &Invocation<'_>) -> Option<String> {
        if let Some(folder) = &entry.directory
            && !self.is_in(invocation.directory, folder)
        {
            let (pattern, folder) = (brief(&entry.pattern), brief(&folder.to_string_lossy()));
            return Some(format!("the entry `{pattern}` is for `{folder}` alone"));
        }
        let Some(arguments) = &entry.arguments else {
            let found = invocation.found;
            let is_for_folder = entry.directory.is_some();
            let because =
                tables::uncovered(invocation.words, (&found.program, found.kind), is_for_folder)?;
            return Some(format!(
                "`{}` is not covered by the entry `{}`: {}; it needs an entry with `--args`",
                invocation.brief(),
                brief(&entry.pattern),
                because.about(&brief(&invocation.words[0])),
            ));
        };
        let Some(regex) = self.pattern(place, arguments) else {
            return Some(format!(
                "the entry `{}` matches nothing: `{}` is not a valid pattern for arguments",
                brief(&entry.pattern),
                brief(arguments)
            ));
        };
        let given = invocation.arguments();
        let is_match = given.len() <= MAX_ARGUMENTS && regex.is_match(given);
        (!is_match).then(|| {
            format!(
                "`{}` is not covered by the entry `{}`: its arguments must be like `{}`",
                invocation.brief(),
                brief(&entry.pattern),
                brief(arguments)
            )
        })
    }

    /// Whether an entry is about a program, whatever its arguments are.
    fn is_about(&self, entry: &Entry, word: &str, found: &Found) -> Match {
        let program = &found.program;
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
        let path = normal(Path::new(&entry.pattern));
        let by_path = if has_wildcards(&entry.pattern) {
            is(is_path_like(&entry.pattern, &program.file.real))
        } else if path == program.file.real {
            is(true)
        } else {
            self.is_link_to(&path, program)
        };
        match (by_path, is_left_alone(program, self.policy)) {
            (Match::Covers, Err(because)) => Match::Nearly(format!("`{}` {because}", brief(word))),
            (by_path, _) => by_path,
        }
    }

    /// Whether the path of an entry is a link to a program that may be followed: one that lies where programs are
    /// taken for what they are called, and leads to such a place.
    fn is_link_to(&self, path: &Path, program: &Executable) -> Match {
        let real = &program.file.real;
        let found = path
            .to_str()
            .filter(|_| path.is_absolute())
            .and_then(|path| self.machine.program(Path::new("/"), path));
        let Some(found) = found.filter(|found| found.program.file == program.file) else {
            return Match::Not;
        };
        let found = &found.program;
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
            && self.machine.folder(folder).is_some_and(|folder| directory.starts_with(folder.real))
    }

    fn pattern(&self, place: usize, text: &str) -> Option<&Regex> {
        self.patterns.get(place)?.get_or_init(|| read(text)).as_ref()
    }
}

/// A pattern for all the arguments. It must be one by itself, so that no sign in it ends the group around it.
pub(super) fn read(text: &str) -> Option<Regex> {
    if text.len() > MAX_PATTERN_LENGTH {
        return None;
    }
    let limited = |text: &str| RegexBuilder::new(text).size_limit(MAX_PATTERN_BYTES).build().ok();
    limited(text)?;
    limited(&format!(r"\A(?:{text})\z"))
}
