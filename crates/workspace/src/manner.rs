//! How a command is run: by a shell, or without one.
//!
//! The text of a command is what somebody asked for; whoever judged it says here what is done about it.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use metier_sandbox::{Descriptor, Joint, SpawnError, To, Walk, Walked};
use serde::Serialize;

use crate::executor::{ExecuteError, Executor};
use crate::order::RunError;

/// How a command is run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// Its text is given to a shell.
    #[default]
    Shell,
    /// As one program and its arguments, in their place. A name without a slash is looked for in `PATH`
    /// of the run.
    Arguments(Vec<String>),
    /// As the programs of a plan. Only the executor `host` does that.
    Plan(Walk),
}

impl Manner {
    /// Refuses what no executor can run, or this one cannot.
    pub(crate) fn check(
        &self,
        outside: Option<&Path>,
        executor: &Executor,
    ) -> Result<(), RunError> {
        let needs_host = matches!(self, Self::Plan(_)) || outside.is_some();
        if needs_host && !executor.sees_host() {
            return Err(ExecuteError::HostOnly(executor.name()).into());
        }
        if let Some(folder) = outside.filter(|folder| !folder.is_absolute()) {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "it is not absolute");
            let path = folder.display().to_string();
            return Err(ExecuteError::from(SpawnError::Directory { path, source }).into());
        }
        match self {
            Self::Arguments(words) if words.first().is_none_or(String::is_empty) => {
                Err(RunError::Command("it is empty"))
            }
            Self::Arguments(words) if words.iter().any(|word| word.contains('\0')) => {
                Err(RunError::Command("it has a zero byte"))
            }
            _ => Ok(()),
        }
    }

    /// The programs of a plan, in their order.
    pub(crate) fn programs(&self) -> Vec<PlannedProgram> {
        let Self::Plan(walk) = self else { return Vec::new() };
        let steps = walk.steps.iter().enumerate();
        let all = steps.flat_map(|(number, step)| {
            step.programs.iter().map(move |program| planned(number, step.joint, program))
        });
        all.collect()
    }
}

/// A program of a plan, as the record has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PlannedProgram {
    /// The number of its step; programs of one step run at the same time.
    step: usize,
    /// When that is taken.
    joint: &'static str,
    executable: String,
    arguments: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    environment: Vec<String>,
    directory: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    redirections: Vec<String>,
}

fn planned(step: usize, joint: Joint, program: &Walked) -> PlannedProgram {
    let text = |text: &OsString| text.to_string_lossy().into_owned();
    let variables = program.environment.iter();
    let redirections = program.redirections.iter();
    PlannedProgram {
        step,
        joint: match joint {
            Joint::Always => "always",
            Joint::Success => "success",
            Joint::Failure => "failure",
        },
        executable: program.executable.display().to_string(),
        arguments: program.arguments.iter().map(text).collect(),
        environment: variables.map(|it| format!("{}={}", text(&it.0), text(&it.1))).collect(),
        directory: program.directory.display().to_string(),
        redirections: redirections.map(|(descriptor, to)| redirection(*descriptor, to)).collect(),
    }
}

/// A redirection as a shell has it.
fn redirection(descriptor: Descriptor, to: &To) -> String {
    let number = |descriptor| match descriptor {
        Descriptor::Input => 0,
        Descriptor::Output => 1,
        Descriptor::Error => 2,
    };
    let from = number(descriptor);
    match to {
        To::Nothing => format!("{from}<>/dev/null"),
        To::Same(other) => format!("{from}>&{}", number(*other)),
        To::Read(path) => format!("{from}<{}", path.display()),
        To::Write(path) => format!("{from}>{}", path.display()),
        To::Append(path) => format!("{from}>>{}", path.display()),
    }
}
