//! A way to stop a run from another thread.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

/// Stops the runs it was given to, once and for good.
#[derive(Clone, Debug)]
pub struct Cancel {
    event: Arc<OwnedFd>,
}

impl Cancel {
    /// One that has not been used yet.
    ///
    /// # Errors
    ///
    /// When the process has no file descriptor left.
    pub fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { event: Arc::new(event) })
    }

    /// Stops every run that has it, now or later.
    pub fn cancel(&self) {
        // The counter is full only after as many calls as it can count.
        let _counted = rustix::io::write(&*self.event, &1_u64.to_ne_bytes());
    }

    /// Whether it has been used.
    pub fn is_cancelled(&self) -> bool {
        let mut polled = [PollFd::new(&*self.event, PollFlags::IN)];
        poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }
}

impl AsFd for Cancel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}
