//! metier's own files in workspaces.
//!
//! A program on the host may have replaced one: by a link, which is not followed, or by a pipe, for which nobody waits.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, CWD, OFlags, Timespec, Timestamps, utimensat};
use rustix::io::Errno;

/// Opens a file that is a lock, or of which only the time matters. It is made if need be.
///
/// # Errors
///
/// When it cannot be opened, or a link or a pipe is there.
pub(crate) fn open_mark(file: &Path) -> io::Result<File> {
    File::options().create(true).append(true).custom_flags(flags()).open(file)
}

/// Opens a file that is there.
///
/// # Errors
///
/// When it cannot be opened, or is a link.
pub(crate) fn open_present(file: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(flags()).open(file)
}

/// Reads a file. Returns nothing if it is larger than so many bytes, or not a regular file.
///
/// # Errors
///
/// When it is not there, or cannot be read.
pub(crate) fn read(file: &Path, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
    let mut file = match open_present(file) {
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => return Ok(None),
        file => file?,
    };
    let state = file.metadata()?;
    if !state.is_file() || state.len() > max_bytes {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.by_ref().take(max_bytes).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Sets the time at which a file was changed to now, without opening it.
///
/// # Errors
///
/// When it is not there, or the time cannot be set.
pub(crate) fn touch(file: &Path) -> io::Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Timespec {
        tv_sec: now.as_secs().try_into().unwrap_or_default(),
        tv_nsec: now.subsec_nanos().into(),
    };
    let times = Timestamps { last_access: now, last_modification: now };
    Ok(utimensat(CWD, file, &times, AtFlags::SYMLINK_NOFOLLOW)?)
}

fn flags() -> i32 {
    (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::{FileType, Mode, mknodat};

    use super::*;
    use crate::layout::{METADATA, WorkspaceKey, Workspaces};

    /// Replaces a file by a pipe that nobody writes to or reads.
    fn replace_by_pipe(file: &Path) {
        let _was_there = fs::remove_file(file);
        mknodat(CWD, file, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    }

    #[test]
    fn nobody_waits_for_a_pipe_in_the_place_of_a_file_of_metiers_own() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let workspaces = Workspaces::open(&place("workspaces"), &place("content")).unwrap();
        let [app, user, session] = ["test", "ada", "one"].map(str::to_owned);
        let key = WorkspaceKey { app, user, session, generation: 0 };
        let root = workspaces.workspace(&key).unwrap().root().to_owned();
        replace_by_pipe(&root.join(METADATA));
        assert_eq!(workspaces.latest("test", "ada").unwrap(), None);
        let workspace = workspaces.workspace(&key).unwrap();
        let forgotten = workspace.metadata().unwrap();
        assert_eq!(forgotten.key, None);
        workspace.save(&forgotten).unwrap();
        assert!(root.join(METADATA).is_file());
        for name in [".lock", ".last-end"] {
            replace_by_pipe(&root.join(name));
        }
        assert!(workspace.lock().is_err() && workspace.note_end().is_err());
        drop(workspace);
        replace_by_pipe(&root.join(".in-use"));
        assert!(workspaces.workspace(&key).is_err());
    }

    #[test]
    fn a_link_in_the_place_of_a_file_of_metiers_own_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (other, link) = (folder.path().join("other"), folder.path().join("link"));
        fs::write(&other, "{}").unwrap();
        symlink(&other, &link).unwrap();
        assert_eq!(read(&link, 100).unwrap(), None);
        assert!(open_mark(&link).is_err() && open_present(&link).is_err());
        assert_eq!(read(&other, 100).unwrap().as_deref(), Some(&b"{}"[..]));
        assert_eq!(read(&other, 1).unwrap(), None);
    }
}
