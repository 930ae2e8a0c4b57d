//! How much an archive may cost.
//!
//! Every bound is checked against what really comes out of the archive, never against what a header
//! promises.

/// What an archive may contain before it is refused.
///
/// There is no `Default`: start from [`Limits::STANDARD`] and say which bound differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Size of the archive itself; a downloader should stop here too.
    pub max_archive_bytes: u64,
    /// Size of one unpacked file.
    pub max_file_bytes: u64,
    /// Size of all unpacked files together, including those that are skipped.
    pub max_total_bytes: u64,
    /// Files, folders and links, whether the archive names them or a longer path implies them.
    pub max_entries: usize,
    /// Unpacked bytes for each byte of the archive.
    pub max_ratio: u64,
    /// Unpacked bytes that are always allowed, whatever the ratio: tiny archives compress well.
    pub ratio_grace_bytes: u64,
    /// Parts in a path.
    pub max_depth: usize,
    /// Bytes in one part of a path.
    pub max_name_bytes: usize,
}

impl Limits {
    /// The bounds that the documentation promises.
    pub const STANDARD: Self = Self {
        max_archive_bytes: 64 * MEBIBYTE,
        max_file_bytes: 64 * MEBIBYTE,
        max_total_bytes: 256 * MEBIBYTE,
        max_entries: 20_000,
        max_ratio: 200,
        ratio_grace_bytes: MEBIBYTE,
        max_depth: 32,
        max_name_bytes: 255,
    };
}

const MEBIBYTE: u64 = 1024 * 1024;
