//! What a command would do, in full: the programs it starts and how they are joined.
//!
//! Words are final. Quotes are gone and nothing in them is expanded any more, so running a plan needs
//! no shell.

use std::path::PathBuf;

use serde::Serialize;

/// What a command would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Its steps, in their order.
    pub steps: Vec<Step>,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// When it is taken.
    pub joint: Joint,
    /// What is done.
    #[serde(flatten)]
    pub action: Action,
}

/// When a step is taken, by how the last step that was taken ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Joint {
    /// Whatever happened: the first step, and what follows `;` or a new line.
    Always,
    /// After success: `&&`.
    Success,
    /// After failure: `||`.
    Failure,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Goes to another folder: `cd`. It succeeds, or nothing of the plan may run.
    Enter(PathBuf),
    /// Runs programs at the same time, each one's output the next one's input.
    Run(Vec<Simple>),
}

/// A program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Simple {
    /// Variables for this program alone, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<(String, String)>,
    /// The program as it was written, and its arguments. Never empty.
    pub words: Vec<String>,
    /// What becomes of its files, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redirections: Vec<Redirection>,
    /// Where it runs, seen from where the plan starts: empty, relative, or absolute, without `.` and
    /// with `..` only at its beginning.
    pub directory: PathBuf,
}

/// One of the three files that programs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Descriptor {
    /// Standard input.
    Input,
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// What becomes of a file of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Redirection {
    /// Which.
    pub descriptor: Descriptor,
    /// What it is from here on.
    pub target: Target,
}

/// What a file of a program is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// Nothing to read, and nowhere: `/dev/null`.
    Nothing,
    /// The same as another of its files at this moment: `2>&1`.
    Same(Descriptor),
    /// A file that is read: `< path`. Seen from the folder of the program, as it was written.
    Read(String),
    /// A file that is made or emptied and written: `> path`.
    Write(String),
    /// A file that is made, or written to at its end: `>> path`.
    Append(String),
}
