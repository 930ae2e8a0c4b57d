//! Ending a tree of processes that has no namespace of its own.
//!
//! The warden adopts every orphan below it, so all of the tree can be found by following parents. Should the
//! warden be killed, the keeper adopts them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, Uid, WaitOptions, getpgid, getpgrp, getpid, kill_process, kill_process_group, wait,
};

/// How long a tree that keeps growing is fought.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often orphans are looked for before all processes are.
const SWEEPS: usize = 16;
/// Most generations between the warden and a process. What is deeper counts as somebody else's.
const MAX_DEPTH: usize = 4096;

/// Sends a signal to every process below this one; to parents first, so that whoever waits for a child
/// knows when that ends.
pub(super) fn signal(signal: Signal) {
    send(&descendants(&[]), signal);
}

fn send(processes: &[Pid], signal: Signal) {
    let mut groups = HashSet::new();
    let own = getpgrp();
    for &pid in processes {
        // It may have ended since, and so may its group. Those that are just being started are in ours.
        let group = getpgid(Some(pid)).ok().filter(|group| *group != own);
        let _gone = kill_process(pid, signal);
        // Nobody escapes from a group by starting another process in it.
        let _gone =
            group.filter(|it| groups.insert(*it)).map(|group| kill_process_group(group, signal));
    }
}

/// Ends every process below this one and waits until they are gone. A tree that forks faster than
/// it dies is stopped first.
pub(super) fn kill() {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline && !reap() && !kill_once(&[]) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Ends every process below this one but for some children of its own and what is below those. Says whether none is left.
pub(super) fn kill_once(but: &[Pid]) -> bool {
    for _ in 0..SWEEPS {
        // One that starts another and ends at once is gone when all others have been looked at, and its child is here.
        for orphan in orphans(but).into_iter().flatten() {
            let _gone = kill_process(orphan, Signal::KILL);
        }
    }
    let below = descendants(but);
    send(&below, Signal::STOP);
    send(&below, Signal::KILL);
    // The last orphan of a process comes here before that can be reaped, so nothing is below a process without children.
    reap() || orphans(but).map_or_else(|| below.is_empty(), |orphans| orphans.is_empty())
}

/// Takes note of every child that has ended. Says whether there is none any more.
fn reap() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => return false,
            Err(error) => return error == Errno::CHILD,
        }
    }
}

/// Whether this process has children but for some, or may have.
pub(super) fn has_orphans(but: &[Pid]) -> bool {
    orphans(but).is_none_or(|orphans| !orphans.is_empty())
}

/// The children of this process but for some, where the kernel lists them.
fn orphans(but: &[Pid]) -> Option<Vec<Pid>> {
    let me = getpid().as_raw_nonzero();
    let children = fs::read_to_string(format!("/proc/{me}/task/{me}/children")).ok()?;
    let numbers = children.split_ascii_whitespace().filter_map(|it| it.parse().ok());
    Some(numbers.filter_map(Pid::from_raw).filter(|it| !but.contains(it)).collect())
}

/// Whether a process or thread is below this process.
pub(super) fn has(process: Pid) -> bool {
    let me = getpid().as_raw_nonzero().get();
    let mut above = process.as_raw_nonzero().get();
    for _ in 0..MAX_DEPTH {
        match ProcessState::of(above).map(|it| it.parent) {
            Some(parent) if parent == me => return true,
            Some(parent) if parent > 1 => above = parent,
            _ => return false,
        }
    }
    false
}

/// How many processes and threads a user has.
pub(crate) fn tasks_of(user: Uid) -> u64 {
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let tasks = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        entry.file_name().to_str()?.parse::<i32>().ok()?;
        let folder = entry.path().join("task").metadata().ok()?;
        // Two links are those of any folder, the others one for each thread.
        (folder.uid() == user.as_raw()).then(|| folder.nlink().saturating_sub(2))
    });
    tasks.sum()
}

/// Every process below this one that has not ended, children after their parents, but for some and what is below those.
pub(super) fn descendants(but: &[Pid]) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let but: HashSet<i32> = but.iter().map(|it| it.as_raw_nonzero().get()).collect();
    let pids = pids.filter(|pid| !but.contains(pid));
    // One that ends meanwhile still leads to its children, which were looked at before.
    let states: HashMap<i32, ProcessState> =
        pids.filter_map(|pid| Some((pid, ProcessState::of(pid)?))).collect();
    let me = getpid().as_raw_nonzero().get();
    let (mut below, mut in_order) = (HashSet::<i32>::new(), Vec::new());
    loop {
        let found: Vec<i32> = states
            .iter()
            .filter(|(pid, state)| {
                !below.contains(pid) && (state.parent == me || below.contains(&state.parent))
            })
            .map(|(pid, _)| *pid)
            .collect();
        if found.is_empty() {
            in_order.retain(|pid| states.get(pid).is_some_and(|it| !it.has_ended));
            return in_order.into_iter().filter_map(Pid::from_raw).collect();
        }
        in_order.extend(&found);
        below.extend(found);
    }
}

/// What the kernel says about a process that nobody has taken note of.
struct ProcessState {
    parent: i32,
    /// Whether all of its threads have.
    has_ended: bool,
}

impl ProcessState {
    fn of(pid: i32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name is in parentheses and may contain anything.
        let (_, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let threads: u64 = fields.nth(15)?.parse().ok()?;
        // The letter is that of the first thread, which can end before others.
        let has_ended = matches!(state, "Z" | "X") && threads <= 1;
        Some(Self { parent, has_ended })
    }
}
