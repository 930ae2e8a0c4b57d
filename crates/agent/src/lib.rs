//! The agent: what a model is told and given, what happens with its calls, and what is written down.
//!
//! - [`prompt`] makes the beginning of a session, [`conversation`] every request that follows from its
//!   events, with the text of skills where [`shown`] says it stands.
//! - [`turn`] says what has to happen next; [`Agent::run`] does it; [`tools`] are what a model can call, with
//!   [those of the program](Tool) among them.
//! - [`host`] decides about commands on the host, and runs what was allowed.
//! - [`foreign`] has tools of other servers, and the gate before them.
//! - [`dispatch`] gives a command of a person to a tool.
//! - [`fence`] finds code in a reply, for those who want it run.
//! - [`offline`] is a model that needs no network.
//! - [`measure`] says what requests cost, and how much of them a provider's cache has.
//! - [`shelf`] reads and changes which skills are loaded; [`changes`] tells a model of a changed library.
//!
//! Nothing here prints, reads the environment or knows where skills are: a [`Library`] does.
//!
//! An agent over a folder of skills, with commands in the sandbox:
//!
//! ```standalone_crate
//! use std::sync::Arc;
//!
//! use metier_agent::{Agent, Folders, Library, Offline, Task, stop, unwatched};
//! use metier_session::{SessionKey, SqliteStore};
//! use metier_workspace::Runner;
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn run() -> Result<(), Box<dyn std::error::Error>> {
//!     let folder = tempfile::tempdir()?;
//!     let skill = folder.path().join("skills/greet");
//!     std::fs::create_dir_all(&skill)?;
//!     let text = "---\nname: greet\ndescription: Greets a user.\n---\n\n```sh\necho good day\n```\n";
//!     std::fs::write(skill.join("SKILL.md"), text)?;
//!
//!     let skills = Arc::new(Folders::new([folder.path().join("skills")]));
//!     for problem in &skills.snapshot().problems {
//!         eprintln!("{problem}"); // A folder that is not there, a header that cannot be read, …
//!     }
//!     // The offline planner needs no key. `metier_model::open` makes models that do.
//!     let model = Arc::new(Offline::new(skills.snapshot()));
//!     let state = folder.path().join("state");
//!     let runner = Runner::sandboxed(&state)?;
//!     let sessions = Arc::new(SqliteStore::open(&state.join("sessions.db"))?);
//!     let agent = Agent::new(model, skills, sessions, runner);
//!
//!     let session = SessionKey::new("docs", "ada", "first")?;
//!     let (_stopper, stop) = stop();
//!     let outcome = agent.run(&session, Task::new("Greet the user."), unwatched(), &stop).await?;
//!     let answer = outcome.answer()?; // Or how the turn ended without one.
//!     assert!(answer.contains("good day"), "{answer}");
//!     Ok(())
//! }
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     metier_sandbox::helper(); // First of all: to confine a command, the sandbox starts this program again.
//!     run()
//! }
//! ```
//!
//! The folder `examples/` of the repository has this and more as whole programs. Parts of your own are a [`Tool`], a
//! [`Library`], an [`Approver`]; the crates of models, sessions and workspaces have traits for the rest.

pub mod agent;
mod attach;
mod begin;
pub mod block;
mod calls;
pub mod causes;
pub mod changes;
mod choice;
mod compact;
pub mod conversation;
pub mod dispatch;
mod draft;
pub mod fence;
mod fetched;
pub mod folders;
pub mod foreign;
pub mod host;
pub mod library;
pub mod measure;
pub mod offline;
pub mod prompt;
mod redaction;
pub mod runner;
pub mod session_identity;
pub mod shelf;
pub mod shown;
mod spans;
pub mod stop;
pub mod texts;
mod thread;
pub mod tools;
pub mod turn;
mod turns;
pub mod visit;
mod written;

pub use agent::{
    Agent, AgentError, AgentSettings, LoadMode, LoadRequest, Outcome, Progress, Task, Watcher,
    unwatched,
};
pub use dispatch::Dispatch;
pub use folders::Folders;
pub use foreign::{Foreign, ForeignServers, ToolDefinitionError};
pub use host::{
    Approver, ApproverError, CommandQuestion, Decision, Host, NoPrompter, Prompter, Question,
    ToolQuestion,
};
pub use library::{Library, LibraryError};
pub use offline::Offline;
pub use prompt::PromptSettings;
pub use stop::{Stop, StopOnDrop, Stopper, TurnStopped, stop};
pub use tools::run::Restriction;
pub use tools::{Answer, Tool, ToolCall, ToolCallError, ToolError, ToolResult, ToolSet};
pub use turn::{Ending, TurnLimits};
pub use turns::Turns;
