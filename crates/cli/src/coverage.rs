//! What approvals cover, in words: of entries that people add, and of those that are there already.
//!
//! An entry for the name of a program covers what the tables of `metier_approval` know to be harmless. What an entry
//! covers on this machine depends on the file that its name stands for, so it is looked at each time.

use std::path::Path;

use metier_agent::host::CommandDecision;
use metier_approval::{Entry, EntryCoverage, Facts, Remembered};
use metier_session::Decision;

use crate::approvals::{CONFIGURED, CONFIGURED_ANY};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::plain;

/// An approval that covers nothing, or is not used any more.
#[derive(Debug)]
pub(crate) struct IdleApproval {
    /// Its id.
    pub id: String,
    /// Why it covers nothing, and what to do.
    pub reason: String,
}

impl Context {
    /// Returns what an entry covers on this machine.
    ///
    /// # Errors
    ///
    /// When the settings cannot be followed.
    pub(crate) fn coverage(&self, entry: &Entry) -> Result<EntryCoverage, Failure> {
        let program = self.machine().executable(Path::new("/"), &entry.pattern);
        Ok(entry.coverage(program.as_ref(), &self.trusted_folders()?))
    }

    /// Returns those of the settings and of these decisions that cover nothing.
    ///
    /// # Errors
    ///
    /// When settings or decisions cannot be read.
    pub(crate) fn idle_approvals(
        &self,
        decisions: &[Decision],
    ) -> Result<Vec<IdleApproval>, Failure> {
        let configured = self.configured_entries()?.into_iter().map(CommandDecision::Entry);
        let decided = decisions.iter().cloned().filter_map(CommandDecision::of);
        let mut idle = Vec::new();
        for decision in configured.chain(decided) {
            idle.extend(match decision {
                CommandDecision::Entry(entry) => self.idle_entry(&entry)?,
                CommandDecision::Remembered(exact) => self.idle_command(&exact)?,
            });
        }
        Ok(idle)
    }

    fn idle_entry(&self, entry: &Entry) -> Result<Option<IdleApproval>, Failure> {
        let EntryCoverage::Nothing { because } = self.coverage(entry)? else { return Ok(None) };
        let reason = format!("covers nothing: {}; {}", plain(&because), remedy(&entry.id));
        Ok(Some(IdleApproval { id: entry.id.clone(), reason }))
    }

    fn idle_command(&self, exact: &Remembered) -> Result<Option<IdleApproval>, Failure> {
        let word = exact.words.first().map_or("", String::as_str);
        let program = self.machine().executable(&exact.directory, word);
        let trusted_folders = self.trusted_folders()?;
        let is_idle = program.is_some_and(|program| !exact.is_known(&program, &trusted_folders));
        let reason =
            format!("is asked about again: no table knows these arguments of `{}`", plain(word));
        Ok(is_idle.then(|| IdleApproval { id: exact.id.clone(), reason }))
    }
}

/// Returns what to do about an entry that covers nothing.
fn remedy(id: &str) -> String {
    if id.starts_with(CONFIGURED) {
        format!("put it into `{CONFIGURED_ANY}` to allow any arguments, or add it with `--args`")
    } else {
        "add it again with `--args` or `--any-arguments`".to_owned()
    }
}

/// Returns what an entry covers, as a sentence without its subject.
pub(crate) fn covered_words(entry: &Entry, coverage: &EntryCoverage) -> String {
    let program = plain(&entry.pattern);
    match coverage {
        EntryCoverage::Harmless => {
            format!("`{program}` with any arguments: none of them makes it run another program")
        }
        EntryCoverage::KnownUses { beyond } => format!(
            "only uses that are known to be harmless ({}); `--args` can name others",
            plain(beyond)
        ),
        EntryCoverage::KnownPrograms => {
            "each program that it matches, in uses that are known to be harmless; of programs in no table nothing"
                .to_owned()
        }
        EntryCoverage::Matching => format!("`{program}` with arguments that match as a whole"),
        EntryCoverage::AnyArguments => {
            format!("`{program}` with any arguments, also those that make it run other programs")
        }
        EntryCoverage::Nothing { because } => format!("nothing: {}", plain(because)),
    }
}

/// Returns what an entry covers as one word for programs.
pub(crate) const fn coverage_word(coverage: &EntryCoverage) -> &'static str {
    match coverage {
        EntryCoverage::Harmless => "any_arguments_harmless",
        EntryCoverage::KnownUses { .. } => "known_uses",
        EntryCoverage::KnownPrograms => "known_programs",
        EntryCoverage::Matching => "matching_arguments",
        EntryCoverage::AnyArguments => "any_arguments",
        EntryCoverage::Nothing { .. } => "nothing",
    }
}

/// Returns the arguments that an entry covers, for a cell of a table.
pub(crate) fn coverage_cell(entry: &Entry, coverage: &EntryCoverage) -> String {
    match coverage {
        EntryCoverage::Harmless => "any".to_owned(),
        EntryCoverage::KnownUses { .. } | EntryCoverage::KnownPrograms => {
            "harmless uses".to_owned()
        }
        EntryCoverage::Matching => plain(entry.arguments.pattern().unwrap_or_default()),
        EntryCoverage::AnyArguments => "any, unchecked".to_owned(),
        EntryCoverage::Nothing { .. } => "none".to_owned(),
    }
}
