//! Approvals: the policy for commands on the host and tools of servers, and the person who decides about the rest.

mod approver;
mod coverage;
mod policy;

use std::fmt;

use thiserror::Error;

pub use approver::{DecisionApprover, PreapprovalError, PreapprovalFault};
pub use coverage::{IdleApproval, IdleReason};
pub use policy::{CONFIGURED, CONFIGURED_ANY};

/// A setting or choice about approvals that cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ApprovalSettingsError {
    /// A pattern for programs breaks a rule.
    #[error("`{pattern}` is no pattern for programs: {rule}")]
    ProgramPattern {
        /// The pattern.
        pattern: String,
        /// The rule.
        rule: ProgramPatternRule,
    },
    /// A trusted folder is not a whole path.
    #[error("the trusted folder `{folder}` is no whole path")]
    TrustedFolder {
        /// The folder as it is written.
        folder: String,
    },
}

/// A rule for patterns of programs, in the words for one that breaks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramPatternRule {
    /// It is not empty.
    NotEmpty,
    /// It has no blanks around it and no control characters.
    Name,
    /// A path is whole.
    WholePath,
}

impl fmt::Display for ProgramPatternRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotEmpty => "it is empty",
            Self::Name => "no program is called so",
            Self::WholePath => "a path must be whole, from `/` or `~/` on, without `..`",
        })
    }
}
