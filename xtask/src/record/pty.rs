//! A command on a pseudo-terminal, from its start to its end.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::Command;

use anyhow::{Context, Result};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// The size of a terminal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) columns: u16,
    pub(super) rows: u16,
}

/// Runs a command to its end; gives everything it wrote and its exit code.
pub(super) fn run(mut command: Command, size: Size) -> Result<(Vec<u8>, i32)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags).context("there is no pseudo-terminal")?;
    grantpt(&ours).and_then(|()| unlockpt(&ours)).context("a terminal without another end")?;
    let theirs = ioctl_tiocgptpeer(&ours, flags).context("a terminal without another end")?;
    let Size { columns, rows } = size;
    let window = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&ours, window).context("a terminal without a size")?;
    let end = || OwnedFd::try_clone(&theirs).context("the terminal cannot be shared");
    command.stdin(end()?).stdout(end()?).stderr(end()?);
    let mut child = command.spawn().context("cannot start the command")?;
    // Only the child has the other end now, so reading ends when it does.
    drop((command, theirs));
    let mut screen = File::from(ours);
    let (mut written, mut piece) = (Vec::new(), [0; 4096]);
    // The terminal says with an error that nobody has it open any more.
    while let Ok(count @ 1..) = screen.read(&mut piece) {
        written.extend_from_slice(&piece[..count]);
    }
    let status = child.wait().context("the command never ends")?;
    Ok((written, status.code().unwrap_or(-1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_sees_a_terminal_of_the_size_it_was_given() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "stty size; test -t 1 && exit 3"]);
        let (written, code) = run(command, Size { columns: 80, rows: 24 }).unwrap();
        assert_eq!((String::from_utf8(written).unwrap().as_str(), code), ("24 80\r\n", 3));
    }
}
