//! Runs that are restricted by lists of commands: one plain command, and nothing of a shell.
//!
//! No machine is looked at, so only names count. A list of denied commands keeps them from being named, also
//! behind programs that start others; code that is allowed to run can still look for them.

use thiserror::Error;

use crate::parse::parse;
use crate::plan::{Action, Plan, Simple};
use crate::show::brief;
use crate::tables::{self, Kind};

/// Most programs that start each other.
const MAX_DEPTH: usize = 4;

/// Why a restricted run is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It is not one plain command.
    #[error("only one plain command may run here, without anything of a shell: this has {what}")]
    Syntax {
        /// What it has.
        what: String,
    },
    /// It is on the list of denied commands.
    #[error("`{name}` is a denied command")]
    Denied {
        /// The command.
        name: String,
    },
    /// It is not on the list of allowed commands.
    #[error("`{name}` is not among the allowed commands")]
    NotAllowed {
        /// The command.
        name: String,
    },
    /// It could start a command that is denied or not allowed.
    #[error(
        "`{name}` could start other commands that nobody sees, so it may not run where some are denied or only some allowed"
    )]
    Opaque {
        /// The command.
        name: String,
    },
}

/// The words of a command that may run under lists of allowed and denied commands.
///
/// Without a list of allowed commands all are, and an empty one allows none; what is denied is denied whoever allows it.
///
/// # Errors
///
/// Why it may not run.
pub fn restricted(
    text: &str,
    allowed: Option<&[String]>,
    denied: &[String],
) -> Result<Vec<String>, Refusal> {
    let plan = parse(text).map_err(|problem| Refusal::Syntax { what: problem.what })?;
    let words = only(plan)?;
    let mut rest = words.as_slice();
    for _ in 0..=MAX_DEPTH {
        let Some(word) = rest.first() else { break };
        let name = brief(word);
        if is_denied(word, denied) {
            return Err(Refusal::Denied { name });
        }
        if allowed.is_some_and(|allowed| !is_allowed(word, allowed)) {
            return Err(Refusal::NotAllowed { name });
        }
        match tables::kind_of(word, None) {
            Kind::Wrapper(wrapper) => match tables::inner_of(wrapper, rest) {
                Ok(None) => return Ok(words),
                Ok(Some(inner))
                    if !inner
                        .variables
                        .iter()
                        .any(|(name, _)| tables::is_loader_variable(name)) =>
                {
                    rest = &rest[inner.at..];
                }
                _ => return Err(Refusal::Opaque { name }),
            },
            Kind::Shell | Kind::Runner | Kind::MultiCall | Kind::Carrier | Kind::Privilege
                if !denied.is_empty() =>
            {
                return Err(Refusal::Opaque { name });
            }
            _ if starts_by_option(rest) && !(denied.is_empty() && allowed.is_none()) => {
                return Err(Refusal::Opaque { name });
            }
            _ => return Ok(words),
        }
    }
    Err(Refusal::Opaque { name: brief(&words[0]) })
}

/// The words of a plan that is one plain command.
fn only(plan: Plan) -> Result<Vec<String>, Refusal> {
    let syntax = |what: &str| Err(Refusal::Syntax { what: what.to_owned() });
    let mut steps = plan.steps.into_iter();
    let (Some(step), None) = (steps.next(), steps.next()) else {
        return syntax("several commands");
    };
    let Action::Run(programs) = step.action else { return syntax("`cd`") };
    let mut programs = programs.into_iter();
    match (programs.next(), programs.next()) {
        (Some(Simple { variables, .. }), None) if !variables.is_empty() => syntax("a variable"),
        (Some(Simple { redirections, .. }), None) if !redirections.is_empty() => {
            syntax("a redirection")
        }
        (Some(Simple { words, .. }), None) if !words.is_empty() => Ok(words),
        _ => syntax("a pipe"),
    }
}

/// Whether a list denies a command, by what was written or by its last part.
fn is_denied(word: &str, list: &[String]) -> bool {
    list.iter().any(|entry| entry == word || entry == tables::base_name(word))
}

/// Whether a list allows a command as it was written: a name is not the name of any file that is called so.
fn is_allowed(word: &str, list: &[String]) -> bool {
    let plain = |path: &str| {
        path.strip_prefix("./").filter(|it| it.contains('/')).unwrap_or(path).to_owned()
    };
    list.iter().any(|entry| plain(entry) == plain(word))
}

/// Whether a program that is no wrapper is told to start others.
fn starts_by_option(words: &[String]) -> bool {
    let is_find = matches!(tables::base_name(&words[0]), "find" | "gfind" | "bfs");
    let starts = |word: &String| matches!(word.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
    is_find && words.iter().any(starts)
}

#[cfg(test)]
mod tests;
