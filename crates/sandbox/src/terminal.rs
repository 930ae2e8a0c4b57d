//! Terminals for programs: the end that is ours, and the one that becomes the program's own.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Gid, Uid, fchown};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// How much a terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Lines.
    pub rows: u16,
    /// Characters of a line.
    pub columns: u16,
}

impl Default for Size {
    fn default() -> Self {
        Self { rows: 40, columns: 120 }
    }
}

/// Makes a terminal; gives our end and the program's.
///
/// Neither becomes the terminal of this process. The program's end is opened through ours and not by
/// its name, so that nobody can come between, and belongs to the user that the program will be.
pub(crate) fn open(size: Size, owner: Option<(u32, u32)>) -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let theirs = ioctl_tiocgptpeer(&ours, flags)?;
    if let Some((user, group)) = owner {
        fchown(&theirs, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)))?;
    }
    resize(&ours, size)?;
    Ok((ours, theirs))
}

/// Changes what a terminal shows; its program is told by a signal.
pub(crate) fn resize(terminal: impl AsFd, size: Size) -> io::Result<()> {
    let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
    Ok(tcsetwinsize(terminal, size)?)
}
