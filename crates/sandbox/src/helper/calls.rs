//! System calls that wait for the warden: it makes them in place of the program, or refuses them.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use rustix::io::Errno;

use super::sys::{Call, answer, next_call};
use super::{attributes, scheduling};

/// Answers the next call that was announced. Gives its number if it was refused.
pub(super) fn answer_next_call(
    notices: impl AsFd,
    writable: &[PathBuf],
) -> io::Result<Option<i64>> {
    let notices = notices.as_fd();
    let call = next_call(notices)?;
    let made = attributes::make(&call, notices, writable)
        .or_else(|| scheduling::make(&call, notices))
        .unwrap_or(Err(Refusal::Ours));
    match made {
        Ok(()) => answer(notices, call.id, 0),
        Err(Refusal::Kernel(errno)) => answer(notices, call.id, errno.raw_os_error()),
        Err(Refusal::Ours) => answer(notices, call.id, libc::EPERM),
    }
    Ok(matches!(made, Err(Refusal::Ours)).then_some(call.number))
}

/// Why a call was not made.
pub(super) enum Refusal {
    /// It is not allowed here.
    Ours,
    /// The kernel would not have made it either.
    Kernel(Errno),
}

impl From<Errno> for Refusal {
    fn from(errno: Errno) -> Self {
        Self::Kernel(errno)
    }
}

/// The half of an argument that is looked at where a number is expected.
pub(super) fn low(argument: u64) -> u32 {
    (argument & u64::from(u32::MAX)) as u32
}

/// The process that made a call.
pub(super) struct Caller<'a>(pub(super) &'a Call);

impl Caller<'_> {
    /// A file of `/proc` about it.
    pub(super) fn entry(&self, name: &str) -> PathBuf {
        format!("/proc/{}/{name}", self.0.process).into()
    }

    /// Reads memory, as far as there is some.
    pub(super) fn read(&self, address: u64, length: usize) -> Result<Vec<u8>, Errno> {
        let memory = File::open(self.entry("mem")).map_err(|_denied| Errno::PERM)?;
        let mut bytes = vec![0; length];
        let count = memory.read_at(&mut bytes, address).map_err(|_unmapped| Errno::FAULT)?;
        bytes.truncate(count);
        Ok(bytes)
    }

    pub(super) fn read_exactly(&self, address: u64, length: usize) -> Result<Vec<u8>, Errno> {
        self.read(address, length)
            .and_then(|bytes| if bytes.len() == length { Ok(bytes) } else { Err(Errno::FAULT) })
    }

    /// Reads a text that ends with a zero.
    pub(super) fn read_text(
        &self,
        address: u64,
        most: usize,
        too_long: Errno,
    ) -> Result<Vec<u8>, Errno> {
        let mut bytes = self.read(address, most)?;
        let is_whole = bytes.len() == most;
        let end = bytes.iter().position(|byte| *byte == 0);
        bytes.truncate(end.ok_or(if is_whole { too_long } else { Errno::FAULT })?);
        Ok(bytes)
    }
}
