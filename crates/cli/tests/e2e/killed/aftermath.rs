//! What a run can leave behind: processes, mounts, control groups, files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// What "at once" may take on a machine that has other things to do.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Waits until no process of a run is left; gives those that are.
pub(super) fn wait_until_gone(maker: u32, mark: &str, binary: &Path) -> Result<(), Vec<String>> {
    let deadline = Instant::now() + AT_ONCE;
    loop {
        let left = processes_of(maker, mark, binary);
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(left);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Processes that have a mark among their arguments, run a binary, or are in a control group of a
/// process.
fn processes_of(maker: u32, mark: &str, binary: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("processes").filter_map(Result::ok) {
        let folder = entry.path();
        let is_process = entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit);
        if !is_process || is_dead(&folder) {
            continue;
        }
        let arguments = fs::read(folder.join("cmdline")).unwrap_or_default();
        let arguments = String::from_utf8_lossy(&arguments).replace('\0', " ");
        let groups = fs::read_to_string(folder.join("cgroup")).unwrap_or_default();
        let is_grouped = groups.split(['/', '\n']).any(|name| maker_of(name) == Some(maker));
        let runs_binary = fs::read_link(folder.join("exe")).is_ok_and(|it| it == binary);
        if arguments.contains(mark) || is_grouped || runs_binary {
            found.push(format!("{}: {arguments}", folder.display()));
        }
    }
    found
}

/// Whether a process has ended and only waits for somebody to ask how.
fn is_dead(process: &Path) -> bool {
    let status = fs::read_to_string(process.join("stat")).unwrap_or_default();
    let state = status.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    matches!(state, None | Some('Z' | 'X'))
}

/// Whether something is mounted below a folder.
pub(super) fn is_mounted(folder: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("the table of mounts");
    let folder = folder.to_str().expect("a path in UTF-8");
    mounts.lines().any(|line| line.contains(folder))
}

/// Control groups of ours, with the processes that made them.
pub(super) fn groups() -> BTreeMap<PathBuf, u32> {
    let mut found = BTreeMap::new();
    let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            match maker_of(&entry.file_name().to_string_lossy()) {
                Some(maker) => drop(found.insert(entry.path(), maker)),
                None => folders.push(entry.path()),
            }
        }
    }
    found
}

/// The process that made a control group of ours, of which the name begins with its namespace.
fn maker_of(group: &str) -> Option<u32> {
    group.strip_prefix("metier-")?.split('-').nth(1)?.parse().ok()
}

/// Makes everything in a folder so much older.
pub(super) fn age(folder: &Path, by: Duration) {
    let then = SystemTime::now() - by;
    for entry in fs::read_dir(folder).expect("a folder of ours").filter_map(Result::ok) {
        let kind = entry.file_type().expect("its kind");
        if kind.is_dir() {
            age(&entry.path(), by);
        } else if kind.is_file() {
            File::open(entry.path()).and_then(|it| it.set_modified(then)).expect("a file of ours");
        }
    }
    File::open(folder).and_then(|it| it.set_modified(then)).expect("a folder of ours");
}
