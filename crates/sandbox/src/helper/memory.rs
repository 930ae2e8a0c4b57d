//! How much memory a tree uses, where no control group counts it.
//!
//! The warden looks every now and then and ends a tree that uses too much. A look adds up what the kernel says about
//! each process, which counts pages that several of them have once for each. If that is more than the tree may use, it asks
//! for shares instead, which takes longer: a page of two processes is half a page of each. Memory
//! that is mapped by nobody does not count, so the filter keeps programs from making such
//! (`memfd_create`, `shmget`, `vmsplice`). Files of the private temporary folders are memory as well.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::fs::{major, minor, statvfs};

use super::launch::Bounds;
use super::tree;
use crate::policy::Level;
use crate::wire::Order;

/// The time between looks: at least this, else so many times as long as one takes, at most that.
const INTERVAL: Duration = Duration::from_millis(50);
const SHARE: u32 = 10;
const MAX_INTERVAL: Duration = Duration::from_millis(200);
/// How often the threads of a process are listed until one of them is found that has not ended meanwhile.
const LISTINGS: usize = 8;
/// Folders in memory that a program has of its own at level `full`.
const TEMPORARY: [&str; 2] = ["/tmp", "/dev/shm"];
/// What the kernel calls the tables about a process's memory, which can take more than that does. `VmPMD` is there on older
/// kernels.
const PAGE_TABLES: [&str; 2] = ["VmPTE:", "VmPMD:"];
/// What the kernel calls files that are in memory and nowhere else.
const MEMORY_FILE: &str = "/memfd:";

/// Looks at the memory of a tree.
pub(super) struct MemoryMeter {
    /// Most that the tree may use, in bytes.
    limit: u64,
    level: Level,
    next: Instant,
}

impl MemoryMeter {
    /// A meter for a program that was started, unless a control group bounds it.
    pub(super) fn new(order: &Order, bounds: Option<Bounds>) -> Option<Self> {
        let (limit, level) = (order.job.limits.memory, order.job.policy.level);
        let next = Instant::now() + INTERVAL;
        (bounds != Some(Bounds::Group)).then_some(Self { limit, level, next })
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
        let is_over = self.look();
        self.next = Instant::now() + (started.elapsed() * SHARE).clamp(INTERVAL, MAX_INTERVAL);
        is_over
    }

    fn look(&self) -> bool {
        let processes: Vec<ProcessMemory> =
            self.processes().into_iter().filter_map(ProcessMemory::of).collect();
        let files = Files::of(&processes, self.level);
        let total: u64 = processes.iter().map(|process| process.resident).sum();
        if total.saturating_add(files.bytes) <= self.limit {
            return false;
        }
        let shares: u64 = processes.iter().map(|process| files.share_beside(process)).sum();
        shares.saturating_add(files.bytes) > self.limit
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

/// A process, with a quick count of its memory.
struct ProcessMemory {
    /// The folder in `/proc` of one of its threads.
    folder: PathBuf,
    /// Memory that is not that of files on a disk, in bytes, with the tables about it.
    resident: u64,
    /// The tables alone.
    tables: u64,
}

impl ProcessMemory {
    /// Counts the memory of a process, unless it has ended.
    fn of(number: i32) -> Option<Self> {
        let folder = PathBuf::from(format!("/proc/{number}"));
        if let Some(memory) = Self::of_thread(folder.clone()) {
            return Some(memory);
        }
        // Its first thread has ended and tells nothing any more; the others have the same memory.
        for _ in 0..LISTINGS {
            let threads = fs::read_dir(folder.join("task")).ok()?.filter_map(Result::ok);
            let threads: Vec<PathBuf> = threads.map(|thread| thread.path()).collect();
            if threads.len() <= 1 {
                return None;
            }
            if let Some(memory) = threads.into_iter().find_map(Self::of_thread) {
                return Some(memory);
            }
        }
        None
    }

    fn of_thread(folder: PathBuf) -> Option<Self> {
        let status = fs::read_to_string(folder.join("status")).ok()?;
        if !status.contains("\nVmRSS:") {
            return None;
        }
        let tables = sum(&status, &PAGE_TABLES);
        let resident = sum(&status, &["RssAnon:", "RssShmem:", "VmSwap:"]).saturating_add(tables);
        Some(Self { folder, resident, tables })
    }
}

/// Files in memory, counted as a whole.
#[derive(Default)]
struct Files {
    bytes: u64,
    /// Devices whose files are counted, as `/proc` writes them.
    devices: HashSet<String>,
    /// Files that are counted, by number.
    numbers: HashSet<u64>,
}

impl Files {
    fn of(processes: &[ProcessMemory], level: Level) -> Self {
        let mut files = Self::default();
        match level {
            Level::Full => TEMPORARY.iter().for_each(|folder| files.add_folder(folder)),
            // The filter lets nobody make any.
            Level::Landlock => {}
            Level::None => processes.iter().for_each(|process| files.add_open_by(process)),
        }
        files
    }

    /// Adds a file system.
    fn add_folder(&mut self, folder: &str) {
        let (Ok(state), Ok(found)) = (statvfs(folder), fs::metadata(folder)) else { return };
        let used = state.f_blocks.saturating_sub(state.f_bfree);
        self.bytes = self.bytes.saturating_add(used.saturating_mul(state.f_frsize));
        self.devices.insert(format!("{:02x}:{:02x}", major(found.dev()), minor(found.dev())));
    }

    /// Adds the files of memory that a process has open.
    fn add_open_by(&mut self, process: &ProcessMemory) {
        let open = fs::read_dir(process.folder.join("fd")).into_iter().flatten();
        for entry in open.filter_map(Result::ok) {
            let is_memory = fs::read_link(entry.path()).is_ok_and(|it| {
                it.as_os_str().to_str().is_some_and(|it| it.starts_with(MEMORY_FILE))
            });
            if is_memory
                && let Ok(found) = fs::metadata(entry.path())
                && self.numbers.insert(found.ino())
            {
                self.bytes = self.bytes.saturating_add(found.blocks().saturating_mul(512));
            }
        }
    }

    /// What a process has of memory beside these files, pages of several processes by shares. One that lets nobody look is
    /// taken to have all for itself.
    fn share_beside(&self, process: &ProcessMemory) -> u64 {
        let Ok(all) = fs::read_to_string(process.folder.join("smaps_rollup")) else {
            return process.resident;
        };
        let all =
            sum(&all, &["Pss_Anon:", "Pss_Shmem:", "SwapPss:"]).saturating_add(process.tables);
        if self.devices.is_empty() && self.numbers.is_empty() {
            return all;
        }
        let parts = fs::read_to_string(process.folder.join("smaps")).unwrap_or_default();
        let (mut counted, mut is_counted) = (0_u64, false);
        for line in parts.lines() {
            match Mapping::parse(line) {
                Some(mapping) => is_counted = self.has(&mapping),
                None if is_counted => {
                    counted = counted.saturating_add(sum(line, &["Pss:", "SwapPss:"]))
                }
                None => {}
            }
        }
        all.saturating_sub(counted)
    }

    fn has(&self, mapping: &Mapping<'_>) -> bool {
        let is_memory = mapping.path.starts_with(MEMORY_FILE);
        self.devices.contains(mapping.device) || is_memory && self.numbers.contains(&mapping.number)
    }
}

/// The first line about a part of a process's memory.
struct Mapping<'a> {
    device: &'a str,
    number: u64,
    path: &'a str,
}

impl<'a> Mapping<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace();
        // Every other line begins with a word and a colon.
        fields.next().filter(|range| !range.ends_with(':'))?;
        let device = fields.nth(2)?;
        Some(Self {
            device,
            number: fields.next()?.parse().ok()?,
            path: fields.next().unwrap_or(""),
        })
    }
}

/// The sum of the numbers behind some words, in bytes; lines have them in kibibytes.
fn sum(text: &str, words: &[&str]) -> u64 {
    let numbers = text.lines().filter_map(|line| {
        let rest = words.iter().find_map(|word| line.strip_prefix(word))?;
        rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    });
    numbers.fold(0, u64::saturating_add).saturating_mul(1024)
}
