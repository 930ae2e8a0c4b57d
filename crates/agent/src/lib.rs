//! The agent: what a model is told and given, what happens with its calls, and what is written down.
//!
//! - [`prompt`] makes the beginning of a session, [`conversation`] every request that follows from its
//!   events, with the text of skills where [`shown`] says it stands.
//! - [`turn`] says what has to happen next; [`Agent::run`] does it; [`tools`] are what a model can call.
//! - [`host`] decides about commands on the host, and runs what was allowed.
//! - [`foreign`] has tools of other servers, and the gate before them.
//! - [`dispatch`] gives a command of a person to a tool.
//! - [`fence`] finds code in a reply, for those who want it run.
//! - [`offline`] is a model that needs no network.
//! - [`measure`] says what requests cost, and how much of them a provider's cache has.
//! - [`shelf`] reads and changes which skills are loaded; [`changes`] tells a model of a changed library.
//!
//! Nothing here prints, reads the environment or knows where skills are: a [`Library`] does.

pub mod agent;
mod begin;
pub mod block;
mod calls;
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
pub mod runner;
pub mod shelf;
pub mod shown;
mod spans;
pub mod stop;
pub mod texts;
mod thread;
pub mod tools;
pub mod turn;
pub mod visit;
mod written;

pub use agent::{Agent, AgentError, AgentSettings, LoadMode, LoadRequest, Outcome, Progress, Task};
pub use dispatch::Dispatch;
pub use folders::Folders;
pub use foreign::{Foreign, ForeignServers};
pub use host::{Approver, Host};
pub use library::{Library, LibraryError};
pub use stop::{Stop, Stopper, stop};
pub use turn::Ending;
