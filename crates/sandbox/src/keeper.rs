//! The keeper: the helper that stays for as long as this process and starts a warden for each run.
//!
//! Starting this program again takes longer than all the rest of a short run, so it is done once. The
//! keeper is given one end of a socket at a time and passes it on to a new warden, whom everything else is
//! told over that socket: it has nothing that one run could leave to the next.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{self, Command};
use std::sync::{Mutex, PoisonError};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{getegid, geteuid};

use crate::wire::{self, HELPER_ARGUMENT};

static KEEPER: Mutex<Option<Keeper>> = Mutex::new(None);

/// Starts a warden at the other end of the socket that this gives.
pub(crate) fn start_warden() -> io::Result<OwnedFd> {
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    let mut place = KEEPER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(keeper) = place.take_if(|keeper| keeper.starter != Starter::now()) {
        // It ends by itself once nobody can ask it for anything.
        drop(keeper);
    }
    if let Some(keeper) = &mut *place {
        match wire::hand(&keeper.requests, theirs.as_fd()) {
            Err(Errno::PIPE | Errno::CONNRESET) => keeper.reap(),
            result => return result.map(|()| ours).map_err(Into::into),
        }
    }
    let keeper = place.insert(Keeper::start()?);
    wire::hand(&keeper.requests, theirs.as_fd())?;
    Ok(ours)
}

#[derive(Debug)]
struct Keeper {
    /// Where it is asked for wardens. It ends when this is closed.
    requests: OwnedFd,
    process: process::Child,
    starter: Starter,
}

/// Who started a keeper, and is therefore served by it: a process that has since become another user,
/// or a copy of that process, must not be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Starter {
    process: u32,
    user: u32,
    group: u32,
}

impl Starter {
    fn now() -> Self {
        let (user, group) = (geteuid().as_raw(), getegid().as_raw());
        Self { process: process::id(), user, group }
    }
}

impl Keeper {
    fn start() -> io::Result<Self> {
        let (requests, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        #[expect(clippy::disallowed_methods, reason = "this is where the project starts processes")]
        let process = Command::new("/proc/self/exe")
            .arg0("metier-sandbox")
            .arg(HELPER_ARGUMENT)
            .env_clear()
            .stdin(theirs)
            .stdout(process::Stdio::null())
            .stderr(process::Stdio::null())
            .spawn()?;
        Ok(Self { requests, process, starter: Starter::now() })
    }

    /// Takes note of its end.
    fn reap(&mut self) {
        // Somebody who waits for every child may have been faster.
        let _status = self.process.wait();
    }
}
