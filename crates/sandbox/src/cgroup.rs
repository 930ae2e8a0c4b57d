//! Control groups: bounds for a whole tree, where the system lets us make one.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::limits::{Limit, Limits};

/// How far up from the own group another one may be made: a service manager hands out subtrees.
const MAX_STEPS_UP: usize = 3;
/// What names of groups begin with, before their [`Maker`].
const PREFIX: &str = "metier-";
/// How often the removal of a group is tried while its last processes go.
const REMOVAL_TRIES: u32 = 50;

/// How long is waited for the last processes of a group to go, which can have much memory to free.
const PATIENCE: Duration = Duration::from_secs(2);

/// One group, in as many hierarchies as it needs. Ended and removed when dropped.
#[derive(Debug)]
pub(crate) struct Group {
    version: Version,
    /// Where memory and processes are bounded; the same folder in the newer version.
    memory: PathBuf,
    processes: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Group {
    /// Makes a group with limits; nothing where that is not possible.
    pub(crate) fn new(limits: &Limits) -> Option<Self> {
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let name = unused_name();
        Self::second(&own, &name, limits).or_else(|| Self::first(&own, &name, limits))
    }

    fn second(own: &str, name: &str, limits: &Limits) -> Option<Self> {
        for parent in candidates(&second_path(own)?) {
            let folder = parent.join(name);
            if fs::create_dir(&folder).is_err() {
                continue;
            }
            let group = Self { version: Version::Two, memory: folder.clone(), processes: folder };
            let set = write(&group.memory.join("memory.max"), limits.memory).and_then(|()| {
                let _no_swap = write(&group.memory.join("memory.swap.max"), 0);
                write(&group.processes.join("pids.max"), limits.processes)
            });
            if set.is_ok() {
                return Some(group);
            }
        }
        None
    }

    fn first(own: &str, name: &str, limits: &Limits) -> Option<Self> {
        let make = |controller: &str| -> Option<PathBuf> {
            let folder = first_parent(own, controller)?.join(name);
            fs::create_dir(&folder).ok().map(|()| folder)
        };
        let memory = make("memory")?;
        let Some(processes) = make("pids") else {
            let _left = fs::remove_dir(&memory);
            return None;
        };
        let group = Self { version: Version::One, memory, processes };
        write(&group.memory.join("memory.limit_in_bytes"), limits.memory).ok()?;
        let _no_swap = write(&group.memory.join("memory.memsw.limit_in_bytes"), limits.memory);
        write(&group.processes.join("pids.max"), limits.processes).ok()?;
        Some(group)
    }

    /// Which version it is, in words.
    pub(crate) fn version(&self) -> &'static str {
        match self.version {
            Version::One => "version 1",
            Version::Two => "version 2",
        }
    }

    /// The files through which a process with one thread joins the group.
    pub(crate) fn doors(&self) -> Vec<PathBuf> {
        match self.version {
            // A thread that moves itself need not wait until the kernel has stopped every fork.
            Version::One => vec![self.memory.join("tasks"), self.processes.join("tasks")],
            Version::Two => vec![self.memory.join("cgroup.procs")],
        }
    }

    /// Ends everything in the group.
    pub(crate) fn kill(&self) {
        kill_all(&self.processes);
    }

    /// The limits that were met.
    pub(crate) fn met(&self) -> Vec<Limit> {
        let memory = match self.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        let mut met = Vec::new();
        if count(&self.memory.join(memory), "oom_kill") > 0 {
            met.push(Limit::Memory);
        }
        if count(&self.processes.join("pids.events"), "max") > 0 {
            met.push(Limit::Processes);
        }
        met
    }
}

/// Puts this process into a group, of which these are the doors. Says whether it is in.
pub(crate) fn join(doors: &[PathBuf]) -> bool {
    // Zero is whoever writes it.
    !doors.is_empty() && doors.iter().all(|door| write(door, 0).is_ok())
}

impl Drop for Group {
    fn drop(&mut self) {
        // Mostly its processes have been ended. A program may have made groups below it where nothing confines it.
        let _removed: usize =
            [&self.processes, &self.memory].map(|folder| remove_tree(folder)).iter().sum();
    }
}

/// Removes a group; says whether it was there and is gone.
fn remove(folder: &Path) -> bool {
    for _ in 0..REMOVAL_TRIES {
        match fs::remove_dir(folder) {
            // Processes that were killed are still on their way out.
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                std::thread::sleep(Duration::from_millis(2));
            }
            removed => return removed.is_ok(),
        }
    }
    false
}

/// Ends and removes what callers left behind that were killed themselves; gives how many groups.
pub fn remove_leftovers() -> usize {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut removed = 0;
    for parent in parents(&own) {
        let Ok(entries) = fs::read_dir(parent) else { continue };
        for entry in entries.filter_map(Result::ok) {
            if entry.file_name().to_str().is_some_and(is_left_over) {
                removed += remove_tree(&entry.path());
            }
        }
    }
    removed
}

/// Ends and removes a group with those below it, which programs of its own made; gives how many went.
fn remove_tree(group: &Path) -> usize {
    kill_all(group);
    let below = fs::read_dir(group).into_iter().flatten().filter_map(Result::ok);
    let below = below.filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir()));
    let removed: usize = below.map(|entry| remove_tree(&entry.path())).sum();
    removed + usize::from(remove(group))
}

/// Whether a name is that of a group whose maker is gone. Groups of other process namespaces are for
/// others to judge: their numbers mean nothing here.
fn is_left_over(name: &str) -> bool {
    let Some(maker) = name.strip_prefix(PREFIX).and_then(Maker::parse) else { return false };
    Some(maker.namespace) == namespace() && Maker::of(maker.process) != Some(maker)
}

/// The process that made a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Maker {
    namespace: u64,
    process: u32,
    /// When it was started: numbers of processes come again.
    started: u64,
}

impl Maker {
    /// A process that runs.
    fn of(process: u32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // Its name, in brackets, may have anything in it.
        let mut fields = status.rsplit_once(')')?.1.split_whitespace();
        let is_dead = matches!(fields.next()?, "Z" | "X");
        let started = fields.nth(18)?.parse().ok()?;
        let maker = Self { namespace: namespace()?, process, started };
        (!is_dead).then_some(maker)
    }

    /// Reads what [`unused_name`] wrote behind the prefix.
    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('-');
        let mut next = || numbers.next()?.parse::<u64>().ok();
        let maker =
            Self { namespace: next()?, process: next()?.try_into().ok()?, started: next()? };
        // The last tells the groups of one maker apart.
        next().map(|_| maker)
    }
}

/// The process namespace that this process is in.
fn namespace() -> Option<u64> {
    fs::metadata("/proc/self/ns/pid").ok().map(|it| it.ino())
}

/// Ends every process of a group, those too that are started meanwhile.
fn kill_all(group: &Path) {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        let processes = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
        let processes = processes.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?));
        let processes: Vec<Pid> = processes.collect();
        if processes.is_empty() {
            return;
        }
        // None sees another one end and goes on without it. Each may have ended since.
        for signal in [Signal::STOP, Signal::KILL] {
            for &process in &processes {
                let _gone = kill_process(process, signal);
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Every folder in which a group of ours may have been made.
fn parents(own: &str) -> Vec<PathBuf> {
    let root = Path::new("/sys/fs/cgroup");
    let first = ["memory", "pids"].into_iter().filter_map(|it| first_parent(own, it));
    let second = second_path(own).into_iter().flat_map(|folder| candidates(&folder));
    first.chain(second).filter(|folder| folder.starts_with(root)).collect()
}

/// The own group in the hierarchy of a controller of the older version.
fn first_parent(own: &str, controller: &str) -> Option<PathBuf> {
    let path = own.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        controllers.split(',').any(|it| it == controller).then_some(path)
    })?;
    let root = Path::new("/sys/fs/cgroup").join(controller);
    Some(root.join(path.trim_start_matches('/')))
}

/// The own group in the newer version, where that is in use.
fn second_path(own: &str) -> Option<PathBuf> {
    let root = Path::new("/sys/fs/cgroup");
    let path = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    // Where the older version is in use, the root is an ordinary folder.
    root.join("cgroup.controllers").exists().then(|| root.join(path))
}

/// A group and those above it, in which another may be made.
fn candidates(folder: &Path) -> Vec<PathBuf> {
    let up = folder.ancestors().take(MAX_STEPS_UP);
    up.filter(|it| it.starts_with("/sys/fs/cgroup")).map(Path::to_owned).collect()
}

/// Writes to a file of the kernel's, which is never made anew.
fn write(file: &Path, value: u64) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).open(file)?;
    file.write_all(value.to_string().as_bytes())
}

/// The number behind a word in a file of such lines.
fn count(file: &Path, word: &str) -> u64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or_default()
}

fn unused_name() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let process = std::process::id();
    let (namespace, started) =
        Maker::of(process).map_or((0, 0), |maker| (maker.namespace, maker.started));
    let counter = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("{PREFIX}{namespace}-{process}-{started}-{counter}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(maker: Maker) -> String {
        let Maker { namespace, process, started } = maker;
        format!("{PREFIX}{namespace}-{process}-{started}-0")
    }

    #[test]
    fn a_group_goes_with_those_below_it_and_only_what_went_is_counted() {
        // A group is a folder, and one without processes goes like any other.
        let folder = tempfile::tempdir().unwrap();
        let group = folder.path().join("group");
        fs::create_dir_all(group.join("below/deeper")).unwrap();
        fs::create_dir_all(group.join("beside")).unwrap();
        assert_eq!(remove_tree(&group), 4);
        assert_eq!((group.exists(), remove_tree(&group)), (false, 0));
    }

    #[test]
    fn a_group_that_is_dropped_ends_what_is_in_it() {
        let Some(group) = Group::new(&Limits::default()) else {
            let test = "a_group_that_is_dropped_ends_what_is_in_it";
            return metier_testkit::skip(test, "no control group can be made");
        };
        #[expect(clippy::disallowed_methods, reason = "any process will do")]
        let mut process = std::process::Command::new("sleep").arg("10").spawn().unwrap();
        group.doors().iter().for_each(|door| write(door, process.id().into()).unwrap());
        let folders = [group.memory.clone(), group.processes.clone()];
        drop(group);
        let code = process.wait().unwrap().code();
        assert_eq!((code, folders.map(|it| it.exists())), (None, [false, false]));
    }

    #[test]
    fn only_groups_of_makers_that_are_gone_are_left_over() {
        let own = Maker::of(std::process::id()).unwrap();
        let gone = Maker { process: u32::MAX, ..own };
        let earlier = Maker { started: own.started - 1, ..own };
        let elsewhere = Maker { namespace: own.namespace + 1, ..gone };
        let cases = [(own, false), (gone, true), (earlier, true), (elsewhere, false)];
        for (maker, is_left) in cases {
            assert_eq!(is_left_over(&name(maker)), is_left, "{maker:?}");
        }
        assert!(!is_left_over(&unused_name()));
        for other in ["metier-", "metier-1", "metier-1-2-3", "other-1-2-3-4", "metier-a-2-3-4"] {
            assert!(!is_left_over(other), "{other}");
        }
    }
}
