//! How much a program may use.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Bounds of a run. Without control groups processes are bounded for the user, and memory is that of each
/// process, and measured for the whole tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Time on the clock.
    pub wall: Duration,
    /// Processor time of one process, in seconds.
    pub cpu_seconds: u64,
    /// Memory, in bytes.
    pub memory: u64,
    /// Processes and threads.
    pub processes: u64,
    /// Size of one file, in bytes.
    pub file_bytes: u64,
    /// Open files of one process.
    pub open_files: u64,
    /// Size of the private `/tmp` and `/dev/shm`, in bytes; each holds a file for every 16 KiB of it.
    pub temporary_bytes: u64,
    /// What the run may write to its folders in all, in bytes on the disk.
    pub disk_bytes: u64,
    /// What it must leave of the disk, in bytes, unless there was less from the beginning.
    pub disk_left: u64,
}

/// What is not promised without a control group: the memory of the tree is measured then, so it can exceed the limit
/// between two looks, and neither shared pages that are in no process's tables nor what the kernel has about mappings,
/// sockets and pipes can be seen.
pub(crate) const UNGROUPED: &str = "an exact bound on memory";

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall: Duration::from_mins(5),
            cpu_seconds: 600,
            memory: 2 << 30,
            processes: 256,
            file_bytes: 1 << 30,
            open_files: 1024,
            temporary_bytes: 1 << 30,
            disk_bytes: 8 << 30,
            disk_left: 512 << 20,
        }
    }
}

/// A limit that a run met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Time on the clock.
    Wall,
    /// Processor time.
    Cpu,
    /// Memory.
    Memory,
    /// Processes.
    Processes,
    /// The size of a file.
    FileSize,
    /// The disk.
    Disk,
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Wall => "time",
            Self::Cpu => "processor time",
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::FileSize => "size of a file",
            Self::Disk => "disk",
        })
    }
}
