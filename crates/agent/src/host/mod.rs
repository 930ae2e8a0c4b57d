//! Commands on the host: judged one by one, asked about where nobody allowed them, run from their plan.

mod approver;
mod facts;
mod owners;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

pub use approver::{Approver, Decision, Question};
pub use facts::Machine;

/// What commands of a model on the host depend on.
#[derive(Clone, Debug)]
pub struct Host {
    /// The agent's own folder: where its commands start and its files are.
    pub folder: PathBuf,
    /// Folders beside it that may be read.
    pub readable: Vec<PathBuf>,
    /// Who decides about commands.
    pub approver: Arc<dyn Approver>,
}
