//! How much memory a process has, and files that are nowhere else, as the kernel tells it.
//!
//! Some of that is quick and counts pages of several processes for each of them, and some is shares of pages, which takes longer
//! the more mappings and pages there are.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Instant;

use rustix::fs::{major, minor, statvfs};

use crate::policy::Level;

/// How often the threads of a process are listed until one of them is found that has not ended meanwhile.
const LISTINGS: usize = 8;
/// What a file in memory takes beside its content: about 700 bytes, a name, and what finds both.
const FILE_OVERHEAD: u64 = 1 << 10;
/// Folders in memory that a program has of its own at level `full`.
const TEMPORARY: [&str; 2] = ["/tmp", "/dev/shm"];
/// What the kernel calls the tables about a process's memory, which can take more than that does. `VmPMD` is there on older
/// kernels.
const PAGE_TABLES: [&str; 2] = ["VmPTE:", "VmPMD:"];
/// What the kernel calls files that are in memory and nowhere else.
const MEMORY_FILE: &str = "/memfd:";

/// A process, with a quick count of its memory.
pub(super) struct ProcessMemory {
    /// Its number in `/proc`.
    pub(super) number: i32,
    /// The folder in `/proc` of one of its threads.
    folder: PathBuf,
    /// Memory that is not that of files on a disk, in bytes, with the tables about it.
    pub(super) resident: u64,
    /// The tables alone.
    tables: u64,
}

impl ProcessMemory {
    /// Counts the memory of a process, unless it has ended.
    pub(super) fn of(number: i32) -> Option<Self> {
        let folder = PathBuf::from(format!("/proc/{number}"));
        if let Some(memory) = Self::of_thread(number, folder.clone()) {
            return Some(memory);
        }
        // Its first thread has ended and tells nothing any more; the others have the same memory.
        for _ in 0..LISTINGS {
            let threads = fs::read_dir(folder.join("task")).ok()?.filter_map(Result::ok);
            let threads: Vec<PathBuf> = threads.map(|thread| thread.path()).collect();
            if threads.len() <= 1 {
                return None;
            }
            if let Some(memory) =
                threads.into_iter().find_map(|thread| Self::of_thread(number, thread))
            {
                return Some(memory);
            }
        }
        None
    }

    fn of_thread(number: i32, folder: PathBuf) -> Option<Self> {
        let status = fs::read_to_string(folder.join("status")).ok()?;
        if !status.contains("\nVmRSS:") {
            return None;
        }
        let tables = sum(&status, &PAGE_TABLES);
        let resident = sum(&status, &["RssAnon:", "RssShmem:", "VmSwap:"]).saturating_add(tables);
        Some(Self { number, folder, resident, tables })
    }
}

/// The share of a process in memory, in bytes.
#[derive(Clone, Copy)]
pub(super) struct MemoryShare {
    pub(super) least: u64,
    /// Different where there was no time to tell mapped files, which are counted already, from other shared memory.
    pub(super) most: u64,
}

/// Files in memory, counted as a whole.
#[derive(Default)]
pub(super) struct MemoryFiles {
    pub(super) bytes: u64,
    /// Devices whose files are counted, as `/proc` writes them.
    devices: HashSet<String>,
    /// Files that are counted, by number.
    numbers: HashSet<u64>,
}

impl MemoryFiles {
    pub(super) fn of(processes: &[ProcessMemory], level: Level) -> Self {
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
        let number = state.f_files.saturating_sub(state.f_ffree);
        self.bytes = self.bytes.saturating_add(used.saturating_mul(state.f_frsize));
        self.bytes = self.bytes.saturating_add(number.saturating_mul(FILE_OVERHEAD));
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

    /// What a process has of memory beside these files, pages of several processes by shares, if there is time to find out.
    /// One that lets nobody look is taken to have all for itself.
    pub(super) fn share_beside(
        &self,
        process: &ProcessMemory,
        deadline: Instant,
    ) -> Option<MemoryShare> {
        if Instant::now() >= deadline {
            return None;
        }
        let exactly = |bytes| Some(MemoryShare { least: bytes, most: bytes });
        let Ok(all) = fs::read_to_string(process.folder.join("smaps_rollup")) else {
            // It may have ended by now.
            return exactly(ProcessMemory::of(process.number).map_or(0, |it| it.resident));
        };
        let shared = sum(&all, &["Pss_Shmem:"]);
        let other = sum(&all, &["Pss_Anon:", "SwapPss:"]).saturating_add(process.tables);
        let most = shared.saturating_add(other);
        if shared == 0 || self.devices.is_empty() && self.numbers.is_empty() {
            return exactly(most);
        }
        match self.mapped_by(process, deadline) {
            Some(mapped) => exactly(shared.saturating_sub(mapped).saturating_add(other)),
            None => Some(MemoryShare { least: other, most }),
        }
    }

    /// What a process has mapped of these files, if there is time to find out. Its own changed copies of their pages are no
    /// part of them.
    fn mapped_by(&self, process: &ProcessMemory, deadline: Instant) -> Option<u64> {
        let parts = File::open(process.folder.join("smaps")).ok()?;
        let (mut mapped, mut share, mut is_counted) = (0_u64, 0_u64, false);
        for line in BufReader::new(parts).split(b'\n') {
            let Ok(line) = line else { break };
            let line = String::from_utf8_lossy(&line);
            if let Some(mapping) = Mapping::parse(&line) {
                if Instant::now() >= deadline {
                    return None;
                }
                is_counted = self.has(&mapping);
                mapped = mapped.saturating_add(share);
                share = 0;
            } else if is_counted {
                share = share.saturating_add(sum(&line, &["Pss:"]));
                share = share.saturating_sub(sum(&line, &["Anonymous:"]));
            }
        }
        Some(mapped.saturating_add(share))
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

/// What the whole machine has left of memory, in bytes, as far as it tells.
pub(super) fn available_memory() -> u64 {
    sum(&fs::read_to_string("/proc/meminfo").unwrap_or_default(), &["MemAvailable:"])
}
