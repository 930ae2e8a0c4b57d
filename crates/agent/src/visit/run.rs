//! `skill_run`: a command of a skill in the workspace of a visit, through the gate if it runs on the host.

use std::sync::Arc;

use metier_sandbox::Cancel;
use metier_session::content::Call;
use metier_session::{EventId, Opening, SessionStore};
use metier_workspace::executor::Live;
use serde_json::Value;
use tokio::sync::{Mutex, Semaphore};

use super::Visit;
use super::desk::Desk;
use crate::agent::unwatched;
use crate::host::{Admission, Gate, HostAdmission, HostRefusal, Permit, Prompter};
use crate::session_identity::session_key;
use crate::stop::{Stop, TurnStopped};
use crate::thread::Thread;
use crate::tools::run::Prepared;
use crate::tools::specs::name;
use crate::tools::{Answer, Runs, ToolCallError};

/// Commands of one visit that run at the same time; each is a process tree with limits of its own, and further ones
/// wait.
const MAX_RUNS: usize = 16;

/// What the commands of a visit share.
pub(super) struct Counter {
    places: Semaphore,
    /// A person is asked about one command after the other.
    asking: Mutex<()>,
}

impl Counter {
    pub(super) fn new() -> Self {
        Self { places: Semaphore::new(MAX_RUNS), asking: Mutex::default() }
    }
}

impl Visit {
    pub(super) async fn run(
        &self,
        given: &Value,
        (stop, live): (&Stop, Live),
        prompter: &dyn Prompter,
    ) -> Result<Answer, ToolCallError> {
        if stop.is_stopped() {
            return Err(TurnStopped.into());
        }
        let given = given.clone();
        let prepare = move |desk: &Desk| {
            let runs = desk.runs();
            let prepared = desk.look(|at| runs.prepare(&given, at))?;
            Ok::<_, ToolCallError>((runs, prepared))
        };
        let (runs, mut prepared) = self.apart_until(stop, prepare).await??;
        let (visits, skills) = (&self.desk.visits, self.snapshot());
        let host = visits.host.as_ref();
        let gate =
            host.map(|host| Gate { host, prompter, agent: &visits.agent, skills: &skills, stop });
        let admission = Admission { runs: &runs, gate, stop };
        let permit = match admission.is_needed() {
            true => self.decide(admission, &prepared).await?,
            false => None,
        };
        // Not before it is decided: people take long, and others may run meanwhile.
        let _place = tokio::select! {
            place = self.counter.places.acquire() => place.expect("it is never closed"),
            () = stop.stopped() => return Err(TurnStopped.into()),
        };
        admission.open(&mut prepared, permit.as_deref()).await?;
        let cancel = Cancel::new().map_err(ToolCallError::NotStarted)?;
        let running = runs.run_to_its_end(prepared, live, cancel.clone());
        Ok(stop.cancelling(&cancel, running).await)
    }

    /// Has somebody decide about a command on the host, and writes it down.
    async fn decide(
        &self,
        admission: Admission<'_>,
        run: &Prepared,
    ) -> Result<Option<Box<Permit>>, HostRefusal> {
        self.desk.sessions()?;
        if let Some(permit) = admission.allowed(run).await? {
            return Ok(Some(Box::new(permit)));
        }
        let _alone = tokio::select! {
            alone = self.counter.asking.lock() => alone,
            () = admission.stop.stopped() => return Err(TurnStopped.into()),
        };
        let id = EventId::fresh().to_string();
        let call = Call { id, name: name::RUN.to_owned(), ..Call::default() };
        // Read and decided anew: others may have written to the session, and a person may have allowed it by now.
        let mut thread = self.desk.thread().await?;
        let decided = admission.decide(&mut thread, &call, run).await;
        match decided.map_err(HostRefusal::NotWritten)? {
            HostAdmission::Confined => Ok(None),
            HostAdmission::Permitted(permit) => Ok(Some(permit)),
            HostAdmission::Refused(refusal) => Err(refusal),
        }
    }
}

impl Desk {
    fn runs(&self) -> Runs {
        let visits = &self.visits;
        Runs {
            runner: visits.runner.never_degraded(),
            key: self.key.clone(),
            load_first: visits.load_before_run && self.memory.is_kept,
            start: visits.host.as_ref().map(|host| host.folder.clone()),
            restriction: visits.restriction.clone(),
        }
    }

    fn sessions(&self) -> Result<&Arc<dyn SessionStore>, HostRefusal> {
        self.visits.sessions.as_ref().ok_or(HostRefusal::NoSession)
    }

    /// The session in which decisions are written down.
    async fn thread(&self) -> Result<Thread, HostRefusal> {
        let sessions = self.sessions()?;
        let key = session_key(&self.key).map_err(HostRefusal::NotWritten)?;
        // No conversation of ours begins there.
        let opening = async |_: &_| Ok(Opening::default());
        let (sessions, redactor) = (Arc::clone(sessions), self.visits.runner.redactor.clone());
        let thread = Thread::open(sessions, &key, opening, unwatched(), redactor).await;
        thread.map_err(HostRefusal::NotWritten)
    }
}
