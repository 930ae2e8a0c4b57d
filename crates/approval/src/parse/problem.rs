//! Why a text has no plan.

use thiserror::Error;

/// Why a text has no plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct NotAnalysable {
    /// What it is that a plan cannot say, in words for a person.
    pub what: String,
    /// Where it begins, in bytes.
    pub at: usize,
}

impl NotAnalysable {
    pub(super) fn new(what: impl Into<String>, at: usize) -> Self {
        Self { what: what.into(), at }
    }
}
