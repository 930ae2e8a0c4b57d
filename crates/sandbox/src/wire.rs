//! What the caller and its helpers say to each other, over sockets that also tell either when the
//! other is gone.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::limits::Limit;
use crate::program::Job;

/// The argument that makes a program the helper.
pub(crate) const HELPER_ARGUMENT: &str = "__metier-sandbox-helper";

/// Longest message: arguments and environment of a program are far below.
const MAX_MESSAGE: usize = 8 << 20;
/// Most files that go with a message.
const MAX_FILES: usize = 4;

/// The first message to a warden, with standard input, output and error.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) job: Job,
    /// Files through which the program joins the control group that bounds memory and processes, if
    /// there is one.
    pub(crate) group: Vec<PathBuf>,
    /// Whether standard input is a terminal of the program's own.
    pub(crate) terminal: bool,
    /// The user and group the program runs as, when the warden may choose.
    pub(crate) owner: Option<(u32, u32)>,
}

/// What the caller asks later: to end the tree gently first.
pub(crate) const STOP: u8 = b's';
/// To end it at once.
pub(crate) const KILL: u8 = b'k';

/// What the warden reports.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The warden is there; with a handle of it.
    Here,
    /// The program runs; with a listening socket if there is one.
    Started {
        /// Whether calls are announced to the warden.
        has_notices: bool,
        /// Whether it is in the control group that was made for it.
        is_grouped: bool,
    },
    /// It could not be confined or started.
    Failed(Failure),
    /// It ended, and everything it started with it.
    Ended {
        /// The status as `wait` gives it.
        status: i32,
        /// Numbers of system calls that were refused.
        refused: Vec<i64>,
        /// What had changed since a plan was made.
        changed: Option<PathBuf>,
        /// Limits that the warden saw it meet.
        limits: Vec<Limit>,
    },
}

/// Why a program did not start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) stage: Stage,
    pub(crate) errno: i32,
    /// What it was about: a path, mostly.
    pub(crate) detail: String,
}

/// What was being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stage {
    Namespaces,
    Mounts,
    Processes,
    Network,
    Identity,
    Limits,
    Landlock,
    Filter,
    Directory,
    Program,
}

/// Hands a file over, and nothing else.
pub(crate) fn hand(socket: impl AsFd, file: BorrowedFd<'_>) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let files = [file];
    let _fits = ancillary.push(SendAncillaryMessage::ScmRights(&files));
    let byte = [IoSlice::new(&[0])];
    retry_on_intr(|| sendmsg(&socket, &byte, &mut ancillary, SendFlags::NOSIGNAL)).map(|_| ())
}

/// Takes a file that was handed over; nothing when the other side is gone.
pub(crate) fn take(socket: impl AsFd) -> io::Result<Option<OwnedFd>> {
    let mut files = Vec::new();
    receive_exactly(socket, 1, &mut files)?;
    Ok(files.pop())
}

/// Sends a message with some files.
pub(crate) fn send<T: Serialize>(
    socket: impl AsFd,
    message: &T,
    files: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let content = postcard::to_stdvec(message).map_err(io::Error::other)?;
    let length = u32::try_from(content.len()).map_err(io::Error::other)?;
    let bytes = [&length.to_le_bytes()[..], &content].concat();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::Error::other("too many files"));
    }
    let mut sent = 0;
    while sent < bytes.len() {
        let rest = [IoSlice::new(&bytes[sent..])];
        match sendmsg(&socket, &rest, &mut ancillary, SendFlags::NOSIGNAL) {
            Ok(count) => sent += count,
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        ancillary.clear();
    }
    Ok(())
}

/// Receives a message and the files that came with it; nothing when the other side is gone.
pub(crate) fn receive<T: DeserializeOwned>(
    socket: impl AsFd,
) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut files = Vec::new();
    let Some(length) = receive_exactly(&socket, 4, &mut files)? else { return Ok(None) };
    let length = length.try_into().map_or(0, u32::from_le_bytes) as usize;
    if length > MAX_MESSAGE {
        return Err(io::Error::other("the message is too long"));
    }
    let Some(content) = receive_exactly(&socket, length, &mut files)? else { return Ok(None) };
    let message = postcard::from_bytes(&content).map_err(io::Error::other)?;
    Ok(Some((message, files)))
}

fn receive_exactly(
    socket: impl AsFd,
    length: usize,
    files: &mut Vec<OwnedFd>,
) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut rest = [IoSliceMut::new(&mut bytes[filled..])];
        let received = match recvmsg(&socket, &mut rest, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Ok(received) => received.bytes,
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                files.extend(received);
            }
        }
        if received == 0 {
            return Ok(None);
        }
        filled += received;
    }
    Ok(Some(bytes))
}
