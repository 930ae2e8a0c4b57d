//! From text to a plan.

use thiserror::Error;

use crate::plan::Plan;

/// Longest text that is read.
pub const MAX_BYTES: usize = 128 << 10;

/// Why a text has no plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct NotAnalysable {
    /// What it is that a plan cannot say, in words for a person.
    pub what: String,
    /// Where it begins, in bytes.
    pub at: usize,
}

/// Reads a command.
///
/// # Errors
///
/// When a plan cannot say what it would do.
pub fn parse(_text: &str) -> Result<Plan, NotAnalysable> {
    Err(NotAnalysable { what: "nothing can be read yet".to_owned(), at: 0 })
}
