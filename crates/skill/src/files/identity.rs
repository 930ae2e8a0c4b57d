//! What tells one state of a file from another without reading it.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// A file system may give two changes in a row the same time; a file this young is read again.
const CLOCK_GRAIN: Duration = Duration::from_millis(20);
/// The same for file systems that keep whole seconds, or every other one.
pub(crate) const COARSE_CLOCK_GRAIN: Duration = Duration::from_secs(3);

/// Device, inode, size and times of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, u32),
    changed: (i64, u32),
}

impl Identity {
    /// The identity in some metadata.
    pub fn of(metadata: &Metadata) -> Self {
        let nanoseconds = |value: i64| u32::try_from(value).unwrap_or_default();
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), nanoseconds(metadata.mtime_nsec())),
            changed: (metadata.ctime(), nanoseconds(metadata.ctime_nsec())),
        }
    }

    /// The identity in what the system itself says of a file.
    pub(crate) fn of_stat(stat: &rustix::fs::Stat) -> Self {
        let nanoseconds = |value: u64| u32::try_from(value).unwrap_or_default();
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or_default(),
            modified: (stat.st_mtime, nanoseconds(stat.st_mtime_nsec)),
            changed: (stat.st_ctime, nanoseconds(stat.st_ctime_nsec)),
        }
    }

    /// The identity in what Linux says of a file.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_statx(stat: &rustix::fs::Statx) -> Self {
        Self {
            device: rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
            inode: stat.stx_ino,
            size: stat.stx_size,
            modified: (stat.stx_mtime.tv_sec, stat.stx_mtime.tv_nsec),
            changed: (stat.stx_ctime.tv_sec, stat.stx_ctime.tv_nsec),
        }
    }

    /// Bytes of the file.
    pub(crate) fn size(self) -> u64 {
        self.size
    }

    /// The time of the last change, in seconds and nanoseconds.
    pub(crate) fn changed(self) -> (i64, u32) {
        self.changed
    }

    /// The identity as bytes, for digests.
    pub(crate) fn to_bytes(self) -> Vec<u8> {
        let (modified, changed) = (self.modified, self.changed);
        let numbers = [self.device, self.inode, self.size];
        let times = [modified.0, modified.1.into(), changed.0, changed.1.into()];
        let numbers = numbers.into_iter().map(u64::to_le_bytes);
        numbers.chain(times.into_iter().map(i64::to_le_bytes)).flatten().collect()
    }

    /// Whether a later change is sure to show as another identity.
    pub fn is_settled(&self) -> bool {
        self.was_settled(SystemTime::now())
    }

    /// Whether a change after this time is sure to show as another identity.
    pub(crate) fn was_settled(&self, at: SystemTime) -> bool {
        let seconds = u64::try_from(self.changed.0).unwrap_or_default();
        let changed = SystemTime::UNIX_EPOCH + Duration::new(seconds, self.changed.1);
        let grain = if self.changed.1 == 0 { COARSE_CLOCK_GRAIN } else { CLOCK_GRAIN };
        at.duration_since(changed).is_ok_and(|age| age > grain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_in_whole_seconds_is_believed_later_than_a_finer_one() {
        let changed_at = |changed| {
            let (device, inode, size, modified) = (1, 2, 3, (0, 0));
            Identity { device, inode, size, modified, changed }
        };
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(10);
        assert!(changed_at((9, 1)).was_settled(now));
        assert!(!changed_at((9, 990_000_000)).was_settled(now));
        assert!(!changed_at((8, 0)).was_settled(now), "such a clock stands still for two seconds");
        assert!(changed_at((6, 0)).was_settled(now));
    }
}
