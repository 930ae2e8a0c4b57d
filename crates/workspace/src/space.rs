//! The part of a disk that stays free when files are copied to it.
//!
//! What a program writes is looked at from outside while it runs. What is copied for it, before and after, is checked here.

use std::io;
use std::path::Path;

use rustix::fs::statvfs;

/// The most of a disk that has to stay free, as a divisor: a small disk could not be used otherwise.
const SHARE: u64 = 8;

/// What must stay free of a disk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DiskReserve {
    /// In bytes.
    least_left: u64,
    /// Which part of the disk it is at most, as a divisor.
    share: u64,
}

impl DiskReserve {
    /// Returns a reserve of so many bytes, or an eighth of the disk if that is less.
    pub(crate) const fn new(least_left: u64) -> Self {
        Self { least_left, share: SHARE }
    }

    /// Returns a reserve that takes the whole disk.
    #[cfg(test)]
    pub(crate) const fn whole_disk() -> Self {
        Self { least_left: u64::MAX, share: 1 }
    }

    /// Checks that what must stay free does when as many bytes are written to the disk of a folder.
    ///
    /// # Errors
    ///
    /// When it would not, or the disk cannot be asked.
    pub(crate) fn check(self, folder: &Path, bytes: u64) -> io::Result<()> {
        let disk = statvfs(folder)?;
        let in_bytes = |blocks: u64| blocks.saturating_mul(disk.f_frsize);
        self.judge(in_bytes(disk.f_bavail), in_bytes(disk.f_blocks), bytes)
    }

    fn judge(self, free: u64, total: u64, bytes: u64) -> io::Result<()> {
        let least = self.least_left.min(total / self.share);
        if free.saturating_sub(bytes) >= least {
            return Ok(());
        }
        let text = format!(
            "the disk would have less than {} MiB free, which must stay free",
            least.div_ceil(1 << 20)
        );
        Err(io::Error::new(io::ErrorKind::StorageFull, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_must_stay_free_of_a_disk_does() {
        const GIB: u64 = 1 << 30;
        let reserve = DiskReserve::new(GIB / 2);
        assert!(reserve.judge(GIB, 100 * GIB, GIB / 2).is_ok());
        let refused = reserve.judge(GIB, 100 * GIB, GIB / 2 + 1).expect_err("too much");
        insta::assert_snapshot!(refused, @"the disk would have less than 512 MiB free, which must stay free");
        assert!(reserve.judge(0, 100 * GIB, 0).is_err());
        // A small disk is not refused as a whole, and not filled either.
        assert!(reserve.judge(GIB / 4, GIB, GIB / 8).is_ok());
        assert!(reserve.judge(GIB / 4, GIB, GIB / 8 + 1).is_err());
    }
}
