//! metier without a user interface: everything a front end can ask for.
//!
//! An [`App`] is opened from an [`Environment`] (a state directory, a working directory, variables) and a
//! [`Principal`]. It finds skills, assembles agents, runs commands, keeps sessions, approvals and artifacts, and looks
//! after the state directory. Front ends are the command line, the servers, and programs that embed metier.
//!
//! The crate does not print, parse arguments, read variables or block a runtime. It speaks to people through two traits:
//! [`Reporter`] for notices and progress, and [`Prompter`] for questions. Its errors have a [kind](ErrorKind), a source
//! and [advice](Advice) as data; a front end words them.

mod advice;
mod app;
pub mod approvals;
mod assembly;
mod bundled;
mod environment;
mod error;
pub mod executors;
pub mod grants;
pub mod library;
pub mod masking;
pub mod models;
pub mod ops;
mod principal;
mod reporter;
pub mod servers;
pub mod sessions;
pub mod sources;
pub mod state;
pub mod turn;

pub use advice::Advice;
pub use app::{App, AppOptions};
pub use assembly::{AgentChoices, AssemblyError};
pub use environment::Environment;
pub use error::{AppError, ErrorKind};
pub use library::live::SkillLibrary;
pub use metier_agent::host::{Decision, NoPrompter, Prompter, Question};
pub use metier_config::ExecutorKind;
pub use principal::Principal;
pub use reporter::{
    Activity, ErrorWording, Notice, OngoingActivity, Reporter, SessionChoice, SilentReporter,
    WatchLimit,
};
pub use sources::SourceSelection;
pub use turn::{TurnMessage, TurnRequest};
