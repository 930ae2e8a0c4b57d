//! What can be remembered, and whether it was.

use super::surroundings::has_files;
use crate::facts::Facts;
use crate::plan::Simple;
use crate::policy::{Policy, Remembered};
use crate::tables;
use crate::verdict::{Judged, Pinned};

/// The exact command that a person allowed for good before, if this is one.
pub(super) fn remembered<'a>(
    simple: &Simple,
    judged: &Judged,
    (facts, policy): (&dyn Facts, &'a Policy),
) -> Option<&'a Remembered> {
    if !can_be_remembered(simple, judged) {
        return None;
    }
    let program = &judged.program;
    let mut same = policy.remembered.iter().filter(|known| {
        known.program == program.file.real
            && known.words == simple.words
            && known.directory == judged.directory.real
            && known.variables == simple.variables
    });
    let first = same.next()?;
    let digest = facts.digest(&program.file)?;
    [first].into_iter().chain(same).find(|known| known.sha256 == digest)
}

/// What would be remembered of a command; none where nothing can.
pub(super) fn pinned(simple: &Simple, judged: &Judged, facts: &dyn Facts) -> Option<Pinned> {
    if !can_be_remembered(simple, judged) {
        return None;
    }
    Some(Pinned {
        command: simple.clone(),
        program: judged.program.file.real.clone(),
        sha256: facts.digest(&judged.program.file)?,
        directory: judged.directory.real.clone(),
    })
}

/// Whether a command means the same whenever its program has the same content. What an entry for the program in this
/// folder would not cover can start or load something else, which is not remembered with it.
fn can_be_remembered(simple: &Simple, judged: &Judged) -> bool {
    tables::kind_of(&simple.words[0], Some(&judged.program)).is_ordinary()
        && tables::uncovered(&simple.words, &judged.program, true).is_none()
        && judged.inner.is_empty()
        && judged.scripts.is_empty()
        && !judged.program.is_replaceable
        && !has_files(simple)
}
