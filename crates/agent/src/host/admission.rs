//! The way of a prepared command to where it runs: through the gate, if that is the host.
//!
//! Whoever runs commands goes this way, so that there is one place that says which of them nobody has to decide about.

use metier_session::content::Call;

use super::gate::{Gate, Permit};
use crate::agent::AgentError;
use crate::calls::STOPPED;
use crate::stop::Stop;
use crate::thread::Thread;
use crate::tools::Runs;
use crate::tools::run::Prepared;

/// The answer to a call on the host where nobody decides.
const UNDECIDED: &str = "no command may run on the host: nobody decides about them";

/// Lets commands through that are confined, or that somebody allows on the host.
#[derive(Clone, Copy)]
pub(crate) struct Admission<'a> {
    /// How commands are run.
    pub(crate) runs: &'a Runs,
    /// Who decides about those on the host, if anybody does.
    pub(crate) gate: Option<Gate<'a>>,
    /// Whether to stop.
    pub(crate) stop: &'a Stop,
}

impl Admission<'_> {
    /// Whether somebody has to decide about every command.
    pub(crate) fn is_needed(&self) -> bool {
        self.runs.runner.executor.sees_host()
    }

    /// Has somebody decide about a command; nobody has to about one that is confined. The inner error says why it
    /// may not run, in words for the model.
    pub(crate) async fn decide(
        &self,
        thread: &mut Thread,
        call: &Call,
        run: &Prepared,
    ) -> Result<Result<Option<Permit>, String>, AgentError> {
        if !self.is_needed() {
            return Ok(Ok(None));
        }
        let Some(gate) = self.gate else { return Ok(Err(UNDECIDED.to_owned())) };
        if self.stop.is_stopped() {
            return Ok(Err(STOPPED.to_owned()));
        }
        match self.runs.wanted(run) {
            Ok(wanted) => Ok(gate.decide(thread, call, wanted).await?.map(Some)),
            Err(why) => Ok(Err(why)),
        }
    }

    /// The same without asking anybody; nothing if a person has to decide.
    pub(crate) async fn allowed(&self, run: &Prepared) -> Result<Option<Permit>, String> {
        let gate = self.gate.ok_or_else(|| UNDECIDED.to_owned())?;
        gate.allowed(&self.runs.wanted(run)?).await
    }

    /// Looks once more at a command right before it runs, and has it run as it was allowed.
    pub(crate) async fn open(
        &self,
        run: &mut Prepared,
        permit: Option<&Permit>,
    ) -> Result<(), String> {
        match (permit, self.gate) {
            (Some(permit), Some(gate)) => run.walk(gate.open(permit).await?),
            (None, _) if !self.is_needed() => {}
            _ => return Err(UNDECIDED.to_owned()),
        }
        if self.stop.is_stopped() {
            return Err(STOPPED.to_owned());
        }
        Ok(())
    }
}
