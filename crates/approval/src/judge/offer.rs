//! What can be remembered, and whether it was.

use super::found::Machine;
use super::surroundings::has_files;
use crate::plan::Simple;
use crate::policy::{Policy, Remembered};
use crate::tables::{self, Kind};
use crate::verdict::{Judged, Pinned};

/// The exact command that a person allowed for good before, if this is one.
pub(super) fn remembered<'a>(
    simple: &Simple,
    (judged, kind): (&Judged, Kind),
    (machine, policy): (&Machine<'_>, &'a Policy),
) -> Option<&'a Remembered> {
    let program = &judged.program;
    let mut same = policy.remembered.iter().filter(|known| {
        known.program == program.file.real
            && known.words == simple.words
            && known.directory == judged.directory.real
            && known.variables == simple.variables
    });
    let first = same.next().filter(|_| can_be_remembered(simple, judged, kind))?;
    let digest = machine.digest(&program.file)?;
    [first].into_iter().chain(same).find(|known| known.sha256 == digest)
}

/// What would be remembered of a command; none where nothing can.
pub(super) fn pinned(
    simple: &Simple,
    (judged, kind): (&Judged, Kind),
    machine: &Machine<'_>,
) -> Option<Pinned> {
    if !can_be_remembered(simple, judged, kind) {
        return None;
    }
    Some(Pinned {
        command: simple.clone(),
        program: judged.program.file.real.clone(),
        sha256: machine.digest(&judged.program.file)?,
        directory: judged.directory.real.clone(),
    })
}

/// Whether a command means the same whenever its program has the same content. What an entry for the program would
/// not cover, or files of the folder decide, can start or load something else, which is not remembered with it.
fn can_be_remembered(simple: &Simple, judged: &Judged, kind: Kind) -> bool {
    kind.is_ordinary()
        && tables::uncovered(&simple.words, (&judged.program, kind), false).is_none()
        && !tables::is_configured_by_folder(&simple.words[0], &judged.program)
        && judged.inner.is_empty()
        && judged.scripts.is_empty()
        && !judged.program.is_replaceable
        && !has_files(simple)
}
