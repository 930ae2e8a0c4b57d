//! From a plan to a verdict.
//!
//! Each program of a plan needs somebody who allows it: an entry of the list, the tables of filters, a skill, or
//! a person who was asked before. What is missing is a reason in words; what is never allowed is a refusal. A
//! verdict follows from these and from the rules alone, so the same question always has the same answer.

mod advice;
mod destination;
mod entries;
mod found;
mod look;
mod miss;
mod offer;
mod paths;
mod patterns;
mod program;
mod protection;
mod repository;
mod surroundings;

use std::path::Path;

use crate::facts::Facts;
use crate::parse::NotAnalysable;
use crate::plan::Plan;
use crate::policy::{Ask, Mode, Policy, Rules};
use crate::verdict::Verdict;

use look::Looked;

pub use advice::EntryCoverage;
pub use paths::normal;

/// Most reasons that are put into one sentence.
const MAX_REASONS: usize = 3;

/// Decides about a command that was read, in a folder.
pub fn judge(
    plan: &Result<Plan, NotAnalysable>,
    directory: &Path,
    facts: &dyn Facts,
    policy: &Policy,
) -> Verdict {
    let rules = policy.rules;
    if rules.mode == Mode::Deny {
        return Verdict::Deny { reason: "no commands may run here: the mode is `deny`".to_owned() };
    }
    match plan {
        Err(problem) => without_plan(&format!("this cannot be judged: {}", problem.what), rules),
        Ok(plan) => with_plan(Looked::at(plan, directory, facts, policy), rules),
    }
}

fn without_plan(reason: &str, rules: Rules) -> Verdict {
    let reason = reason.to_owned();
    match (rules.mode, rules.ask) {
        (Mode::Full, Ask::Off) => Verdict::AllowText { reason },
        (_, Ask::Off) => Verdict::Deny { reason },
        (_, Ask::Always | Ask::OnMiss) => Verdict::Ask { reason, plan: None, offer: None },
    }
}

fn with_plan(looked: Looked, rules: Rules) -> Verdict {
    if rules.mode != Mode::Full
        && let Some(reason) = sentence(&looked.refusals)
    {
        return Verdict::Deny { reason };
    }
    let Some(approved) = looked.approved else {
        let reason = sentence(&looked.misses).unwrap_or_else(|| "there is no command".to_owned());
        return without_plan(&reason, rules);
    };
    let approved =
        if rules.mode == Mode::Full { approved.with_everything_allowed() } else { approved };
    let miss = sentence(&looked.misses).filter(|_| rules.mode != Mode::Full);
    match (miss, rules.ask) {
        (None, Ask::OnMiss | Ask::Off) => Verdict::Allow(approved),
        (Some(reason), Ask::Off) => Verdict::Deny { reason },
        (Some(reason), Ask::OnMiss) => {
            Verdict::Ask { reason, plan: Some(approved), offer: looked.offer }
        }
        (miss, Ask::Always) => {
            let reason = miss.unwrap_or_else(|| "every command is asked about".to_owned());
            Verdict::Ask { reason, plan: Some(approved), offer: None }
        }
    }
}

/// Reasons as one sentence; none if there are none.
fn sentence(reasons: &[String]) -> Option<String> {
    let mut different: Vec<&str> = Vec::new();
    for reason in reasons {
        if !different.contains(&reason.as_str()) {
            different.push(reason);
        }
        if different.len() > MAX_REASONS {
            break;
        }
    }
    let first = different.iter().take(MAX_REASONS).copied().collect::<Vec<_>>().join("; ");
    let more = if different.len() > MAX_REASONS { "; and more" } else { "" };
    (!different.is_empty()).then(|| format!("{first}{more}"))
}
