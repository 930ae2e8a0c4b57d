//! Reading tar archives, compressed or not.
//!
//! The tar library reads long names and pax records into memory while it looks for the next entry.
//! A [`Watched`] reader below it tells headers from contents and bounds both what one entry may
//! spend on headers and what all of them may; contents are bounded by the tree.

use std::cell::Cell;
use std::io::{self, BufReader, Read};

use flate2::bufread::MultiGzDecoder;
use tar::{Archive, EntryType};

use super::tree::{Contents, Item, Tree};
use super::{ArchiveError, Format, Limits, Refusal};

/// Unpacks every entry of a plain tar file into the tree.
pub(super) fn unpack(
    archive: impl Read,
    limits: &Limits,
    tree: &mut Tree<'_>,
) -> Result<(), ArchiveError> {
    let watch = Watch::new(Format::Tar, limits);
    unpack_stream(BufReader::new(archive), &watch, tree)
}

/// Unpacks every entry of a gzipped tar file into the tree, and checks the sum at its end.
pub(super) fn unpack_gzip(
    archive: impl Read,
    limits: &Limits,
    tree: &mut Tree<'_>,
) -> Result<(), ArchiveError> {
    let watch = Watch::new(Format::TarGz, limits);
    let mut stream = MultiGzDecoder::new(BufReader::new(archive));
    unpack_stream(&mut stream, &watch, tree)?;
    watch.enter_header();
    io::copy(&mut Watched { stream, watch: &watch }, &mut io::sink())
        .map(drop)
        .map_err(|error| watch.explain(error))
}

fn unpack_stream(
    stream: impl Read,
    watch: &Watch,
    tree: &mut Tree<'_>,
) -> Result<(), ArchiveError> {
    let mut archive = Archive::new(Watched { stream, watch });
    let mut entries = archive.entries().map_err(|error| watch.explain(error))?;
    loop {
        watch.enter_header();
        let Some(entry) = entries.next() else {
            break;
        };
        let mut entry = entry.map_err(|error| watch.explain(error))?;
        watch.enter_contents();
        unpack_entry(&mut entry, watch, tree)?;
    }
    if watch.ended.get() {
        return Err(watch.explain(io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(())
}

fn unpack_entry<R: Read>(
    entry: &mut tar::Entry<'_, R>,
    watch: &Watch,
    tree: &mut Tree<'_>,
) -> Result<(), ArchiveError> {
    let name = entry.path_bytes().into_owned();
    if entry.header().entry_type().is_pax_global_extensions() {
        return tree.skip(&name, entry);
    }
    let Some(item) = tree.admit(&name)? else {
        return tree.skip(&name, entry);
    };
    let is_sparse = has_sparse_records(entry).map_err(|error| watch.explain(error))?;
    match entry.header().entry_type() {
        EntryType::Regular | EntryType::Continuous if !is_sparse => {
            add_file(&item, name.ends_with(b"/"), entry, watch, tree)
        }
        EntryType::Directory => tree.add_folder(&item),
        EntryType::Symlink => {
            let target = entry.link_name_bytes().unwrap_or_default().into_owned();
            tree.add_link(&item, &target)
        }
        EntryType::Link => Err(item.refused(Refusal::HardLink)),
        EntryType::Char | EntryType::Block => Err(item.refused(Refusal::Device)),
        EntryType::Fifo => Err(item.refused(Refusal::NamedPipe)),
        _ => Err(item.refused(Refusal::OtherKind)),
    }
}

/// Adds a file; or a folder, which the oldest dialect writes as an empty file with a slash.
fn add_file<R: Read>(
    item: &Item,
    named_folder: bool,
    entry: &mut tar::Entry<'_, R>,
    watch: &Watch,
    tree: &mut Tree<'_>,
) -> Result<(), ArchiveError> {
    let declared = entry.size();
    match (named_folder, declared) {
        (true, 0) => tree.add_folder(item),
        (true, _) => Err(item.refused(Refusal::FolderWithContents)),
        (false, _) => {
            let mode = entry.header().mode().map_err(|error| watch.explain(error))?;
            tree.add_file(item, &mut Contents { reader: entry, declared, mode })
        }
    }
}

/// Whether pax records describe a sparse file, whose contents are not what they seem.
fn has_sparse_records<R: Read>(entry: &mut tar::Entry<'_, R>) -> io::Result<bool> {
    let Some(records) = entry.pax_extensions()? else {
        return Ok(false);
    };
    for record in records {
        if record?.key_bytes().starts_with(b"GNU.sparse.") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What the reader below the tar library is told, and what it saw.
struct Watch {
    format: Format,
    /// What the current header may still cost; `None` while contents are read.
    header: Cell<Option<u64>>,
    /// What all headers may cost, and what of that is left.
    headers: u64,
    headers_left: Cell<u64>,
    /// The bound that was crossed.
    crossed: Cell<Option<u64>>,
    /// Whether the stream was read to its very end.
    ended: Cell<bool>,
}

impl Watch {
    fn new(format: Format, limits: &Limits) -> Self {
        let headers = (limits.max_entries as u64).saturating_mul(USUAL_HEADER_BYTES);
        Self {
            format,
            header: Cell::new(None),
            headers,
            headers_left: Cell::new(headers),
            crossed: Cell::new(None),
            ended: Cell::new(false),
        }
    }

    fn enter_header(&self) {
        self.header.set(Some(HEADER_BYTES));
    }

    fn enter_contents(&self) {
        self.header.set(None);
    }

    fn book(&self, count: u64) -> io::Result<()> {
        let Some(header) = self.header.get() else {
            return Ok(());
        };
        let left = self.headers_left.get();
        if count > header || count > left {
            self.crossed.set(Some(if count > header { HEADER_BYTES } else { self.headers }));
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        self.header.set(Some(header - count));
        self.headers_left.set(left - count);
        Ok(())
    }

    fn explain(&self, source: io::Error) -> ArchiveError {
        match self.crossed.get() {
            Some(limit) => ArchiveError::HeadersTooLarge { limit },
            None => ArchiveError::Damaged { format: self.format, source },
        }
    }
}

/// A stream that books what it yields.
struct Watched<'a, R> {
    stream: R,
    watch: &'a Watch,
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        if count == 0 && !buffer.is_empty() {
            self.watch.ended.set(true);
        }
        self.watch.book(count as u64)?;
        Ok(count)
    }
}

/// What may stand between two files: long names, pax records, padding.
const HEADER_BYTES: u64 = 1024 * 1024;

/// What that may be on average.
const USUAL_HEADER_BYTES: u64 = 4096;
