//! A place to work: named trees are staged, inputs brought in, a command is run by an executor, and what
//! it made is collected and kept.
//!
//! [`Runner::run`] is the only way a command of a skill is run, whoever asks; an
//! [`Interactive`] session is such a run that is talked to.

pub mod artifact;
mod clean;
pub mod collect;
mod encode;
pub mod environment;
pub mod executor;
pub mod grant;
pub mod input;
pub mod interactive;
pub mod layout;
mod manner;
pub mod mime;
mod ownership;
pub mod path;
mod plan;
pub mod proxy;
pub mod record;
pub mod request;
pub mod run;
pub mod settle;
mod spans;
pub mod stage;
pub mod stream;
pub mod way;

pub use interactive::Interactive;
pub use layout::{SessionKey, Workspace, Workspaces};
pub use manner::Manner;
pub use request::{RunOutput, RunRequest};
pub use run::{RunError, RunOrder, RunSettings, Runner};
pub use stage::{Tree, TreeEntry, TreeKind};
