//! What sessions are told and what they answer, as JSON.

use std::time::Duration;

use metier_sandbox::ConsoleError;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::layout::WorkspaceKey;
use crate::order::RunError;
use crate::request::RunOutput;

/// Why a session could not be started or talked to.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InteractiveError {
    /// The command could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// There is no such session, or no longer.
    #[error("there is no session `{0}`; sessions are forgotten some time after their end")]
    Unknown(String),
    /// The program has ended.
    #[error("the program of session `{0}` has ended; nothing can be written to it")]
    Ended(String),
    /// As many as there may be are running.
    #[error("{0} sessions are running, which is as many as there may be; kill one first")]
    TooMany(usize),
    /// Input was not taken.
    #[error(transparent)]
    Input(#[from] ConsoleError),
    /// The program could not be ended.
    #[error("the program of session `{id}` has not ended within {} seconds", waited.as_secs())]
    Lingers {
        /// The session.
        id: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The system has no files left for another session.
    #[error("a session cannot be made: {0}")]
    System(#[from] std::io::Error),
}

/// What is typed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The characters, control characters among them: `\x03` interrupts on a terminal. On pipes a
    /// last `\x04` closes the input, as it does on a terminal.
    pub chars: &'a str,
    /// Whether a newline follows.
    pub submit: bool,
}

/// How far a session has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Whether the program runs.
    pub status: SessionStatus,
    /// The session.
    pub session_id: String,
    /// What was written since the last time, as plain text. What was given once is not given again.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// Where [`Self::output`] begins, in bytes of all plain text there was.
    pub offset: u64,
    /// Where it ends.
    pub next_offset: u64,
    /// Lines before [`Self::output`] that nobody took in time and that are gone here; the stream in
    /// the folder of the run has them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped_lines: u64,
    /// Whether there is more output already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
    /// The exit code; absent while it runs and after a signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What the program seems to wait for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interaction: Option<Interaction>,
    /// The run as a whole, when it is over. Its text is plain; the stream on disk is as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<RunOutput>>,
    /// Why there is no result, when it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Whether a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionStatus {
    /// It does.
    Running,
    /// It has ended and what it made was collected.
    Exited,
}

/// A guess at what a program waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interaction {
    /// Whether it waits for input. Always so; absent otherwise.
    pub needs_input: bool,
    /// For what.
    pub kind: InteractionKind,
    /// The line that says so.
    pub hint: String,
}

/// What kind of input a program waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InteractionKind {
    /// Text.
    Prompt,
    /// One of several numbers.
    Selection,
}

/// What became of a session that was to end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Killed {
    /// Whether it has ended.
    pub ok: bool,
    /// The session.
    pub session_id: String,
    /// How.
    pub status: EndStatus,
}

/// How a session came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndStatus {
    /// By itself.
    Exited,
    /// It was ended.
    Killed,
}

/// A session among others.
#[derive(Clone, Debug, Serialize)]
pub struct Listed {
    /// The session.
    pub session_id: String,
    /// Whose it is.
    #[serde(skip)]
    pub key: WorkspaceKey,
    /// The skill.
    pub skill: String,
    /// The command.
    pub command: String,
    /// Whether it has a terminal.
    pub tty: bool,
    /// Whether it runs.
    pub status: SessionStatus,
    /// Seconds since it was started.
    pub age_seconds: u64,
}
