//! Where a program that is talked to gets its input from, while it runs.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, eventfd};
use thiserror::Error;

use crate::terminal::Size;

/// Input that may wait for a program to read it, in bytes.
pub const MAX_PENDING: usize = 1 << 20;

/// Input was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConsoleError {
    /// The program leaves too much of what it was given unread.
    #[error("the program does not read its input; {MAX_PENDING} bytes may wait for it")]
    Full,
    /// The input was closed.
    #[error("the input of the program is closed")]
    Closed,
}

/// Talks to one program from other threads. Clones are the same console.
#[derive(Clone, Debug)]
pub struct Console {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Readable when something was asked since the last look.
    event: OwnedFd,
    asked: Mutex<Asked>,
}

/// What has been asked and not been done.
#[derive(Debug, Default)]
struct Asked {
    pending: VecDeque<u8>,
    is_closed: bool,
    size: Option<Size>,
    kill: bool,
}

impl Console {
    /// One that nobody has talked to yet.
    ///
    /// # Errors
    ///
    /// When the process has no file descriptor left.
    pub fn new() -> io::Result<Self> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { shared: Arc::new(Shared { event, asked: Mutex::default() }) })
    }

    /// Gives the program input: all of it, or nothing.
    ///
    /// A terminal that collects lines takes 4095 bytes of one; that is the kernel's limit.
    ///
    /// # Errors
    ///
    /// When too much is waiting already, or the input is closed.
    pub fn write(&self, bytes: &[u8]) -> Result<(), ConsoleError> {
        let mut asked = self.asked();
        if asked.is_closed {
            return Err(ConsoleError::Closed);
        }
        if asked.pending.len() + bytes.len() > MAX_PENDING {
            return Err(ConsoleError::Full);
        }
        asked.pending.extend(bytes);
        drop(asked);
        self.wake();
        Ok(())
    }

    /// Closes the input once everything before has been written. This is for pipes: on a terminal
    /// the end of the input is a character.
    pub fn close(&self) {
        self.asked().is_closed = true;
        self.wake();
    }

    /// Changes the size of the terminal, if it is one.
    pub fn resize(&self, size: Size) {
        self.asked().size = Some(size);
        self.wake();
    }

    /// Ends the whole tree at once, without asking it first.
    pub fn kill(&self) {
        self.asked().kill = true;
        self.wake();
    }

    /// Whether some input waits to be written.
    pub(crate) fn has_pending(&self) -> bool {
        !self.asked().pending.is_empty()
    }

    /// Whether nothing will be written any more.
    pub(crate) fn is_done(&self) -> bool {
        let asked = self.asked();
        asked.is_closed && asked.pending.is_empty()
    }

    /// Hands input to a writer that says how much it took; forgets all of it when that fails.
    pub(crate) fn hand_out(&self, write: impl FnOnce(&[u8]) -> io::Result<usize>) {
        let mut asked = self.asked();
        let count = match write(asked.pending.make_contiguous()) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            // A program that does not want its input is no error.
            Err(_closed) => asked.pending.len(),
        };
        asked.pending.drain(..count);
    }

    /// What else was asked, once: a size, and whether to end the tree.
    pub(crate) fn take_requests(&self) -> (Option<Size>, bool) {
        let mut counter = [0; 8];
        // Nothing to read means nothing was asked.
        let _none = rustix::io::read(&self.shared.event, &mut counter);
        let mut asked = self.asked();
        (asked.size.take(), asked.kill)
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.shared.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        // The counter is full only after as many calls as it can count.
        let _counted = rustix::io::write(&self.shared.event, &1_u64.to_ne_bytes());
    }
}

impl AsFd for Console {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.event.as_fd()
    }
}
