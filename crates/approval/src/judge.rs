//! From a plan to a verdict.

use std::path::Path;

use crate::facts::Facts;
use crate::parse::NotAnalysable;
use crate::plan::Plan;
use crate::policy::Policy;
use crate::verdict::Verdict;

/// Decides about a command that was read, in a folder.
pub fn judge(
    plan: &Result<Plan, NotAnalysable>,
    _directory: &Path,
    _facts: &dyn Facts,
    _policy: &Policy,
) -> Verdict {
    let reason = match plan {
        Ok(_) => "nothing can be judged yet".to_owned(),
        Err(problem) => problem.what.clone(),
    };
    Verdict::Deny { reason }
}
