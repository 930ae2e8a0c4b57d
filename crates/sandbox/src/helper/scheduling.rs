//! Priority, scheduler, processors and I/O class of processes, where no namespace keeps those of others out
//! of reach.
//!
//! The kernel lets a process change these for every process of the same user. The filter allows the calls
//! for the caller itself. Calls that name a process wait for the warden, which makes them
//! itself if that process belongs to the tree: were the caller to go on instead, the number could belong to
//! somebody else by the time it is used. Calls that name a whole user are refused.

use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::process::{Pid, getpgid};

use super::calls::{Caller, Refusal, low};
use super::sys::{self, Call, is_waiting};
use super::tree;

/// Most bytes of a set of processors that are read: as many processors as no kernel has.
const MAX_PROCESSORS: u64 = 2048;
/// Sizes of `struct sched_attr`: its first version and the largest that the kernel takes.
const ATTRIBUTES: u32 = 48;
const MAX_ATTRIBUTES: u32 = 4096;
/// The size of `struct sched_param`.
const PARAMETER: usize = 4;

/// Whom `ioprio_set` is about.
pub(super) const IOPRIO_WHO_PROCESS: u32 = 1;
const IOPRIO_WHO_PGRP: u32 = 2;

/// Whose scheduling a call changes.
#[derive(Clone, Copy)]
enum Subject {
    /// A process or thread.
    Process(u32),
    /// All processes of a group.
    Group(u32),
    /// All processes of a user.
    User,
}

/// A piece of memory that comes with a call.
struct Piece {
    /// Which argument is its address.
    argument: usize,
    bytes: Vec<u8>,
}

/// Makes a call that changes how a process of the tree is scheduled; nothing if it is no such call.
pub(super) fn make(call: &Call, notices: impl AsFd) -> Option<Result<(), Refusal>> {
    let (place, subject) = subject(call)?;
    Some(try_make(call, notices, place, subject))
}

/// Whose scheduling a call changes, and in which argument that is said.
fn subject(call: &Call) -> Option<(usize, Subject)> {
    let [first, second, ..] = call.arguments.map(low);
    let subject = match call.number {
        libc::SYS_sched_setaffinity
        | libc::SYS_sched_setattr
        | libc::SYS_sched_setparam
        | libc::SYS_sched_setscheduler => return Some((0, Subject::Process(first))),
        libc::SYS_setpriority if first == libc::PRIO_PROCESS => Subject::Process(second),
        libc::SYS_setpriority if first == libc::PRIO_PGRP => Subject::Group(second),
        libc::SYS_ioprio_set if first == IOPRIO_WHO_PROCESS => Subject::Process(second),
        libc::SYS_ioprio_set if first == IOPRIO_WHO_PGRP => Subject::Group(second),
        libc::SYS_setpriority | libc::SYS_ioprio_set => Subject::User,
        _ => return None,
    };
    Some((1, subject))
}

fn try_make(
    call: &Call,
    notices: impl AsFd,
    place: usize,
    subject: Subject,
) -> Result<(), Refusal> {
    let mut piece = piece(call)?;
    let target = match subject {
        Subject::Process(0) => own(call)?,
        Subject::Group(0) => group_of(own(call)?)?,
        Subject::Process(number) | Subject::Group(number) => {
            i32::try_from(number).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?
        }
        Subject::User => return Err(Refusal::Ours),
    };
    // Where there is nobody, there is nothing to refuse.
    let group = group_of(target)?;
    // A group is in one session, and sessions of the tree are begun in the tree: its leader stands for all.
    let is_led = matches!(subject, Subject::Process(_)) || group == target;
    if !is_led || !tree::has(target) {
        return Err(Refusal::Ours);
    }
    if !is_waiting(notices, call.id) {
        return Err(Errno::SRCH.into());
    }
    let mut arguments = call.arguments;
    arguments[place] = u64::from(target.as_raw_nonzero().get().unsigned_abs());
    let [first, second, third, ..] = arguments;
    let memory = piece.as_mut().map(|piece| (piece.argument, piece.bytes.as_mut_slice()));
    Ok(sys::schedule(call.number, [first, second, third], memory)?)
}

fn own(call: &Call) -> Result<Pid, Errno> {
    i32::try_from(call.process).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)
}

fn group_of(process: Pid) -> Result<Pid, Errno> {
    getpgid(Some(process))
}

/// What a call refers to by an address, as it is now.
fn piece(call: &Call) -> Result<Option<Piece>, Errno> {
    let [_, second, third, ..] = call.arguments;
    let caller = Caller(call);
    let (argument, bytes) = match call.number {
        libc::SYS_sched_setparam => (1, caller.read_exactly(second, PARAMETER)?),
        libc::SYS_sched_setscheduler => (2, caller.read_exactly(third, PARAMETER)?),
        libc::SYS_sched_setaffinity => {
            let length = u64::from(low(second)).min(MAX_PROCESSORS);
            (2, caller.read(third, low(length) as usize)?)
        }
        libc::SYS_sched_setattr => (1, attributes(&caller, second)?),
        _ => return Ok(None),
    };
    Ok(Some(Piece { argument, bytes }))
}

/// Reads a `struct sched_attr`, which begins with its size.
fn attributes(caller: &Caller<'_>, address: u64) -> Result<Vec<u8>, Errno> {
    let size = caller.read_exactly(address, size_of::<u32>())?;
    let size = match size.try_into().map_or(0, u32::from_ne_bytes) {
        0 => ATTRIBUTES,
        size if size <= MAX_ATTRIBUTES => size,
        _ => return Err(Errno::TOOBIG),
    };
    let mut bytes = caller.read_exactly(address, size as usize)?;
    // The program could have changed it between the two looks.
    bytes[..size_of::<u32>()].copy_from_slice(&size.to_ne_bytes());
    Ok(bytes)
}
