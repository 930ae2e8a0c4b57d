//! Scanning roots: in parallel, with a cache that makes an unchanged root cost only `stat` calls.

use std::fmt::Display;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::SystemTime;

use crate::cache::{self, Stored};
use crate::catalog::HeaderTokens;
use crate::diagnostic::Code;
use crate::discover::Root;
use crate::discover::record::{HeaderReading, Record};
use crate::discover::walk::{Candidate, Walk, is_skill_file, walk};
use crate::files::{Digest, Identity};
use crate::header::Manifest;
use crate::problem::Problem;

/// Most threads of a scan: it waits for the disk more than it computes.
const MAX_THREADS: usize = 8;
/// Headers below which another thread costs more than it saves.
const HEADERS_PER_THREAD: usize = 64;

/// Where to look.
#[derive(Clone, Copy, Debug)]
pub struct ScanOptions<'a> {
    /// Folders, from the one that yields to the one that wins.
    pub roots: &'a [Root],
    /// Where headers are remembered, if anywhere.
    pub cache: Option<&'a Path>,
}

/// A skill that was found, usable or not.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its `SKILL.md`.
    pub file: PathBuf,
    /// The state of that file when it was read.
    pub identity: Identity,
    /// The digest of that file as its header was parsed; of a project's skill only.
    pub digest: Option<Digest>,
    /// Whether neither that file nor its folder is a link, as far as the walk knows.
    pub(crate) is_direct: bool,
    /// What its header says.
    pub manifest: Box<Manifest>,
    /// What name and description cost.
    pub tokens: HeaderTokens,
}

impl Found {
    /// The skill's folder.
    pub fn folder(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }
}

/// What one root holds.
#[derive(Debug, Default)]
pub struct RootScan {
    /// Skills, by folder.
    pub found: Vec<Found>,
    /// Names of the folders of skills that cannot be read.
    pub unread: Vec<String>,
    /// Whether there may be more skills, in folders that cannot be read or are beyond a bound.
    pub is_partial: bool,
    /// What was noticed.
    pub problems: Vec<Problem>,
}

/// Scans every root. The results are in the order of the roots, whatever the timing.
pub fn scan(options: &ScanOptions<'_>) -> Vec<RootScan> {
    in_parallel(options.roots, 1, |root, _| scan_root(root, options.cache))
}

/// Reads one skill's header, past every cache.
///
/// # Errors
///
/// When there is no `SKILL.md` that can be read.
pub fn read_skill(folder: &Path) -> Result<(Option<Found>, Vec<Problem>), Box<Problem>> {
    let file = skill_file(folder);
    let refuse = |why: &dyn Display| {
        Problem::new(Code::NotAFile, &file, format!("`SKILL.md` cannot be read: {why}"))
    };
    let metadata = fs::metadata(&file).map_err(|error| refuse(&error))?;
    if !metadata.is_file() {
        return Err(Box::new(refuse(&"it is not a regular file")));
    }
    let candidate = Candidate { file, identity: Identity::of(&metadata), is_direct: false };
    let record = Record::read(&candidate, HeaderReading::Beginning, &mut Vec::new())?;
    Ok(unpack(candidate, record))
}

/// `SKILL.md` of a folder, or the file that stands in for it in another case.
fn skill_file(folder: &Path) -> PathBuf {
    let usual = folder.join("SKILL.md");
    if usual.symlink_metadata().is_ok() {
        return usual;
    }
    let names = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let other = names.map(|entry| entry.file_name()).filter(|name| is_skill_file(name)).min();
    other.map_or(usual, |name| folder.join(name))
}

fn scan_root(root: &Root, cache: Option<&Path>) -> RootScan {
    let cache_file = cache.map(|folder| cache_file(folder, root));
    let stored = cache_file.as_deref().and_then(cache::read);
    let started = SystemTime::now();
    let Walk { candidates, refused, is_partial, problems } = walk(root);
    let unread = refused.iter().filter_map(|folder| folder_name(folder)).collect();
    let found = Vec::with_capacity(candidates.len());
    let mut scan = RootScan { found, unread, is_partial, problems };
    let reading = match root.project {
        Some(_) => HeaderReading::Digested,
        None => HeaderReading::Beginning,
    };
    let (mut records, forgotten) = recall(stored.as_ref(), &candidates, reading);
    let fresh: Vec<usize> = (0..records.len()).filter(|&it| records[it].is_none()).collect();
    let read = in_parallel(&fresh, HEADERS_PER_THREAD, |&index, buffer| {
        Record::read(&candidates[index], reading, buffer)
    });
    for (&index, result) in fresh.iter().zip(read) {
        match result {
            Ok(record) => records[index] = Some(record),
            Err(problem) => scan.problems.push(problem),
        }
    }
    if let Some(file) = cache_file.filter(|_| !fresh.is_empty() || forgotten > 0) {
        remember(&file, &candidates, &records, started);
    }
    for (candidate, record) in candidates.into_iter().zip(records) {
        if record.as_ref().is_none_or(|it| it.manifest.is_none()) {
            scan.unread.extend(candidate.file.parent().and_then(folder_name));
        }
        if let Some(record) = record {
            let (found, problems) = unpack(candidate, record);
            scan.found.extend(found);
            scan.problems.extend(problems);
        }
    }
    scan.problems.sort();
    scan
}

fn folder_name(folder: &Path) -> Option<String> {
    folder.file_name().map(|name| name.to_string_lossy().into_owned())
}

fn unpack(candidate: Candidate, record: Record) -> (Option<Found>, Vec<Problem>) {
    let Candidate { file, is_direct, .. } = candidate;
    let Record { identity, digest, manifest, problems, tokens } = record;
    let found = |manifest| Found { file, identity, digest, is_direct, manifest, tokens };
    (manifest.map(found), problems)
}

/// One cache file a root, so that scanning one root never reads what is known of others.
fn cache_file(folder: &Path, root: &Root) -> PathBuf {
    let path = root.path.as_os_str().as_encoded_bytes();
    let name = blake3::hash(path).to_hex();
    folder.join("headers").join(&name[..32])
}

/// What was known of each candidate, where its file is still the same, and how many files are not
/// there any more. Candidates and cache are sorted by path.
fn recall(
    stored: Option<&Stored>,
    candidates: &[Candidate],
    reading: HeaderReading,
) -> (Vec<Option<Record>>, usize) {
    let known = stored.into_iter().flat_map(Stored::items::<(&Path, Record)>);
    let mut known = known.peekable();
    let mut forgotten = 0;
    let mut records = Vec::with_capacity(candidates.len());
    for Candidate { file, identity, .. } in candidates {
        while known.next_if(|(other, _)| other.as_os_str() < file.as_os_str()).is_some() {
            forgotten += 1;
        }
        let same = known.next_if(|(other, _)| other.as_os_str() == file.as_os_str());
        records.push(same.map(|(_, record)| record).filter(|it| it.is_current(identity, reading)));
    }
    (records, forgotten + known.count())
}

/// Files that changed a moment before the scan started, or since, are left out: a further change
/// might not show.
fn remember(
    file: &Path,
    candidates: &[Candidate],
    records: &[Option<Record>],
    started: SystemTime,
) {
    let settled: Vec<(&Path, &Record)> = candidates
        .iter()
        .zip(records)
        .filter_map(|(candidate, record)| Some((&*candidate.file, record.as_ref()?)))
        .filter(|(_, record)| record.identity.was_settled(started))
        .collect();
    cache::store(file, &settled);
}

/// Maps in the order of `items`, on as many threads as pay off, each with a buffer of its own.
pub(crate) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    per_thread: usize,
    work: impl Fn(&T, &mut Vec<u8>) -> R + Sync,
) -> Vec<R> {
    let useful = MAX_THREADS.min(items.len().div_ceil(per_thread));
    // How many cores there are is asked of a dozen files.
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    let threads = if useful > 1 { useful.min(cores()) } else { useful };
    if threads <= 1 {
        let mut buffer = Vec::new();
        return items.iter().map(|item| work(item, &mut buffer)).collect();
    }
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        let mut buffer = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return done };
            done.push((index, work(item, &mut buffer)));
        }
    };
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(take)).collect();
        let mut done = take();
        for other in others {
            match other.join() {
                Ok(theirs) => done.extend(theirs),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
