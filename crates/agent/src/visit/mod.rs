//! Visits: the model of another agent uses our tools.
//!
//! It has its own conversation, which we do not see: nothing is loaded for a request of ours, so what a tool gives is
//! all there is. [`tools`] says what it may call, [`Visit::call`] does it; a visit remembers which version of a skill
//! was given, so that instructions and scripts are of one version. [`Visit::files`] and [`Visit::artifacts`] are for
//! clients that want whole files.

mod artifacts;
mod desk;
mod error;
mod files;
mod lookup;
mod questions;
mod run;
mod tools;

use std::fmt;
use std::sync::Arc;

use metier_session::SessionStore;
use metier_session::content::Call;
use metier_skill::library::Snapshot;
use metier_workspace::executor::Live;
use metier_workspace::{Runner, WorkspaceKey};
use serde_json::Value;
use tracing::Instrument;

use crate::host::{Host, NoPrompter, Prompter};
use crate::library::Library;
use crate::redaction;
use crate::spans;
use crate::stop::{Stop, TurnStopped};
use crate::texts::{StagedTexts, TextMemory};
use crate::tools::{Answer, Restriction, ToolCallError, specs};

pub use artifacts::ArtifactBytes;
pub use error::VisitError;
pub use files::{FileBytes, SkillFile};
pub use tools::{Effects, NAMES, VisitTool, name, tools};

use desk::{Desk, Memory};
use questions::Questions;
use run::Counter;

/// Largest file that is given whole, in bytes.
pub const MAX_WHOLE_BYTES: u64 = 16 << 20;

/// What visits share.
#[derive(Clone, Debug)]
pub struct Visits {
    /// The agent whose skills and decisions hold.
    pub agent: String,
    /// The skills.
    pub library: Arc<dyn Library>,
    /// Where decisions about commands on the host are written down; not needed where none runs there.
    pub sessions: Option<Arc<dyn SessionStore>>,
    /// What runs commands.
    pub runner: Runner,
    /// What commands on the host depend on; without it none runs there.
    pub host: Option<Host>,
    /// Which commands may run at all.
    pub restriction: Restriction,
    /// Whether a skill must be loaded before its commands are run.
    pub load_before_run: bool,
    /// Texts of skills that were read before.
    pub remembered_texts: TextMemory,
    /// The longest body that is given at once, in tokens.
    pub max_body_tokens: usize,
}

impl Visits {
    /// The texts of skills that are staged where commands run.
    pub(crate) fn texts(&self) -> StagedTexts {
        StagedTexts::new(self.runner.workspaces.clone(), self.remembered_texts.clone())
    }
}

/// The visit of one agent: a workspace, and what it was given.
pub struct Visit {
    desk: Arc<Desk>,
    counter: Counter,
    questions: Questions,
}

impl Visit {
    /// A visit in the workspace of a session.
    pub fn new(visits: Arc<Visits>, key: WorkspaceKey) -> Self {
        Self::with(visits, key, Memory::new())
    }

    /// The same for a client whose calls have nothing to do with each other: what one was given is not
    /// remembered for the next, and need not have been loaded before. Skills that a person started are.
    #[must_use]
    pub fn forgetful(self) -> Self {
        let visits = Arc::clone(&self.desk.visits);
        Self::with(visits, self.desk.key.clone(), Memory::forgetful())
    }

    fn with(visits: Arc<Visits>, key: WorkspaceKey, memory: Memory) -> Self {
        Self {
            desk: Arc::new(Desk::new(visits, key, memory)),
            counter: Counter::new(),
            questions: Questions::default(),
        }
    }

    /// The skills as they are now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.desk.visits.library.snapshot()
    }

    /// What may be called here.
    pub async fn tools(&self) -> Vec<VisitTool> {
        let mut tools = tools(self.desk.visits.runner.executor.sees_host());
        if !self.apart(Desk::may_reach_out).await {
            tools.iter_mut().for_each(|tool| tool.effects.reaches_out = false);
        }
        tools
    }

    /// Does what a call asks for, and asks the prompter of the host where a person has to decide. What is wrong is an
    /// answer as well.
    pub async fn call(&self, tool: &str, given: &Value, stop: &Stop, live: Live) -> Answer {
        let prompter = self.desk.visits.host.as_ref().map(|host| Arc::clone(&host.prompter));
        let prompter = prompter.unwrap_or_else(|| Arc::new(NoPrompter));
        self.call_asking(tool, given, (stop, live), &*prompter).await
    }

    /// Does what a call asks for, and asks this prompter where a person has to decide: the client whose call it is.
    pub async fn call_asking(
        &self,
        tool: &str,
        given: &Value,
        (stop, live): (&Stop, Live),
        prompter: &dyn Prompter,
    ) -> Answer {
        let is_there = NAMES.contains(&tool);
        let call = Call { name: tool.to_owned(), ..Call::default() };
        let span = spans::tool(&call, &self.desk.key.session, is_there);
        let answering = self.answer(tool, given, (stop, live), prompter).instrument(span.clone());
        let answer = self.masked(answering.await);
        spans::answered(&span, &answer);
        answer
    }

    /// Gives a skill because a person asked for it, who may also have what is hidden from models; this visit may
    /// use it from then on.
    pub async fn load_for_person(&self, skill: &str) -> Answer {
        let skill = skill.to_owned();
        let loaded = self.apart(move |desk| desk.load_for_person(&skill)).await;
        self.masked(loaded)
    }

    /// An answer as it is given away: without the values of keys.
    fn masked(&self, answer: Result<Answer, ToolCallError>) -> Answer {
        let answer = answer.unwrap_or_else(Answer::from);
        redaction::answer(&self.desk.visits.runner.redactor, answer)
    }

    async fn answer(
        &self,
        tool: &str,
        given: &Value,
        (stop, live): (&Stop, Live),
        prompter: &dyn Prompter,
    ) -> Result<Answer, ToolCallError> {
        let look: fn(&Desk, &Value) -> Result<Answer, ToolCallError> = match tool {
            specs::name::SEARCH => Desk::search,
            specs::name::LOAD => Desk::load,
            specs::name::LIST_DOCS => Desk::list_docs,
            name::READ => Desk::read,
            name::ARTIFACT => return self.read_artifact(given).await,
            specs::name::RUN => return self.run(given, (stop, live), prompter).await,
            other => return Ok(Answer::unknown_tool(other, &NAMES)),
        };
        let given = given.clone();
        self.apart_until(stop, move |desk| look(desk, &given)).await?
    }

    /// Does such work for as long as nobody stops it. Then nobody waits for it any more: it may be a server that it
    /// waits for.
    async fn apart_until<T: Send + 'static>(
        &self,
        stop: &Stop,
        work: impl FnOnce(&Desk) -> T + Send + 'static,
    ) -> Result<T, TurnStopped> {
        tokio::select! {
            biased;
            () = stop.stopped() => Err(TurnStopped),
            done = self.apart(work) => Ok(done),
        }
    }

    /// Does work that reads and writes files, apart from everything that must not wait for it.
    async fn apart<T: Send + 'static>(&self, work: impl FnOnce(&Desk) -> T + Send + 'static) -> T {
        let desk = Arc::clone(&self.desk);
        let span = tracing::Span::current();
        let work = tokio::task::spawn_blocking(move || span.in_scope(|| work(&desk)));
        match work.await {
            Ok(done) => done,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // Only with the whole runtime: nobody waits any more.
                Err(_) => std::future::pending().await,
            },
        }
    }
}

impl fmt::Debug for Visit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Visit").field("desk", &self.desk).finish_non_exhaustive()
    }
}
