//! How much memory a tree uses, where no control group counts it.
//!
//! The warden looks every now and then and ends a tree that uses too much. A look adds up what the kernel says about
//! each process, which counts pages that several of them have once for each. If that is more than the tree may use, it asks
//! for shares instead, which takes longer: a page of two processes is half a page of each. A program decides how much longer,
//! by its mappings, so a look has a deadline. What was not reached by then counts as it was known before, with all that has
//! come since. Memory that is mapped by nobody does not count, so the filter keeps programs from making such
//! (`memfd_create`, `shmget`, `vmsplice`). Files of the private temporary folders are memory as well.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

use super::footprint::{MemoryFiles, MemoryShare, ProcessMemory, available_memory};
use super::launch::Bounds;
use super::tree;
use crate::policy::Level;
use crate::wire::Order;

/// The time between looks: at least this, else so many times as long as one takes, at most that.
const INTERVAL: Duration = Duration::from_millis(50);
const SHARE: u32 = 10;
const MAX_INTERVAL: Duration = Duration::from_millis(200);
/// The most time for the shares of one look: what a program adds in that time is not seen.
const LOOK: Duration = Duration::from_millis(250);
/// How long looks may fail to find out how much a tree uses, while the machine has enough left.
const DOUBT: Duration = Duration::from_secs(10);

/// Looks at the memory of a tree.
pub(super) struct MemoryMeter {
    /// Most that the tree may use, in bytes.
    limit: u64,
    level: Level,
    next: Instant,
    /// Looks so far.
    looks: u64,
    /// What was found out about processes, by their numbers.
    known: HashMap<i32, KnownShare>,
    /// Since when looks have been too short.
    in_doubt: Option<Instant>,
}

/// The share of a process in the memory of all.
struct KnownShare {
    /// In bytes.
    share: u64,
    /// What it had then, pages of others included.
    resident: u64,
    /// The look at which this was found out.
    look: u64,
}

impl MemoryMeter {
    /// A meter for a program that was started, unless a control group bounds it.
    pub(super) fn new(order: &Order, bounds: Option<Bounds>) -> Option<Self> {
        let (limit, level) = (order.job.limits.memory, order.job.policy.level);
        let (next, known) = (Instant::now() + INTERVAL, HashMap::new());
        let meter = Self { limit, level, next, looks: 0, known, in_doubt: None };
        (bounds != Some(Bounds::Group)).then_some(meter)
    }

    /// When the next look is due.
    pub(super) fn due(&self) -> Instant {
        self.next
    }

    /// Looks, if that is due. Says whether the tree uses more than it may.
    pub(super) fn is_over(&mut self) -> bool {
        let started = Instant::now();
        if started < self.next {
            return false;
        }
        let is_over = match self.look(started + LOOK) {
            Some(is_over) => {
                self.in_doubt = None;
                is_over
            }
            None => self.is_doubtful(started),
        };
        self.next = Instant::now() + (started.elapsed() * SHARE).clamp(INTERVAL, MAX_INTERVAL);
        is_over
    }

    /// Says whether the tree uses more than it may, if that could be found out in time.
    fn look(&mut self, deadline: Instant) -> Option<bool> {
        self.looks += 1;
        let processes = self.processes().into_iter().filter_map(ProcessMemory::of);
        let mut processes: Vec<ProcessMemory> = processes.collect();
        let files = MemoryFiles::of(&processes, self.level);
        let mut rest = processes.iter().map(|it| it.resident).fold(0, u64::saturating_add);
        // Shared memory that may be files that are counted already: not more of it than there is of them.
        let (mut sure, mut unclear) = (files.bytes, 0_u64);
        processes.sort_by_cached_key(|process| self.urgency(process));
        for process in &processes {
            let most = sure.saturating_add(unclear).saturating_add(rest);
            if sure > self.limit || most <= self.limit {
                break;
            }
            let Some(MemoryShare { least, most }) = files.share_beside(process, deadline) else {
                break;
            };
            sure = sure.saturating_add(least);
            unclear = unclear.saturating_add(most.saturating_sub(least));
            rest = rest.saturating_sub(process.resident);
            let known = KnownShare { share: most, resident: process.resident, look: self.looks };
            self.known.insert(process.number, known);
        }
        self.known.retain(|number, _| processes.iter().any(|process| process.number == *number));
        if sure.saturating_add(unclear.saturating_sub(files.bytes)) > self.limit {
            return Some(true);
        }
        let each = processes.iter().map(|process| self.estimate(process));
        let likely = each.fold(files.bytes, u64::saturating_add);
        let most = sure.saturating_add(unclear).saturating_add(rest);
        (likely.min(most) <= self.limit).then_some(false)
    }

    /// What is sorted by so that what changed most comes first, in mebibytes, then what was not looked at for longest.
    fn urgency(&self, process: &ProcessMemory) -> (Reverse<u64>, u64) {
        let known = self.known.get(&process.number);
        (Reverse(self.growth(process) >> 20), known.map_or(0, |known| known.look))
    }

    /// What a process has more than when its share was found out.
    fn growth(&self, process: &ProcessMemory) -> u64 {
        let known = self.known.get(&process.number).map_or(0, |known| known.resident);
        process.resident.saturating_sub(known)
    }

    /// What a process has at most that has not changed its share otherwise than by growing.
    fn estimate(&self, process: &ProcessMemory) -> u64 {
        let share = self.known.get(&process.number).map_or(0, |known| known.share);
        share.saturating_add(self.growth(process)).min(process.resident.max(share))
    }

    /// Whether a tree counts as using more than it may that has too much to look at. Every look finds out more, so those
    /// that keep still are known before long.
    fn is_doubtful(&mut self, now: Instant) -> bool {
        let since = *self.in_doubt.get_or_insert(now);
        available_memory() < self.limit || now.duration_since(since) > DOUBT
    }

    /// The processes of the tree, by their numbers in `/proc`.
    fn processes(&self) -> Vec<i32> {
        if self.level != Level::Full {
            let below = tree::descendants(&[]);
            return below.into_iter().map(|it| it.as_raw_nonzero().get()).collect();
        }
        // The first process has moved the root of this one along, and its `/proc` shows the namespace.
        let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }
}
