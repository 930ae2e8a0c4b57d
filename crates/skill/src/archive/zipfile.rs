//! Reading zip archives.
//!
//! A zip file says everything twice, in front of each entry and in a directory at the end. Two
//! readers can thus see two archives in one file. Files whose two halves disagree, overlap or leave
//! entries out of the directory are treated as damaged.

use std::collections::HashSet;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::error::shown;
use super::tree::{Contents, Item, Tree};
use super::{ArchiveError, Format, Limits, Refusal};

/// Unpacks every entry into the tree.
pub(super) fn unpack(
    archive: impl Read + Seek,
    limits: &Limits,
    tree: &mut Tree<'_>,
) -> Result<(), ArchiveError> {
    let mut archive = open(archive, limits)?;
    for index in 0..archive.len() {
        unpack_entry(&mut archive, index, tree)?;
    }
    Ok(())
}

fn open<R: Read + Seek>(
    archive: R,
    limits: &Limits,
) -> Result<ZipArchive<BufReader<R>>, ArchiveError> {
    let mut archive = BufReader::new(archive);
    let too_many = ArchiveError::TooManyEntries { limit: limits.max_entries };
    let records = count_directory_records(&mut archive).map_err(damaged)?;
    if records > limits.max_entries.saturating_mul(NESTED_RECORDS_FACTOR) {
        return Err(too_many);
    }
    let mut archive = ZipArchive::new(archive).map_err(damaged)?;
    if archive.len() > limits.max_entries {
        return Err(too_many);
    }
    if archive.has_duplicate_names() {
        return Err(name_duplicate(archive));
    }
    archive.validate_header_consistency().map_err(damaged)?;
    Ok(archive)
}

fn unpack_entry<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    index: usize,
    tree: &mut Tree<'_>,
) -> Result<(), ArchiveError> {
    let data = archive.by_index_data(index).map_err(damaged)?;
    let Some(item) = tree.admit(data.name_raw())? else {
        return Ok(());
    };
    let kind = Kind::of(data.unix_mode().unwrap_or_default(), data.name_raw(), data.size())
        .map_err(|reason| item.refused(reason))?;
    if data.encrypted() {
        return Err(item.refused(Refusal::Encrypted));
    }
    if !matches!(data.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
        return Err(item.refused(Refusal::Compression));
    }
    let mut entry = archive.by_index(index).map_err(damaged)?;
    match kind {
        Kind::Folder => tree.add_folder(&item),
        Kind::Link => add_link(&item, &mut entry, tree),
        Kind::File { mode } => {
            let declared = entry.size();
            tree.add_file(&item, &mut Contents { reader: &mut entry, declared, mode })
        }
    }
}

/// The contents of a link are its target.
fn add_link(item: &Item, entry: &mut impl Read, tree: &mut Tree<'_>) -> Result<(), ArchiveError> {
    let mut target = Vec::new();
    entry.take(LONGEST_TARGET + 1).read_to_end(&mut target).map_err(damaged)?;
    if target.len() as u64 > LONGEST_TARGET {
        return Err(item.refused(Refusal::EscapingLink { target: shown(&target) }));
    }
    tree.add_link(item, &target)
}

/// What an entry is, by the bits of its mode and the slash at the end of its name.
enum Kind {
    Folder,
    Link,
    File { mode: u32 },
}

impl Kind {
    fn of(mode: u32, name: &[u8], size: u64) -> Result<Self, Refusal> {
        let named_folder = name.ends_with(b"/");
        match mode & 0o170_000 {
            0o120_000 if !named_folder => Ok(Self::Link),
            0o020_000 | 0o060_000 => Err(Refusal::Device),
            0o010_000 => Err(Refusal::NamedPipe),
            0 | 0o100_000 if !named_folder => Ok(Self::File { mode }),
            0 | 0o040_000 | 0o100_000 if size == 0 => Ok(Self::Folder),
            0 | 0o040_000 | 0o100_000 => Err(Refusal::FolderWithContents),
            _ => Err(Refusal::OtherKind),
        }
    }
}

/// Counts what could be records of the directory at the end, before memory is spent on them.
///
/// Stored archives inside the archive are counted too, hence [`NESTED_RECORDS_FACTOR`].
fn count_directory_records(archive: &mut (impl Read + Seek)) -> io::Result<usize> {
    archive.rewind()?;
    let mut window = vec![0; SCAN_BYTES];
    let mut kept = 0;
    let mut records = 0;
    loop {
        let count = archive.read(&mut window[kept..])?;
        if count == 0 {
            break;
        }
        let filled = &mut window[..kept + count];
        records += filled.windows(RECORD.len()).filter(|bytes| *bytes == RECORD).count();
        let overlap = filled.len().min(RECORD.len() - 1);
        filled.copy_within(filled.len() - overlap.., 0);
        kept = overlap;
    }
    archive.rewind()?;
    Ok(records)
}

/// Finds out which name the directory lists twice.
fn name_duplicate<R: Read + Seek>(archive: ZipArchive<R>) -> ArchiveError {
    let count = archive.len() + 1;
    let start = archive.central_directory_start();
    match find_duplicate(&mut archive.into_inner(), start, count) {
        Ok(Some(name)) => ArchiveError::Refused { entry: shown(&name), reason: Refusal::Duplicate },
        Ok(None) => damaged(io::Error::new(io::ErrorKind::InvalidData, "two entries share a name")),
        Err(error) => damaged(error),
    }
}

fn find_duplicate(
    archive: &mut (impl Read + Seek),
    start: u64,
    count: usize,
) -> io::Result<Option<Vec<u8>>> {
    const NAME_LENGTH: usize = 28;
    archive.seek(SeekFrom::Start(start))?;
    let mut seen = HashSet::new();
    for _ in 0..count {
        let mut record = [0; 46];
        archive.read_exact(&mut record)?;
        let length = |at: usize| u16::from_le_bytes([record[at], record[at + 1]]);
        let mut name = vec![0; usize::from(length(NAME_LENGTH))];
        archive.read_exact(&mut name)?;
        let rest = i64::from(length(NAME_LENGTH + 2)) + i64::from(length(NAME_LENGTH + 4));
        archive.seek_relative(rest)?;
        if let Some(name) = seen.replace(name) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn damaged(error: impl Into<ZipFailure>) -> ArchiveError {
    ArchiveError::Damaged { format: Format::Zip, source: error.into().0 }
}

/// What the zip library or the system said, as an I/O error.
struct ZipFailure(io::Error);

impl From<ZipError> for ZipFailure {
    fn from(error: ZipError) -> Self {
        Self(match error {
            ZipError::Io(error) => error,
            other => io::Error::new(io::ErrorKind::InvalidData, other),
        })
    }
}

impl From<io::Error> for ZipFailure {
    fn from(error: io::Error) -> Self {
        Self(error)
    }
}

/// How a record of the directory begins.
const RECORD: &[u8] = b"PK\x01\x02";

/// How many records nested archives may add, for each that the archive itself may have.
const NESTED_RECORDS_FACTOR: usize = 4;

/// The longest path that Linux follows.
const LONGEST_TARGET: u64 = 4096;

const SCAN_BYTES: usize = 64 * 1024;
