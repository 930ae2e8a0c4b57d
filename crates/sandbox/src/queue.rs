//! How much of what was written has not been taken by its reader.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::fs::{FileType, fstat};
use rustix::io::ioctl_fionread;

/// Returns how many bytes are in a pipe, or wait in a socket or at a terminal to be taken. It falls when some are read.
///
/// # Errors
///
/// When the file has no such queue.
pub fn unread_output(output: impl AsFd) -> io::Result<u64> {
    // The end of a pipe to which is written tells what the other one has to read.
    if FileType::from_raw_mode(fstat(&output)?.st_mode) == FileType::Fifo {
        return Ok(ioctl_fionread(output)?);
    }
    queued(output)
}

#[expect(unsafe_code, reason = "the library has no safe call for this")]
fn queued(output: impl AsFd) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the file is open, and the kernel writes one `int` to where the pointer leads.
    let result = unsafe { libc::ioctl(output.as_fd().as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(u64::try_from(bytes).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn what_is_read_of_a_pipe_or_a_socket_is_seen_by_its_writer() {
        let (mut reader, mut writer) = io::pipe().expect("a pipe");
        writer.write_all(&[0; 5000]).expect("room");
        assert_eq!(unread_output(&writer).expect("a queue"), 5000);
        reader.read_exact(&mut [0; 100]).expect("bytes");
        assert_eq!(unread_output(&writer).expect("a queue"), 4900);
        let (mut reader, mut writer) = UnixStream::pair().expect("sockets");
        assert_eq!(unread_output(&writer).expect("a queue"), 0);
        writer.write_all(&[0; 5000]).expect("room");
        let before = unread_output(&writer).expect("a queue");
        assert!(before >= 5000);
        reader.read_exact(&mut [0; 5000]).expect("bytes");
        assert!(unread_output(&writer).expect("a queue") < before);
    }
}
