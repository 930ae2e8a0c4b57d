//! The coverage of approvals in words: of entries that people add, and of those that are there already.

use metier_app::approvals::{CONFIGURED, CONFIGURED_ANY, IdleApproval, IdleReason};
use metier_approval::{Entry, EntryCoverage};

use crate::output::plain;

/// Returns why an approval is not used, and what to do.
pub(crate) fn idle_words(idle: &IdleApproval) -> String {
    match &idle.reason {
        IdleReason::CoversNothing { because } => {
            format!("covers nothing: {}; {}", plain(because), remedy(&idle.id))
        }
        IdleReason::UnknownArguments { program } => {
            format!("is asked about again: no table knows these arguments of `{}`", plain(program))
        }
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
