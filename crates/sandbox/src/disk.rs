//! How much a run puts on the disk, looked at from outside every now and then.
//!
//! A look asks file systems how full they are, which costs next to nothing. Files are counted when those
//! have grown by as much as the run may use, and every now and then in any case: others may have made
//! room meanwhile. A program can hide files from the count: below
//! folders that it closed, which then is held against it, or by removing them while they are open. Those
//! end with it, and before they take the last of the disk.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::mem;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::statvfs;

use crate::cancel::Cancel;
use crate::limits::Limits;
use crate::policy::Access;
use crate::program::Job;

/// Runs that are shorter are not looked at: what they can write in that time is little.
const FIRST_LOOK: Duration = Duration::from_millis(200);
/// The time between looks.
const INTERVAL: Duration = Duration::from_millis(200);
/// The time between counts, at least, when nothing asks for one; and how often as long as one takes.
const COUNT_INTERVAL: Duration = Duration::from_secs(1);
const COUNT_SHARE: u32 = 20;
/// How far the clock of files may be behind.
const TICK: Duration = Duration::from_millis(20);
/// Most files of a run: file systems also run out of places for files.
const MAX_FILES: u64 = 1 << 20;

/// What a run uses of the disk, as far as is known.
#[derive(Debug)]
pub(crate) struct Meter {
    folders: Vec<PathBuf>,
    limits: Limits,
    /// Files that changed before are not the run's; in seconds and nanoseconds.
    since: (i64, i64),
    file_systems: Vec<FileSystem>,
    counted: Usage,
    /// From when on files may be counted again, and from when on they are.
    may_count: Instant,
    must_count: Instant,
}

/// A file system on which the run can write.
#[derive(Debug)]
struct FileSystem {
    folder: PathBuf,
    at_start: Usage,
    at_count: Usage,
    /// Whether there was more than must be left.
    is_spacious: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    bytes: u64,
    files: u64,
}

/// What a count found.
#[derive(Default)]
struct Count {
    usage: Usage,
    /// Whether something could not be looked into.
    is_partial: bool,
    linked: HashSet<(u64, u64)>,
}

impl Meter {
    fn new(folders: Vec<PathBuf>, limits: Limits) -> Self {
        let mut devices = HashSet::new();
        let is_other =
            |folder: &&PathBuf| fs::metadata(folder).is_ok_and(|found| devices.insert(found.dev()));
        let file_systems = folders.iter().filter(is_other).filter_map(|folder| {
            let (usage, free) = state_of(folder).ok()?;
            let is_spacious = free > limits.disk_left;
            let folder = folder.clone();
            Some(FileSystem { folder, at_start: usage, at_count: usage, is_spacious })
        });
        let start = (SystemTime::now() - TICK).duration_since(SystemTime::UNIX_EPOCH);
        let start = start.unwrap_or_default();
        Self {
            file_systems: file_systems.collect(),
            folders,
            limits,
            since: (start.as_secs().cast_signed(), start.subsec_nanos().into()),
            counted: Usage::default(),
            may_count: Instant::now(),
            must_count: Instant::now() + COUNT_INTERVAL,
        }
    }

    /// Whether the run uses more than it may.
    fn is_over(&mut self, stop: &AtomicBool) -> bool {
        let now: Vec<_> = self.file_systems.iter().map(|it| state_of(&it.folder).ok()).collect();
        let (mut since_count, mut since_start) = (self.counted, Usage::default());
        for (file_system, now) in self.file_systems.iter().zip(&now) {
            let Some((usage, free)) = now else { continue };
            if file_system.is_spacious && *free < self.limits.disk_left {
                return true;
            }
            since_count.add(usage.since(file_system.at_count));
            since_start.add(usage.since(file_system.at_start));
        }
        let started = Instant::now();
        let is_due = self.exceeds(since_count) && started >= self.may_count;
        if !is_due && started < self.must_count {
            return false;
        }
        let count = self.count(stop);
        let (took, ended) = (started.elapsed(), Instant::now());
        self.may_count = ended + took;
        self.must_count = ended + COUNT_INTERVAL.max(took * COUNT_SHARE);
        self.counted = count.usage;
        for (file_system, now) in self.file_systems.iter_mut().zip(now) {
            file_system.at_count = now.map_or(file_system.at_count, |(usage, _)| usage);
        }
        self.exceeds(count.usage) || count.is_partial && self.exceeds(since_start)
    }

    fn exceeds(&self, usage: Usage) -> bool {
        usage.bytes > self.limits.disk_bytes || usage.files > MAX_FILES
    }

    /// Counts what changed since the run began, as far as it must be counted.
    fn count(&self, stop: &AtomicBool) -> Count {
        let mut count = Count::default();
        let mut left = self.folders.clone();
        while let Some(folder) = left.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    count.is_partial |= error.kind() != io::ErrorKind::NotFound;
                    continue;
                }
            };
            for entry in entries {
                if self.exceeds(count.usage) || stop.load(Ordering::Relaxed) {
                    return count;
                }
                // What went away in between uses nothing.
                let Some(found) = entry.ok().and_then(|it| Some((it.path(), it.metadata().ok()?)))
                else {
                    continue;
                };
                self.take(&mut count, &found.1);
                if found.1.is_dir() {
                    left.push(found.0);
                }
            }
        }
        count
    }

    fn take(&self, count: &mut Count, found: &fs::Metadata) {
        let is_new = (found.ctime(), found.ctime_nsec()) >= self.since;
        let is_linked = !found.is_dir() && found.nlink() > 1;
        if is_new && (!is_linked || count.linked.insert((found.dev(), found.ino()))) {
            count.usage.add(Usage { bytes: found.blocks() * 512, files: 1 });
        }
    }
}

impl Usage {
    fn add(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.files = self.files.saturating_add(other.files);
    }

    fn since(self, before: Self) -> Self {
        let (bytes, files) = (self.bytes, self.files);
        Self {
            bytes: bytes.saturating_sub(before.bytes),
            files: files.saturating_sub(before.files),
        }
    }
}

/// What is used of the file system of a folder, and how many bytes of it are free.
fn state_of(folder: &Path) -> io::Result<(Usage, u64)> {
    let state = statvfs(folder)?;
    let bytes = state.f_blocks.saturating_sub(state.f_bfree).saturating_mul(state.f_frsize);
    let usage = Usage { bytes, files: state.f_files.saturating_sub(state.f_ffree) };
    Ok((usage, state.f_bavail.saturating_mul(state.f_frsize)))
}

/// Looks at the disk while a run goes on.
#[derive(Debug)]
pub(crate) enum DiskWatch {
    /// Not before some moment.
    Later(Meter, Instant),
    Now(Looking),
    /// Not any more.
    Never,
}

impl DiskWatch {
    /// Notes how things are before a run.
    pub(crate) fn before(job: &Job) -> Self {
        let writable = job.policy.grants.iter().filter(|it| it.access == Access::Write);
        let folders = writable.map(|grant| grant.source.clone()).collect();
        Self::Later(Meter::new(folders, job.limits), Instant::now() + FIRST_LOOK)
    }

    /// The moment at which looking is to begin, if it has not.
    pub(crate) fn due(&self) -> Option<Instant> {
        if let Self::Later(_, moment) = self { Some(*moment) } else { None }
    }

    /// Begins to look, if that is due.
    pub(crate) fn begin_if_due(&mut self) -> io::Result<()> {
        if self.due().is_some_and(|moment| Instant::now() >= moment)
            && let Self::Later(meter, _) = mem::replace(self, Self::Never)
        {
            *self = Self::Now(Looking::start(meter)?);
        }
        Ok(())
    }

    /// The file that becomes readable when the run uses too much.
    pub(crate) fn file(&self) -> Option<BorrowedFd<'_>> {
        if let Self::Now(looking) = self { Some(looking.over.as_fd()) } else { None }
    }
}

/// Looks at the disk for a program that others run, from now on until it is dropped.
#[derive(Debug)]
pub struct DiskGuard(Looking);

impl DiskGuard {
    /// Bounds what is written to some folders.
    ///
    /// # Errors
    ///
    /// When the system has no room for another thread.
    pub fn new(folders: Vec<PathBuf>, limits: Limits) -> io::Result<Self> {
        Looking::start(Meter::new(folders, limits)).map(Self)
    }

    /// Is cancelled when more was written than may be.
    pub fn over(&self) -> &Cancel {
        &self.0.over
    }
}

/// A thread that looks.
#[derive(Debug)]
pub(crate) struct Looking {
    over: Cancel,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Looking {
    fn start(mut meter: Meter) -> io::Result<Self> {
        let (over, stop) = (Cancel::new()?, Arc::new(AtomicBool::new(false)));
        let (tell, stopped) = (over.clone(), Arc::clone(&stop));
        let look = move || {
            while !stopped.load(Ordering::Relaxed) {
                if meter.is_over(&stopped) {
                    return tell.cancel();
                }
                thread::park_timeout(INTERVAL);
            }
        };
        let thread = thread::Builder::new().name("metier-disk".to_owned()).spawn(look)?;
        Ok(Self { over, stop, thread: Some(thread) })
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It has nothing to say any more.
            let _ended = thread.join();
        }
    }
}
