//! Having the container of a workspace: one run at a time, with its folder lent to the container.
//!
//! Only folders that were there when the container was made are mounted in it. Therefore the files of a run
//! are moved to a folder that is mounted, and moved back at its end. Its record and its
//! streams are never in the container.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use metier_sandbox::unprivileged_owner;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, fchmod, fchown, renameat_with, unlinkat};
use rustix::process::{getegid, geteuid};

use super::error::ContainerError;
use crate::clean::remove_tree;
use crate::layout::{Workspace, open_beneath};
use crate::path::Inside;

/// The folder of a workspace that a container sees as `runs`.
pub(super) const LENT: &str = ".lent";
/// The file that is locked by whoever has the container.
const FILE: &str = ".container";
/// Between two tries to have the container.
const PAUSE: Duration = Duration::from_millis(25);

/// How the last run in a container went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    /// It left nothing running, or there was none.
    Over,
    /// It was not seen to its end.
    Unknown,
}

/// The right to use the container of a workspace.
#[derive(Debug)]
pub(super) struct Hold {
    file: File,
    pub(super) last: Last,
}

impl Hold {
    /// Waits until nobody else has the container.
    pub(super) async fn take(root: &Path, patience: Duration) -> Result<Self, ContainerError> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(hold) = Self::try_take(root)? {
                return Ok(hold);
            }
            if Instant::now() > deadline {
                return Err(ContainerError::Busy);
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Takes it if nobody else has it.
    pub(super) fn try_take(root: &Path) -> io::Result<Option<Self>> {
        let path = root.join(FILE);
        let mut file =
            File::options().create(true).truncate(false).read(true).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let last = match note(&mut file).as_deref() {
            None => Last::Over,
            Some(text) if text.ends_with(" over") => Last::Over,
            Some(_) => Last::Unknown,
        };
        Ok(Some(Self { file, last }))
    }

    /// Notes that a run begins.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        self.write("running")
    }

    /// Notes that the run is over and nothing of it is left.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.write("over")
    }

    /// Whether the process that last used the container is still there.
    pub(super) fn is_user_alive(&mut self) -> bool {
        let note = note(&mut self.file).unwrap_or_default();
        let mut words = note.split(' ');
        let process = words.next().and_then(|word| word.parse().ok());
        process.is_some_and(|process: u32| birth(process).as_deref() == words.next())
    }

    fn write(&mut self, what: &str) -> io::Result<()> {
        let process = std::process::id();
        let text = format!("{process} {} {what}", birth(process).unwrap_or_default());
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(text.as_bytes())?;
        self.file.set_len(text.len() as u64)
    }
}

fn note(file: &mut File) -> Option<String> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(256).read_to_string(&mut text).ok()?;
    (!text.is_empty()).then_some(text)
}

/// When a process began, as the system counts: an id alone may be that of another one by now.
fn birth(process: u32) -> Option<String> {
    birth_in(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// The same from what the system says about a process. One that has ended, though nobody asked how, is none.
fn birth_in(stat: &str) -> Option<String> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let is_there = fields.next().is_some_and(|state| !["Z", "X"].contains(&state));
    fields.nth(18).filter(|_| is_there).map(str::to_owned)
}

/// Opens the folder that a container sees as `runs`, or one in it, made if need be. Programs may enter it but, where they
/// are somebody else, change nothing in it.
pub(super) fn make_lent(workspace: &Workspace, place: &Inside) -> io::Result<OwnedFd> {
    let folder = workspace.make_folder(place)?;
    if unprivileged_owner().is_some() {
        fchown(&folder, Some(geteuid()), Some(getegid()))?;
        fchmod(&folder, Mode::from_raw_mode(0o755))?;
    }
    Ok(folder)
}

/// Moves the files of a run to where the container sees them.
pub(super) fn lend(workspace: &Workspace, run: &Inside) -> io::Result<()> {
    let (own, lent) = (own(run)?, lent(run)?);
    let from = workspace.open(&own, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let to = make_lent(workspace, &lent)?;
    Ok(renameat_with(from, "files", to, "files", RenameFlags::NOREPLACE)?)
}

/// Moves the files of a run back. If the program has removed their folder, the run has none.
pub(super) fn give_back(workspace: &Workspace, run: &Inside) -> io::Result<()> {
    take_back(workspace, run).or_else(|_| workspace.make_folder(run).map(drop))
}

fn take_back(workspace: &Workspace, run: &Inside) -> io::Result<()> {
    let (own, lent) = (own(run)?, lent(run)?);
    let from = workspace.open(&lent, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let to = workspace.open(&own, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let _is_a_folder = open_beneath(&from, "files", OFlags::PATH | OFlags::DIRECTORY)?;
    renameat_with(from, "files", to, "files", RenameFlags::NOREPLACE)?;
    let all = workspace.open(&Inside::known(LENT), OFlags::RDONLY | OFlags::DIRECTORY)?;
    // What the program put beside its files stays until the next run.
    let _more_in_it = unlinkat(all, lent.file_name(), AtFlags::REMOVEDIR);
    Ok(())
}

/// Moves back what runs that were not seen to their end had, and clears the rest away.
pub(super) fn tidy(workspace: &Workspace) -> io::Result<()> {
    let folder = workspace.root().join(LENT);
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let run = name.to_str().map(|name| Inside::known(format!("runs/{name}/files")));
        if run.is_some_and(|run| take_back(workspace, &run).is_ok()) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            remove_tree(&entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// `runs/<id>` of `runs/<id>/files`.
fn own(run: &Inside) -> io::Result<Inside> {
    let parent = run.as_str().strip_suffix("/files").ok_or(io::ErrorKind::InvalidInput)?;
    Ok(Inside::known(parent))
}

fn lent(run: &Inside) -> io::Result<Inside> {
    Ok(Inside::known(LENT).join(own(run)?.file_name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_at_a_time_and_the_next_knows_how_it_went() {
        let root = tempfile::tempdir().unwrap();
        let mut first = Hold::try_take(root.path()).unwrap().unwrap();
        assert_eq!(first.last, Last::Over);
        assert!(!first.is_user_alive(), "nobody used it yet");
        first.begin().unwrap();
        assert!(first.is_user_alive());
        assert!(Hold::try_take(root.path()).unwrap().is_none());
        drop(first);
        let mut second = Hold::try_take(root.path()).unwrap().unwrap();
        assert_eq!(second.last, Last::Unknown);
        second.end().unwrap();
        drop(second);
        assert_eq!(Hold::try_take(root.path()).unwrap().unwrap().last, Last::Over);
    }

    #[test]
    fn one_who_has_ended_does_not_use_it_any_more() {
        let stat = |state: char| {
            format!("7 (a) b) {state} 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0")
        };
        assert_eq!(birth_in(&stat('S')).as_deref(), Some("4711"));
        assert_eq!([birth_in(&stat('Z')), birth_in(&stat('X')), birth_in("")], [None, None, None]);
        assert!(birth(std::process::id()).is_some());
    }

    #[tokio::test]
    async fn waiting_for_it_has_an_end() {
        let root = tempfile::tempdir().unwrap();
        let _held = Hold::try_take(root.path()).unwrap().unwrap();
        let waited = Hold::take(root.path(), Duration::from_millis(50)).await;
        assert!(matches!(waited, Err(ContainerError::Busy)));
    }

    /// A workspace with the folder of a run.
    fn workspace(state: &Path) -> (Workspace, Inside) {
        let (root, content) = (state.join("w"), state.join("c"));
        let workspaces = crate::layout::Workspaces::open(&root, &content).unwrap();
        let key = crate::layout::WorkspaceKey {
            app: "a".to_owned(),
            user: "u".to_owned(),
            session: "s".to_owned(),
            generation: 0,
        };
        let workspace = workspaces.workspace(&key).unwrap();
        let run = Inside::known("runs/1/files");
        workspace.make_folder(&run).unwrap();
        (workspace, run)
    }

    #[test]
    fn files_that_are_no_folder_any_more_are_not_given_back() {
        let state = tempfile::tempdir().unwrap();
        let (workspace, run) = workspace(state.path());
        lend(&workspace, &run).unwrap();
        let lent = workspace.root().join(LENT).join("1/files");
        fs::remove_dir(&lent).unwrap();
        std::os::unix::fs::symlink(state.path(), &lent).unwrap();
        give_back(&workspace, &run).unwrap();
        let own = workspace.root().join("runs/1/files");
        assert!(own.symlink_metadata().unwrap().is_dir());
        assert_eq!(fs::read_dir(own).unwrap().count(), 0);
    }

    #[test]
    fn a_link_in_place_of_a_lent_folder_is_not_followed() {
        let state = tempfile::tempdir().unwrap();
        let (workspace, run) = workspace(state.path());
        lend(&workspace, &run).unwrap();
        let victim = state.path().join("victim");
        fs::create_dir_all(victim.join("files")).unwrap();
        let lent = workspace.root().join(LENT).join("1");
        fs::rename(&lent, lent.with_extension("old")).unwrap();
        std::os::unix::fs::symlink(&victim, &lent).unwrap();
        take_back(&workspace, &run).unwrap_err();
        give_back(&workspace, &run).unwrap();
        assert!(workspace.root().join("runs/1/files").is_dir());
        tidy(&workspace).unwrap();
        assert!(victim.join("files").is_dir());
        assert_eq!(fs::read_dir(workspace.root().join(LENT)).unwrap().count(), 0);
    }
}
