//! An agent: a model, skills, sessions and a place to work, with what holds for its turns.

use std::fmt;
use std::sync::Arc;

use metier_model::{Model, ModelError};
use metier_sandbox::Stream;
use metier_session::content::{Attachment, Call};
use metier_session::{DeltaError, Event, SessionError, SessionStore};
use metier_workspace::interactive::InteractiveOptions;
use metier_workspace::{Interactive, Runner};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::foreign::ForeignServers;
use crate::host::Host;
use crate::library::Library;
use crate::prompt::PromptSettings;
use crate::shelf::DEFAULT_AGENT;
use crate::texts::{StagedTexts, TextError, TextMemory};
use crate::tools::{Restriction, Tool, ToolCallError, ToolError};
use crate::turn::{Ending, TurnLimits};
use crate::turns::Turns;

/// The share of a model's tokens at which older turns are usually summarised.
pub(crate) const COMPACT_AT: f64 = 0.8;

/// How long a loaded skill stays loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadMode {
    /// Until the next message of a person.
    #[default]
    Turn,
    /// For the next request.
    Once,
    /// Until it is cleared or makes room for another.
    Session,
}

/// What holds for the turns of an agent.
#[derive(Clone, Debug)]
pub struct AgentSettings {
    /// What requests begin with.
    pub prompt: PromptSettings,
    /// How much one turn may take.
    pub limits: TurnLimits,
    /// How long a loaded skill stays loaded; [`LoadMode::Turn`] by default.
    pub mode: LoadMode,
    /// Most skills that are loaded at once.
    pub max_loaded_skills: Option<usize>,
    /// Tokens of skills no longer loaded that stay where they are, for the cache's sake.
    pub retain_tokens: usize,
    /// Whether a skill must be loaded before its commands are run.
    pub load_before_run: bool,
    /// Which commands may run at all.
    pub restriction: Restriction,
    /// Commands that run at the same time.
    pub parallel_tools: usize,
    /// Tokens that fit into the model: 128 000, unless it is set to what the model has. No server says.
    pub context_tokens: usize,
    /// The share of them at which older turns are summarised, from 0.01 to 1; 0.8 by default. What is beyond counts as the
    /// nearest, and what is no number as the default.
    pub compact_at: f64,
    /// How long a reply may be, in tokens.
    pub max_output_tokens: Option<u32>,
    /// Whether the server is asked to have the model choose a skill, or none, in the first request of a turn in which
    /// none is loaded. Small models find a skill more often then; not every server can enforce it.
    pub constrained: bool,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            prompt: PromptSettings::default(),
            limits: TurnLimits::default(),
            mode: LoadMode::default(),
            max_loaded_skills: None,
            retain_tokens: 32_000,
            load_before_run: true,
            restriction: Restriction::default(),
            parallel_tools: 4,
            context_tokens: 128_000,
            compact_at: COMPACT_AT,
            max_output_tokens: None,
            constrained: false,
        }
    }
}

/// An agent: a model with skills, sessions, and a place in which commands run. [`Agent::new`] makes one.
///
/// Everything lasting is in the store and in the runner's folder, so one agent serves any number of sessions at once,
/// and a clone is as good. What it has itself are the [programs](Agent::programs) that commands left running: they end with
/// the last clone. So make it once and keep it, and not anew for each request.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its name. What is loaded in a session and what people allowed is kept under it, so two agents that share sessions
    /// need two names.
    pub name: String,
    /// Who answers.
    pub model: Arc<dyn Model>,
    /// The skills.
    pub library: Arc<dyn Library>,
    /// Where sessions are kept.
    pub sessions: Arc<dyn SessionStore>,
    /// What runs commands.
    pub runner: Runner,
    /// Programs that commands left running. They end when the last clone of the agent is dropped.
    pub programs: Arc<Interactive>,
    /// What commands on the host depend on; without it none runs there.
    pub host: Option<Host>,
    /// Other servers whose tools it has.
    pub foreign: Option<ForeignServers>,
    /// Tools of the program itself, which a session has from its beginning.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Texts of skills that were read before.
    pub remembered_texts: TextMemory,
    /// What holds for its turns.
    pub settings: AgentSettings,
    /// The sessions in which a turn is under way, of this agent and its clones.
    pub turns: Turns,
}

impl Agent {
    /// An agent with the usual settings: no commands on the host, no other servers and no tools but its own. Every
    /// field can be set afterwards.
    ///
    /// The runner says where commands run and files are kept; [`Runner::sandboxed`] is one that needs only a folder.
    pub fn new(
        model: Arc<dyn Model>,
        library: Arc<dyn Library>,
        sessions: Arc<dyn SessionStore>,
        runner: Runner,
    ) -> Self {
        Self {
            name: DEFAULT_AGENT.to_owned(),
            model,
            library,
            sessions,
            programs: Arc::new(Interactive::new(InteractiveOptions::default())),
            remembered_texts: TextMemory::default(),
            runner,
            host: None,
            foreign: None,
            tools: Vec::new(),
            settings: AgentSettings::default(),
            turns: Turns::default(),
        }
    }

    /// The texts of skills that are staged where its commands run.
    pub fn texts(&self) -> StagedTexts {
        StagedTexts::new(self.runner.workspaces.clone(), self.remembered_texts.clone())
    }
}

/// What a person asks for.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// The words.
    pub text: String,
    /// Files that came with it and are in the workspace: [`Agent::attach`] puts them there.
    pub attachments: Vec<Attachment>,
    /// Skills that are loaded without the model asking.
    pub loads: Vec<LoadRequest>,
}

impl Task {
    /// A task in these words, without anything else.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// A skill that is loaded without the model asking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadRequest {
    /// The skill.
    pub skill: String,
    /// Docs of it.
    pub docs: Vec<String>,
    /// All docs of it.
    pub include_all_docs: bool,
}

/// How a turn went.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// What the model said last. It is the answer only if the turn ended with one: see [`Outcome::answer`].
    pub text: String,
    /// The events of the turn.
    pub events: Vec<Event>,
}

impl Outcome {
    /// The answer.
    ///
    /// # Errors
    ///
    /// How the turn ended without one. [`Outcome::text`] is then what was said before, or a part of the answer.
    pub fn answer(&self) -> Result<&str, Ending> {
        match &self.ending {
            Ending::Answered => Ok(&self.text),
            ending => Err(ending.clone()),
        }
    }
}

/// Something that happens in a turn, for whoever watches.
#[derive(Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// Servers are asked for their tools, before the first request.
    Connecting,
    /// A request is sent.
    Asking,
    /// The next request is for a summary of older turns: what the model says until then is not for
    /// people.
    Summarising,
    /// The model says more.
    Text(&'a str),
    /// The model thinks more.
    Reasoning(&'a str),
    /// The request failed and is sent again; what was said so far is void.
    Retrying(&'a str),
    /// A tool is started.
    Started(&'a Call),
    /// A command writes something.
    Output(&'a Call, Stream, &'a [u8]),
    /// Something cannot be used, and the rest goes on without it.
    Without(&'a str),
    /// Something was added to the session.
    Appended(&'a Event),
}

/// Whoever watches a turn.
pub type Watcher = Arc<dyn Fn(&Progress<'_>) + Send + Sync>;

/// Nobody watches.
pub fn unwatched() -> Watcher {
    Arc::new(|_| {})
}

/// Why a turn could not go on. The session has everything that happened until then.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The model gave no reply.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The session cannot be read or written.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A text that was shown once is gone.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The state cannot be changed like that.
    #[error(transparent)]
    State(#[from] DeltaError),
    /// A skill that was to be loaded cannot be.
    #[error("{source}")]
    Load {
        /// The skill, as the task names it.
        skill: String,
        /// The reason, whose text names the skill and says what to do.
        source: Box<ToolCallError>,
    },
    /// The conversation does not fit into the model, not even summarised.
    #[error(
        "the conversation does not fit into the model, not even summarised; start a new session"
    )]
    TooLong,
    /// Another turn of the session is under way in this agent or a clone of it. Nothing has happened.
    #[error("a turn of session `{session}` is under way; wait until it has ended")]
    Busy {
        /// The session.
        session: String,
    },
    /// A tool of the program cannot be offered. Nothing has happened.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A file that comes with a task cannot be put into the workspace.
    #[error("`{name}` cannot be put into the workspace")]
    Attach {
        /// What it is called.
        name: String,
        /// Why not.
        source: std::io::Error,
    },
    /// Nothing can be started.
    #[error("a command cannot be started")]
    Io(#[from] std::io::Error),
}

impl fmt::Display for LoadMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Turn => "turn",
            Self::Once => "once",
            Self::Session => "session",
        })
    }
}
