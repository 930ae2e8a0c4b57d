//! Who decides about commands on the host and about tools of other servers, and what is asked.

use std::fmt;

use async_trait::async_trait;
use metier_approval::{Approved, Executable, FileFact, Pinned, Policy};
use metier_skill::files::Digest;
use metier_skill::library::Snapshot;
use serde::{Deserialize, Serialize};

use super::error::ApproverError;
use crate::foreign::{PinnedTool, ToolPolicy};

/// Decides about commands on the host, and about tools of other servers.
///
/// It is implemented by the command line, which has a person before it or not, and by programs that have
/// their own way to ask. What it says holds for one command or call; nothing is cached here. What it must uphold:
///
/// - Answers are those of the moment. [`policy`](Self::policy) is asked for each command, and again right before that runs.
/// - [`used`](Self::used) says `false` as soon as something that it is asked about was taken back.
///
/// This one allows `ls`, and asks about everything else:
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use async_trait::async_trait;
/// use metier_agent::{
///     Agent, Approver, ApproverError, Decision, Folders, Host, Prompter, Question, Task, ToolSet, stop, unwatched,
/// };
/// use metier_approval::{ArgumentRule, Ask, Entry, Mode, Pinned, Policy, ProtectedPlaces, Rules, shown};
/// use metier_model::Scripted;
/// use metier_session::{Content, MemoryStore, SessionKey};
/// use metier_skill::library::Snapshot;
/// use metier_workspace::{LocalExecutor, Runner};
///
/// /// A person who says no, and what she was shown.
/// #[derive(Debug, Default)]
/// struct Careful(Mutex<Vec<String>>);
///
/// #[async_trait]
/// impl Approver for Careful {
///     async fn policy(&self, _agent: &str, _skills: &Snapshot) -> Result<Policy, ApproverError> {
///         let ls = Entry { id: "1".into(), pattern: "ls".into(), arguments: ArgumentRule::Known, directory: None };
///         Ok(Policy {
///             rules: Rules { mode: Mode::Allowlist, ask: Ask::OnMiss, fallback: Mode::Deny },
///             entries: vec![ls],
///             remembered: vec![],
///             safe_programs: vec![],
///             trusted_folders: vec!["/usr/bin".into(), "/bin".into()],
///             skill_programs: vec![],
///             writable: vec![],
///             variables: vec![],
///             protected: ProtectedPlaces::default(),
///         })
///     }
///
///     async fn remember(&self, _agent: &str, _commands: &[Pinned]) -> Result<(), ApproverError> {
///         Err(ApproverError::new(std::io::Error::other("nothing is kept here")))
///     }
///
///     async fn used(&self, _ids: &[&str], _command: &str) -> Result<bool, ApproverError> {
///         Ok(true)
///     }
/// }
///
/// #[async_trait]
/// impl Prompter for Careful {
///     async fn ask(&self, question: &Question) -> Option<Decision> {
///         // A model wrote the command. `shown` escapes what cannot be seen and masks secrets.
///         let Question::Command(question) = question else { return Some(Decision::Deny) };
///         let lines = shown(question.plan.as_ref()?).ok()?.lines;
///         self.0.lock().unwrap().extend(lines);
///         Some(Decision::Deny)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let state = folder.path().join("state");
/// # let places = [folder.path().join("skills")];
/// # std::fs::create_dir_all(places[0].join("tidy"))?;
/// # std::fs::write(places[0].join("tidy/SKILL.md"), "---\nname: tidy\ndescription: Tidies up.\n---\n\nUse rm.\n")?;
/// let model = Arc::new(Scripted::from_text(
///     r#"{"calls": [{"name": "exec", "arguments": {"command": "ls && rm -r work"}}]}
///        {"text": "You did not let me."}"#,
/// )?);
/// let (skills, sessions) = (Arc::new(Folders::new(places)), Arc::new(MemoryStore::new()));
/// let runner = Runner { executor: LocalExecutor::Host.into(), ..Runner::sandboxed(&state)? };
/// let mut agent = Agent::new(model, skills, sessions, runner);
/// agent.settings.prompt.tools = ToolSet::Files;
/// let person = Arc::new(Careful::default());
/// let home = folder.path().canonicalize()?;
/// let (approver, prompter) = (person.clone(), person.clone());
/// agent.host = Some(Host { folder: home, readable: vec![], approver, prompter });
///
/// let (_stopper, stop) = stop();
/// let session = SessionKey::new("docs", "ada", "careful")?;
/// let outcome = agent.run(&session, Task::new("Tidy up."), unwatched(), &stop).await?;
/// let results = outcome.events.iter().filter_map(|event| match &event.content {
///     Content::ToolResponse(response) => Some(response.text.as_str()),
///     _ => None,
/// });
/// assert_eq!(results.collect::<Vec<_>>(), ["the user did not allow this; do not try it in another way, say what you need it for"]);
/// assert_eq!(*person.0.lock().unwrap(), ["ls", "&& rm -r work"]);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Approver: fmt::Debug + Send + Sync {
    /// What people allow an agent with these skills, as it is now.
    ///
    /// # Errors
    ///
    /// When that is not known. Nothing runs then, and the model is told the text of the error.
    async fn policy(&self, agent: &str, skills: &Snapshot) -> Result<Policy, ApproverError>;

    /// Keeps commands that were allowed for good.
    ///
    /// # Errors
    ///
    /// When they cannot be kept. The session says so, in the words of the error.
    async fn remember(&self, agent: &str, commands: &[Pinned]) -> Result<(), ApproverError>;

    /// What people allow an agent to call of other servers, as it is now. Whoever says nothing allows nothing.
    ///
    /// # Errors
    ///
    /// When that is not known. Nothing is called then, and the model is told the text of the error.
    async fn tool_policy(&self, _agent: &str) -> Result<ToolPolicy, ApproverError> {
        Err(ApproverError::NoTools)
    }

    /// Keeps a tool that was allowed for good.
    ///
    /// # Errors
    ///
    /// When it cannot be kept. The session says so, in the words of the error.
    async fn remember_tool(&self, _agent: &str, _tool: &PinnedTool) -> Result<(), ApproverError> {
        Err(ApproverError::NoTools)
    }

    /// Notes that what people allowed, by its ids, is used for a command, which is shown so. Gives whether all
    /// of it still holds: what was taken back in the meantime lets nothing run.
    ///
    /// # Errors
    ///
    /// When that is not known. Nothing runs then, and the model is told the text of the error.
    async fn used(&self, ids: &[&str], command: &str) -> Result<bool, ApproverError>;
}

/// What a person is asked, as it would be done. [`Question::shown`] is for the eye.
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
#[derive(Clone, PartialEq, Eq, Serialize)]
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

/// Without the values of variables and what the command reads, which may be secret.
impl fmt::Debug for CommandQuestion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.variables.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("CommandQuestion")
            .field("agent", &self.agent)
            .field("tool", &self.tool)
            .field("command", &self.command)
            .field("reason", &self.reason)
            .field("directory", &self.directory)
            .field("variables", &names)
            .field("is_talked_to", &self.is_talked_to)
            .finish_non_exhaustive()
    }
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
