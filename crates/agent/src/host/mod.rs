//! Commands on the host: judged one by one, asked about where nobody allowed them, run from their plan.

mod admission;
mod approver;
mod decisions;
mod error;
mod events;
mod facts;
mod gate;
mod git;
#[cfg(test)]
mod installed_tests;
mod links;
mod owners;
mod prompter;
mod repository;
mod sheet;
#[cfg(test)]
mod tests;
mod walk;

use std::path::PathBuf;
use std::sync::Arc;

use metier_approval::Approved;
use metier_sandbox::Walk;
use metier_session::SessionRef;

pub(crate) use admission::Admission;
pub use approver::{Approver, CommandQuestion, Decision, Question, ToolQuestion};
pub use decisions::{
    CommandDecision, rule_of, rule_of_entry, rule_of_tool, take_decisions, take_tool_decisions,
};
pub use error::{ApproverError, HostRefusal};
pub(crate) use error::{DENIED, HostAdmission};
pub(crate) use events::Answered;
pub use facts::Machine;
pub(crate) use gate::{Gate, Permit, Wanted};
pub use prompter::{NoPrompter, Prompter};
pub use sheet::Sheet;

use crate::agent::Agent;
use crate::session_identity::workspace_key;

/// What commands of a model on the host depend on.
#[derive(Clone, Debug)]
pub struct Host {
    /// The agent's own folder: where its commands start and its files are. Absolute, with all links followed.
    pub folder: PathBuf,
    /// Folders beside it that may be read.
    pub readable: Vec<PathBuf>,
    /// Who decides about commands.
    pub approver: Arc<dyn Approver>,
    /// Asks a person about what that leaves open.
    pub prompter: Arc<dyn Prompter>,
}

/// A plan that was allowed, as it is run: everything in it pinned to the state in which it was judged.
#[must_use]
pub fn walk_of(approved: &Approved) -> Walk {
    walk::of_plan(approved)
}

impl Agent {
    /// What commands depend on, if they run on the host.
    pub(crate) fn on_host(&self) -> Option<&Host> {
        self.host.as_ref().filter(|_| self.runner.executor.sees_host())
    }

    /// Where commands of a session find skills, if they run on the host.
    pub(crate) fn skills_on_host(&self, at: &SessionRef) -> Option<PathBuf> {
        self.on_host()?;
        let workspace = self.runner.workspaces.workspace(&workspace_key(at)).ok()?;
        Some(workspace.root().join("skills"))
    }
}
