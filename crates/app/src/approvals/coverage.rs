//! The coverage of approvals on this machine, and those that cover nothing.
//!
//! An entry for the name of a program covers what the tables of `metier_approval` know to be harmless. What an entry
//! covers on this machine depends on the file that its name stands for, so it is looked at each time.

use std::path::Path;

use metier_agent::host::CommandDecision;
use metier_approval::{Entry, EntryCoverage, Facts, Remembered};
use metier_session::Decision;

use super::ApprovalSettingsError;
use crate::app::App;

/// An approval that covers nothing, or is not used any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleApproval {
    /// Its id.
    pub id: String,
    /// The reason.
    pub reason: IdleReason,
}

/// The reason why an approval is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdleReason {
    /// The entry covers nothing.
    CoversNothing {
        /// The reason.
        because: String,
    },
    /// The command is asked about again: no table knows its arguments.
    UnknownArguments {
        /// The program of the command.
        program: String,
    },
}

impl App {
    /// Returns what an entry covers on this machine.
    ///
    /// # Errors
    ///
    /// When the settings cannot be followed.
    pub fn coverage(&self, entry: &Entry) -> Result<EntryCoverage, ApprovalSettingsError> {
        let program = self.machine().executable(Path::new("/"), &entry.pattern);
        Ok(entry.coverage(program.as_ref(), &self.trusted_folders()?))
    }

    /// Returns those of the settings and of these decisions that cover nothing.
    ///
    /// # Errors
    ///
    /// When settings or decisions cannot be read.
    pub fn idle_approvals(
        &self,
        decisions: &[Decision],
    ) -> Result<Vec<IdleApproval>, ApprovalSettingsError> {
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

    fn idle_entry(&self, entry: &Entry) -> Result<Option<IdleApproval>, ApprovalSettingsError> {
        let EntryCoverage::Nothing { because } = self.coverage(entry)? else { return Ok(None) };
        let reason = IdleReason::CoversNothing { because };
        Ok(Some(IdleApproval { id: entry.id.clone(), reason }))
    }

    fn idle_command(
        &self,
        exact: &Remembered,
    ) -> Result<Option<IdleApproval>, ApprovalSettingsError> {
        let word = exact.words.first().map_or("", String::as_str);
        let program = self.machine().executable(&exact.directory, word);
        let trusted_folders = self.trusted_folders()?;
        let is_idle = program.is_some_and(|program| !exact.is_known(&program, &trusted_folders));
        let reason = IdleReason::UnknownArguments { program: word.to_owned() };
        Ok(is_idle.then(|| IdleApproval { id: exact.id.clone(), reason }))
    }
}
