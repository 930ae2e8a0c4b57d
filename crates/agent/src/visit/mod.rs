//! Visits: the model of another agent uses our tools.
//!
//! It has its own conversation, which we do not see: nothing is loaded for a request of ours, so what a tool gives is
//! all there is. [`tools`] says what it may call, [`Visit::call`] does it; a visit remembers which version of a skill
//! was given, so that instructions and scripts are of one version.

mod tools;

use std::sync::Arc;

use metier_session::SessionStore;
use metier_skill::library::Snapshot;
use metier_workspace::executor::Live;
use metier_workspace::{Runner, SessionKey};
use serde_json::Value;

use crate::host::Host;
use crate::library::Library;
use crate::stop::Stop;
use crate::tools::Answer;
use crate::tools::run::Restriction;

pub use tools::{Effects, VisitTool, name, tools};

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
    /// The longest body that is given at once, in tokens.
    pub max_body_tokens: usize,
}

/// The visit of one agent: a workspace, and what it was given.
#[derive(Debug)]
pub struct Visit {
    visits: Arc<Visits>,
    key: SessionKey,
}

impl Visit {
    /// A visit in the workspace of a session.
    pub fn new(visits: Arc<Visits>, key: SessionKey) -> Self {
        Self { visits, key }
    }

    /// The skills as they are now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.visits.library.snapshot()
    }

    /// Whose workspace and artifacts are used.
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// Does what a call asks for. What is wrong is an answer as well.
    pub async fn call(&self, tool: &str, given: &Value, stop: &Stop, live: Live) -> Answer {
        let _ = (given, stop, live);
        Answer::unknown_tool(tool, &[])
    }
}
