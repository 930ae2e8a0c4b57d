//! What kind of archive this is: first by its name, then by its first bytes.

use std::fmt;
use std::io::{self, Read, Seek};

/// A kind of archive that can be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Entries stored or deflated, with a directory at the end.
    Zip,
    /// Entries one after another, not compressed.
    Tar,
    /// A tar file inside gzip.
    TarGz,
    /// No archive at all: a single `SKILL.md`.
    SkillFile,
}

impl Format {
    /// Reads the format off a file name or the path of a URL (without query or fragment).
    pub fn of_name(name: &str) -> Option<Self> {
        let file = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
        let by_ending = [
            (".zip", Self::Zip),
            (".tar.gz", Self::TarGz),
            (".tgz", Self::TarGz),
            (".tar", Self::Tar),
        ];
        if file == "skill.md" {
            return Some(Self::SkillFile);
        }
        by_ending.into_iter().find(|(ending, _)| file.ends_with(ending)).map(|(_, format)| format)
    }

    /// Recognises the format by magic bytes and goes back to the start.
    pub(super) fn sniff(archive: &mut (impl Read + Seek)) -> io::Result<Option<Self>> {
        let mut start = Vec::with_capacity(TAR_MAGIC_END);
        archive.rewind()?;
        archive.by_ref().take(TAR_MAGIC_END as u64).read_to_end(&mut start)?;
        archive.rewind()?;
        Ok(Self::of_bytes(&start))
    }

    fn of_bytes(start: &[u8]) -> Option<Self> {
        if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
            Some(Self::Zip)
        } else if start.starts_with(b"\x1f\x8b") {
            Some(Self::TarGz)
        } else if start.get(TAR_MAGIC_START..TAR_MAGIC_END) == Some(b"ustar") {
            Some(Self::Tar)
        } else {
            None
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Zip => "zip",
            Self::Tar => "tar",
            Self::TarGz => "tar.gz",
            Self::SkillFile => "SKILL.md",
        })
    }
}

/// Where a tar header says `ustar`, in both the POSIX and the GNU dialect.
const TAR_MAGIC_START: usize = 257;
const TAR_MAGIC_END: usize = 262;
