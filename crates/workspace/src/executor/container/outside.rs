//! What the machine shows of a container without asking anything in it: what its control group counts, and
//! what is left in its temporary folders.
//!
//! The engine names the first process. That the number means the same process to us is made sure of by the
//! name of its control group, which has the id of the container in it. An engine in a machine of its own, or
//! one that hides its processes, shows nothing; then the container has to be asked.

use std::fs::{self, File};
use std::path::PathBuf;

use rustix::fs::{Dir, OFlags};
use rustix::io::Errno;

use crate::layout::open_beneath;

/// Where control groups are.
const GROUPS: &str = "/sys/fs/cgroup";
/// Folders in memory that live as long as the container.
const TEMPORARY: [&str; 3] = ["tmp", "dev/shm", "dev/mqueue"];

/// A running container, seen from outside.
#[derive(Debug)]
pub(super) struct Outside {
    /// The root of its file system.
    root: PathBuf,
    memory: Group,
    processes: Group,
}

/// How often a container met its limits since it was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    /// Processes that were killed for want of memory.
    pub(super) kills: u64,
    /// Processes that were not started because there were too many.
    pub(super) forks: u64,
}

impl Outside {
    /// The container with an id and a first process, if it can be seen.
    pub(super) fn find(id: &str, process: i64) -> Option<Self> {
        let process = u32::try_from(process).ok().filter(|process| *process > 0)?;
        let lines = fs::read_to_string(format!("/proc/{process}/cgroup")).ok()?;
        Some(Self {
            root: format!("/proc/{process}/root").into(),
            memory: Group::find(&lines, "memory", id)?,
            processes: Group::find(&lines, "pids", id)?,
        })
    }

    /// What was counted, if there is a count of anything.
    pub(super) fn counted(&self) -> Option<Counted> {
        let kills = ["memory.events", "memory.oom_control"];
        let kills = kills.into_iter().filter_map(|file| self.memory.count(file, "oom_kill ")).max();
        let forks = self.processes.count("pids.events", "max ");
        Some(Counted { kills: kills?, forks: forks? })
    }

    /// How many processes, threads among them, there are.
    pub(super) fn processes(&self) -> Option<u64> {
        self.processes.count("pids.current", "")
    }

    /// Whether nothing is left in the temporary folders.
    pub(super) fn is_clean(&self) -> Option<bool> {
        let root = File::open(&self.root).ok()?;
        for folder in TEMPORARY {
            let folder = match open_beneath(&root, folder, OFlags::RDONLY | OFlags::DIRECTORY) {
                Err(Errno::NOENT) => continue,
                folder => folder.ok()?,
            };
            for entry in Dir::new(folder).ok()? {
                if ![&b"."[..], b".."].contains(&entry.ok()?.file_name().to_bytes()) {
                    return Some(false);
                }
            }
        }
        Some(true)
    }
}

/// A control group of a container, and the one in it in which its programs are, which may be the same.
#[derive(Debug, PartialEq, Eq)]
struct Group {
    whole: PathBuf,
    inner: PathBuf,
}

impl Group {
    /// The group of a controller, among those of a process.
    fn find(lines: &str, controller: &str, id: &str) -> Option<Self> {
        let groups = || lines.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
        let own =
            groups().find(|(controllers, _)| controllers.split(',').any(|it| it == controller));
        let (path, top) = match own {
            Some((controllers, path)) => (path, format!("{GROUPS}/{controllers}")),
            None => {
                (groups().find(|(controllers, _)| controllers.is_empty())?.1, GROUPS.to_owned())
            }
        };
        let named = path.find(id).filter(|_| !id.is_empty() && !path.contains(".."))?;
        let end = path[named..].find('/').map_or(path.len(), |slash| named + slash);
        Some(Self { whole: (top.clone() + &path[..end]).into(), inner: (top + path).into() })
    }

    /// The number after a word in a file of the group. Which of the two groups counts depends on the kernel.
    fn count(&self, file: &str, word: &str) -> Option<u64> {
        let both = [&self.whole, &self.inner].into_iter().filter_map(|group| {
            let text = fs::read_to_string(group.join(file)).ok()?;
            text.lines().find_map(|line| line.strip_prefix(word)?.trim().parse::<u64>().ok())
        });
        both.max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lines: &str, controller: &str) -> Option<String> {
        let group = Group::find(lines, controller, "c0ffee")?;
        Some(format!("{} {}", group.whole.display(), group.inner.display()))
    }

    #[test]
    fn a_group_is_found_in_either_kind_of_control_groups() {
        let first = "3:cpu,cpuacct:/docker/c0ffee\n2:memory:/docker/c0ffee\n0::/docker/c0ffee\n";
        assert_eq!(
            found(first, "memory").unwrap(),
            "/sys/fs/cgroup/memory/docker/c0ffee /sys/fs/cgroup/memory/docker/c0ffee"
        );
        let second = "0::/machine.slice/libpod-c0ffee.scope/container\n";
        assert_eq!(
            found(second, "pids").unwrap(),
            "/sys/fs/cgroup/machine.slice/libpod-c0ffee.scope \
             /sys/fs/cgroup/machine.slice/libpod-c0ffee.scope/container"
        );
    }

    #[test]
    fn a_process_of_somebody_else_is_not_taken_for_the_container() {
        for lines in ["0::/user.slice\n", "2:memory:/docker/beef\n0::/\n", "0::/../c0ffee\n", ""] {
            assert_eq!(found(lines, "memory"), None, "{lines}");
        }
        assert!(Outside::find("c0ffee", std::process::id().into()).is_none());
        assert!(Outside::find("", 0).is_none());
    }
}
