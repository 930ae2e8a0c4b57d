//! Ending a tree of processes that has no namespace of its own.
//!
//! The warden adopts every orphan below it, so all of the tree can be found by following parents.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, Uid, WaitOptions, getpid, kill_process, wait};

/// How long a tree that keeps growing is fought.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sends a signal to every process below this one; to parents first, so that whoever waits for a child
/// knows when that ends.
pub(super) fn signal(signal: Signal) -> usize {
    let below = descendants();
    for &pid in &below {
        // It may have ended since.
        let _gone = kill_process(pid, signal);
    }
    below.len()
}

/// Ends every process below this one and waits until they are gone. A tree that forks faster than
/// it dies is stopped first.
pub(super) fn kill() {
    if matches!(wait(WaitOptions::NOHANG), Err(Errno::CHILD)) {
        // Every orphan comes here, so there is nobody.
        return;
    }
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        signal(Signal::STOP);
        let left = signal(Signal::KILL);
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        if left == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// How many processes and threads a user has.
pub(super) fn tasks_of(user: Uid) -> u64 {
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

/// Every process below this one, children after their parents.
fn descendants() -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let parents: HashMap<i32, i32> = pids.filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let me = getpid().as_raw_nonzero().get();
    let (mut below, mut in_order) = (HashSet::<i32>::new(), Vec::new());
    loop {
        let found: Vec<i32> = parents
            .iter()
            .filter(|(pid, parent)| {
                !below.contains(pid) && (**parent == me || below.contains(parent))
            })
            .map(|(pid, _)| *pid)
            .collect();
        if found.is_empty() {
            return in_order.into_iter().filter_map(Pid::from_raw).collect();
        }
        in_order.extend(&found);
        below.extend(found);
    }
}

/// The parent of a process that has not ended.
fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may contain anything.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let is_alive = fields.next()? != "Z";
    let parent = fields.next()?.parse().ok()?;
    is_alive.then_some(parent)
}
