//! What is decided about a command, and why.

use std::path::PathBuf;

use serde::Serialize;

use crate::facts::{Executable, FileFact};
use crate::plan::{Plan, Simple};
use crate::policy::{Mode, Rules};

/// What is decided about a command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// It may run, exactly so.
    Allow(Approved),
    /// Everything may run, and a person need not be asked: the text may be given to a shell although nobody can
    /// say what it does. Never with any mode but [`Mode::Full`].
    AllowText {
        /// Why there is no plan.
        reason: String,
    },
    /// A person decides.
    Ask {
        /// Why nobody else can, in words for that person.
        reason: String,
        /// What would run, if it can be said; else the text would be given to a shell.
        plan: Option<Approved>,
        /// What would be remembered if it were allowed for good; none where that cannot be offered.
        offer: Option<Vec<Pinned>>,
    },
    /// It may not run.
    Deny {
        /// Why, in words for a person and for a model.
        reason: String,
    },
}

/// A plan of which everything is known, as it may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Approved {
    /// What is done.
    pub plan: Plan,
    /// What was found out about each program, in the order of the plan.
    pub programs: Vec<Judged>,
    /// The folder where it starts, with all links followed.
    pub directory: FileFact,
}

/// What was found out about a program of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// The program itself.
    pub program: Executable,
    /// Programs that it starts for certain, if it is a wrapper: what each is, and which of its words names it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inner: Vec<(usize, Executable)>,
    /// Where it runs.
    pub directory: FileFact,
    /// Places that it writes, as far as its arguments say so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<WrittenPlace>,
    /// Scripts that it is told to run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<FileFact>,
    /// Who allows it; none if nobody does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
}

/// A place that a program writes, and where it leads. What is judged is where it leads, so it must still lead there when
/// the program starts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct WrittenPlace {
    /// As the program finds it: absolute, links not followed.
    pub path: PathBuf,
    /// Where it may lead, with links followed as far as there is something.
    pub real: Vec<PathBuf>,
    /// Whether it must be a folder, because something is put into it.
    pub is_folder: bool,
}

/// Who allows a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// An entry of the list, by its id.
    Entry(String),
    /// What a person allowed for good, by its id.
    Remembered(String),
    /// The tables of harmless filters.
    Safe,
    /// A skill that brings or needs it.
    Skill(String),
    /// Everything may run.
    Full,
}

/// A command that could be remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pinned {
    /// The command.
    pub command: Simple,
    /// The program, with all links followed.
    pub program: PathBuf,
    /// The digest of what is in it.
    pub sha256: String,
    /// Where, with all links followed.
    pub directory: PathBuf,
}

impl Verdict {
    /// What becomes of it where nobody can be asked.
    pub fn without_a_person(self, rules: &Rules) -> Self {
        let Self::Ask { reason, plan, .. } = self else { return self };
        let fallback = rules.fallback.min(rules.mode);
        match plan {
            Some(plan) if fallback == Mode::Allowlist && plan.is_covered() => Self::Allow(plan),
            Some(plan) if fallback == Mode::Full => Self::Allow(plan.with_everything_allowed()),
            _ => Self::Deny { reason: format!("nobody can be asked: {reason}") },
        }
    }
}

impl Approved {
    /// Whether somebody allows each of its programs as it is.
    #[must_use]
    pub fn is_covered(&self) -> bool {
        self.programs.iter().all(|program| program.basis.is_some())
    }

    pub(crate) fn with_everything_allowed(mut self) -> Self {
        for program in &mut self.programs {
            program.basis.get_or_insert(Basis::Full);
        }
        self
    }
}
