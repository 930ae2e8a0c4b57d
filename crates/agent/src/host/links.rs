//! Links on the way of a path, one by one, as the kernel follows them.
//!
//! Links of a process (`/proc/self/cwd`, `/dev/fd`) lead elsewhere for each process, so where they lead for this one says
//! nothing about a program. They are not followed.

use std::fs;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{PROC_SUPER_MAGIC, statfs};

/// How many links one after the other are followed, as the kernel does.
pub(super) const MAX_LINKS: usize = 40;
/// Where what passes a link of a process is said to be.
const OF_PROCESSES: &str = "/proc/self";

/// The parts of a path that have to be walked, the last first.
pub(super) fn parts(path: &Path) -> Vec<PathBuf> {
    let parts = path.components().rev();
    let parts = parts.filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    parts.map(|part| PathBuf::from(part.as_os_str())).collect()
}

/// Returns a place below `/proc/self` for an absolute path that passes a link of a process; none for any other.
pub(super) fn of_process(path: &Path) -> Option<PathBuf> {
    let mut here = PathBuf::from("/");
    let mut left = parts(path);
    let mut links = 0;
    while let Some(part) = left.pop() {
        if part == Path::new("..") {
            here.pop();
            continue;
        }
        let next = here.join(&part);
        // What is not there may be when a program comes by.
        let Ok(target) = fs::read_link(&next) else {
            here = next;
            continue;
        };
        if is_of_processes(&here) {
            left.push(part);
            return Some(below_process(&left));
        }
        links += 1;
        if links > MAX_LINKS {
            return None;
        }
        if target.is_absolute() {
            here = PathBuf::from("/");
        }
        left.extend(parts(&target));
    }
    None
}

/// The parts that are left of a path, below the folder of a process. `..` leads from a place that is not known.
fn below_process(left: &[PathBuf]) -> PathBuf {
    let names = left.iter().rev().filter(|part| *part != Path::new(".."));
    let names = names.skip_while(|part| *part == Path::new("self"));
    Path::new(OF_PROCESSES).join(names.collect::<PathBuf>())
}

/// Whether a folder is one in which the kernel shows processes.
fn is_of_processes(folder: &Path) -> bool {
    let is_such = |of: &Path| statfs(of).is_ok_and(|it| it.f_type == PROC_SUPER_MAGIC);
    folder.starts_with("/proc") || is_such(folder)
}
