//! Who decides about commands on the host and about tools of other servers, and what is asked.

use std::fmt;

use async_trait::async_trait;
use metier_approval::{Approved, Executable, FileFact, Pinned, Policy};
use metier_skill::files::Digest;
use metier_skill::library::Snapshot;
use serde::{Deserialize, Serialize};

use crate::foreign::{PinnedTool, ToolPolicy};

/// Why nobody decides about tools of other servers.
const NO_TOOLS: &str = "nobody decides about tools of other servers";

/// Decides about commands on the host, and about tools of other servers.
///
/// It is implemented by the command line, which has a person before it or not, and by programs that have
/// their own way to ask. What it says holds for one command or call; nothing is cached here.
#[async_trait]
pub trait Approver: fmt::Debug + Send + Sync {
    /// What people allow an agent with these skills, as it is now.
    ///
    /// # Errors
    ///
    /// Why nobody knows, in words for a person. Nothing runs then.
    async fn policy(&self, agent: &str, skills: &Snapshot) -> Result<Policy, String>;

    /// Asks a person. None if there is nobody who can answer.
    async fn ask(&self, question: &Question) -> Option<Decision>;

    /// Keeps commands that were allowed for good.
    ///
    /// # Errors
    ///
    /// Why they cannot be kept, in words for a person.
    async fn remember(&self, agent: &str, commands: &[Pinned]) -> Result<(), String>;

    /// What people allow an agent to call of other servers, as it is now. Whoever says nothing allows nothing.
    ///
    /// # Errors
    ///
    /// Why nobody knows, in words for a person. Nothing is called then.
    async fn tool_policy(&self, _agent: &str) -> Result<ToolPolicy, String> {
        Err(NO_TOOLS.to_owned())
    }

    /// Keeps a tool that was allowed for good.
    ///
    /// # Errors
    ///
    /// Why it cannot be kept, in words for a person.
    async fn remember_tool(&self, _agent: &str, _tool: &PinnedTool) -> Result<(), String> {
        Err(NO_TOOLS.to_owned())
    }

    /// Notes that what people allowed, by its ids, is used for a command, which is shown so. Gives whether all
    /// of it still holds: what was taken back in the meantime lets nothing run.
    ///
    /// # Errors
    ///
    /// Why nobody knows, in words for a person. Nothing runs then.
    async fn used(&self, ids: &[&str], command: &str) -> Result<bool, String>;
}

/// What a person is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Question {
    /// Whether a command may run on the host.
    Command(Box<CommandQuestion>),
    /// Whether a tool of another server may be called.
    Tool(Box<ToolQuestion>),
}

impl Question {
    /// What tells this question from every other, be it by nothing but the state of a script or by what is masked
    /// when it is shown. None if a path in it is no text.
    pub fn digest(&self) -> Option<Digest> {
        serde_json::to_vec(self).ok().map(|bytes| Digest::of_bytes(&bytes))
    }
}

/// Whether a tool of another server may be called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolQuestion {
    /// Who wants to call it.
    pub agent: String,
    /// The tool.
    pub tool: PinnedTool,
    /// All that it would be given, as JSON.
    pub arguments: String,
    /// Why a person has to decide.
    pub reason: String,
    /// Whether it can be allowed for good.
    pub can_be_kept: bool,
}

/// Whether a command may run on the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CommandQuestion {
    /// Who wants to run the command.
    pub agent: String,
    /// Through which tool.
    pub tool: String,
    /// The command as it was written.
    pub command: String,
    /// Why a person has to decide.
    pub reason: String,
    /// What would run, program by program; else a shell would be given the command.
    pub plan: Option<Approved>,
    /// The shell that would be given the command, and where.
    pub shell: Option<(Executable, FileFact)>,
    /// Where it would start.
    pub directory: String,
    /// Variables that the call sets for it.
    pub variables: Vec<(String, String)>,
    /// What it would be given to read.
    pub stdin: Option<String>,
    /// Whether the model could type into it while it runs.
    pub is_talked_to: bool,
    /// What would be kept if it were allowed for good; none where that cannot be.
    pub offer: Option<Vec<Pinned>>,
}

/// What a person decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It may run, this once.
    Once,
    /// It may run, now and whenever it is exactly the same.
    Always,
    /// It may not run.
    Deny,
}
