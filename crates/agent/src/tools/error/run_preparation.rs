//! The reasons for which a command of a skill is not run.

use metier_approval::Refusal;
use metier_workspace::RunError;
use thiserror::Error;

use super::SkillUseError;

/// The reason for which a command is not run, whoever would have to allow it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunPreparationError {
    /// Its skill has to be loaded first.
    #[error("`{skill}` is not loaded; call skill_load for `{skill}` and follow its instructions")]
    NotLoaded {
        /// The skill.
        skill: String,
    },
    /// A variable of the call is neither declared by the skill nor listed in the configuration.
    #[error(
        "this was not run: `{}` may not be set in `env` here, where only variables may be set that the skill declares in `requires.env` or that `approvals.variables` lists; leave it out",
        name.escape_debug()
    )]
    Variable {
        /// The variable.
        name: String,
    },
    /// A list of allowed commands is empty.
    #[error("this was not run: no command is allowed")]
    NothingAllowed,
    /// The lists of commands do not let it through.
    #[error("this was not run: {source}{}", allowed_are(allowed))]
    Restricted {
        /// The reason.
        source: Refusal,
        /// The list of allowed commands that it is not on; empty if there is no such list.
        allowed: Vec<String>,
    },
    /// It is of no skill in particular, and no skill can be used.
    #[error("{}", no_skills(problems))]
    NoSkills {
        /// The reason for each skill that there is.
        problems: Vec<SkillUseError>,
    },
    /// The request is wrong, or the command cannot be started.
    #[error(transparent)]
    Run(#[from] RunError),
}

fn allowed_are(allowed: &[String]) -> String {
    if allowed.is_empty() {
        return String::new();
    }
    format!("; allowed are: {}", allowed.join(", "))
}

fn no_skills(problems: &[SkillUseError]) -> String {
    let problems: String = problems.iter().map(|problem| format!("; {problem}")).collect();
    format!("there are no skills to run commands for{problems}")
}
