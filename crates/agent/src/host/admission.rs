//! The way of a prepared command to where it runs: through the gate, if that is the host.
//!
//! Whoever runs commands goes this way, so that there is one place that says which of them nobody has to decide about.

use metier_session::SessionError;
use metier_session::content::Call;

use super::error::{HostAdmission, HostRefusal};
use super::gate::{Gate, Permit};
use crate::stop::{Stop, TurnStopped};
use crate::thread::Thread;
use crate::tools::Runs;
use crate::tools::run::Prepared;

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

    /// Decides about a command, and asks a person if need be. One that is confined needs no decision.
    pub(crate) async fn decide(
        &self,
        thread: &mut Thread,
        call: &Call,
        run: &Prepared,
    ) -> Result<HostAdmission, SessionError> {
        if !self.is_needed() {
            return Ok(HostAdmission::Confined);
        }
        let Some(gate) = self.gate else {
            return Ok(HostAdmission::Refused(HostRefusal::Undecided));
        };
        if self.stop.is_stopped() {
            return Ok(HostAdmission::Refused(TurnStopped.into()));
        }
        match self.runs.wanted(run) {
            Ok(wanted) => gate.decide(thread, call, wanted).await,
            Err(error) => Ok(HostAdmission::Refused(error.into())),
        }
    }

    /// The same without asking anybody; nothing if a person has to decide.
    pub(crate) async fn allowed(&self, run: &Prepared) -> Result<Option<Permit>, HostRefusal> {
        let gate = self.gate.ok_or(HostRefusal::Undecided)?;
        gate.allowed(&self.runs.wanted(run)?).await
    }

    /// Looks once more at a command right before it runs, and has it run as it was allowed.
    pub(crate) async fn open(
        &self,
        run: &mut Prepared,
        permit: Option<&Permit>,
    ) -> Result<(), HostRefusal> {
        match (permit, self.gate) {
            (Some(permit), Some(gate)) => run.walk(gate.open(permit).await?),
            (None, _) if !self.is_needed() => {}
            _ => return Err(HostRefusal::Undecided),
        }
        if self.stop.is_stopped() {
            return Err(TurnStopped.into());
        }
        Ok(())
    }
}
