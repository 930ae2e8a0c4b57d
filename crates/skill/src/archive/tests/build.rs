//! Archives made byte by byte, so that they can lie.

use std::io::Write;

use flate2::write::GzEncoder;
use flate2::{Compression, Crc};

/// An entry of a tar file.
#[derive(Clone)]
pub(super) struct Tar {
    name: Vec<u8>,
    link: Vec<u8>,
    kind: u8,
    mode: u32,
    contents: Vec<u8>,
    declared: Option<u64>,
}

impl Tar {
    pub(super) fn new(kind: u8, name: impl AsRef<[u8]>) -> Self {
        Self {
            name: name.as_ref().to_vec(),
            link: Vec::new(),
            kind,
            mode: 0o644,
            contents: Vec::new(),
            declared: None,
        }
    }

    pub(super) fn file(name: impl AsRef<[u8]>, contents: impl AsRef<[u8]>) -> Self {
        Self::new(b'0', name).contents(contents)
    }

    pub(super) fn folder(name: &str) -> Self {
        Self::new(b'5', name)
    }

    pub(super) fn symlink(name: &str, target: impl AsRef<[u8]>) -> Self {
        Self::new(b'2', name).link(target)
    }

    /// A pax header with one record; `kind` is `x` for the next entry, `g` for all.
    pub(super) fn pax(kind: u8, key: &str, value: &[u8]) -> Self {
        let tail = key.len() + value.len() + 3;
        let mut length = tail + 1;
        while length.to_string().len() + tail != length {
            length += 1;
        }
        let mut record = format!("{length} {key}=").into_bytes();
        record.extend(value);
        record.push(b'\n');
        Self::new(kind, "pax_header").contents(record)
    }

    /// A GNU header that carries the next entry's long name (`L`) or long target (`K`).
    pub(super) fn gnu_long(kind: u8, name: &str) -> Self {
        Self::new(kind, "././@LongLink").contents(format!("{name}\0"))
    }

    pub(super) fn link(mut self, target: impl AsRef<[u8]>) -> Self {
        self.link = target.as_ref().to_vec();
        self
    }

    pub(super) fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    pub(super) fn contents(mut self, contents: impl AsRef<[u8]>) -> Self {
        self.contents = contents.as_ref().to_vec();
        self
    }

    /// Writes another size into the header than the contents have.
    pub(super) fn declares(mut self, bytes: u64) -> Self {
        self.declared = Some(bytes);
        self
    }

    fn header(&self) -> [u8; 512] {
        let mut header = [0; 512];
        let size = self.declared.unwrap_or(self.contents.len() as u64);
        put(&mut header, 0, &self.name);
        put(&mut header, 100, format!("{:07o}", self.mode).as_bytes());
        put(&mut header, 108, b"0000000");
        put(&mut header, 116, b"0000000");
        put(&mut header, 124, format!("{size:011o}").as_bytes());
        put(&mut header, 136, b"00000000000");
        put(&mut header, 148, b"        ");
        put(&mut header, 156, &[self.kind]);
        put(&mut header, 157, &self.link);
        put(&mut header, 257, b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        put(&mut header, 148, format!("{sum:06o}\0").as_bytes());
        header
    }
}

fn put(header: &mut [u8; 512], at: usize, bytes: &[u8]) {
    header[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Joins entries without the two empty blocks at the end.
pub(super) fn tar_unfinished(entries: &[Tar]) -> Vec<u8> {
    let mut archive = Vec::new();
    for entry in entries {
        archive.extend(entry.header());
        archive.extend(&entry.contents);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive
}

pub(super) fn tar(entries: &[Tar]) -> Vec<u8> {
    let mut archive = tar_unfinished(entries);
    archive.resize(archive.len() + 1024, 0);
    archive
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An entry of a zip file.
#[derive(Clone)]
pub(super) struct Zip {
    name: Vec<u8>,
    local_name: Option<Vec<u8>>,
    mode: u32,
    contents: Vec<u8>,
    deflated: bool,
    method: Option<u16>,
    flags: u16,
    declared: Option<u32>,
    checksum: Option<u32>,
}

impl Zip {
    pub(super) fn file(name: impl AsRef<[u8]>, contents: impl AsRef<[u8]>) -> Self {
        Self {
            name: name.as_ref().to_vec(),
            local_name: None,
            mode: 0o100_644,
            contents: contents.as_ref().to_vec(),
            deflated: false,
            method: None,
            flags: 0,
            declared: None,
            checksum: None,
        }
    }

    pub(super) fn folder(name: &str) -> Self {
        Self::file(name, "").mode(0o040_755)
    }

    pub(super) fn symlink(name: &str, target: &str) -> Self {
        Self::file(name, target).mode(0o120_777)
    }

    pub(super) fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    pub(super) fn deflated(mut self) -> Self {
        self.deflated = true;
        self
    }

    pub(super) fn method(mut self, method: u16) -> Self {
        self.method = Some(method);
        self
    }

    pub(super) fn flags(mut self, flags: u16) -> Self {
        self.flags = flags;
        self
    }

    /// Writes another size into both headers than the contents have.
    pub(super) fn declares(mut self, bytes: u32) -> Self {
        self.declared = Some(bytes);
        self
    }

    pub(super) fn checksum(mut self, checksum: u32) -> Self {
        self.checksum = Some(checksum);
        self
    }

    /// Writes another name in front of the contents than in the directory.
    pub(super) fn local_name(mut self, name: &str) -> Self {
        self.local_name = Some(name.as_bytes().to_vec());
        self
    }

    fn packed(&self) -> Vec<u8> {
        if !self.deflated {
            return self.contents.clone();
        }
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&self.contents).unwrap();
        encoder.finish().unwrap()
    }

    /// The part that both headers share, from flags to the length of the extra field.
    fn common(&self, packed: &[u8], name: &[u8]) -> Vec<u8> {
        let mut crc = Crc::new();
        crc.update(&self.contents);
        let mut bytes = Vec::new();
        bytes.extend(self.flags.to_le_bytes());
        bytes.extend(self.method.unwrap_or(if self.deflated { 8 } else { 0 }).to_le_bytes());
        bytes.extend([0, 0, 0x21, 0]);
        bytes.extend(self.checksum.unwrap_or(crc.sum()).to_le_bytes());
        bytes.extend((packed.len() as u32).to_le_bytes());
        bytes.extend(self.declared.unwrap_or(self.contents.len() as u32).to_le_bytes());
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend([0, 0]);
        bytes
    }
}

pub(super) fn zip(entries: &[Zip]) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for entry in entries {
        let offset = archive.len() as u32;
        let packed = entry.packed();
        let local_name = entry.local_name.as_ref().unwrap_or(&entry.name);
        archive.extend(b"PK\x03\x04\x14\x00");
        archive.extend(entry.common(&packed, local_name));
        archive.extend(local_name);
        archive.extend(&packed);
        add_record(&mut directory, entry, &packed, offset);
    }
    add_end(&mut archive, &directory, entries.len());
    archive
}

/// A zip whose entries all point at the contents of the first.
pub(super) fn zip_overlapping(entries: &[Zip]) -> Vec<u8> {
    let first = &entries[0];
    let packed = first.packed();
    let mut archive = b"PK\x03\x04\x14\x00".to_vec();
    archive.extend(first.common(&packed, &first.name));
    archive.extend(&first.name);
    archive.extend(&packed);
    let mut directory = Vec::new();
    for entry in entries {
        add_record(&mut directory, entry, &packed, 0);
    }
    add_end(&mut archive, &directory, entries.len());
    archive
}

fn add_record(directory: &mut Vec<u8>, entry: &Zip, packed: &[u8], offset: u32) {
    const MADE_ON_UNIX: &[u8] = b"\x14\x03\x14\x00";
    directory.extend(b"PK\x01\x02");
    directory.extend(MADE_ON_UNIX);
    directory.extend(entry.common(packed, &entry.name));
    directory.extend([0; 6]);
    directory.extend((entry.mode << 16).to_le_bytes());
    directory.extend(offset.to_le_bytes());
    directory.extend(&entry.name);
}

fn add_end(archive: &mut Vec<u8>, directory: &[u8], entries: usize) {
    let start = archive.len() as u32;
    archive.extend(directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend((entries as u16).to_le_bytes());
    archive.extend((entries as u16).to_le_bytes());
    archive.extend((directory.len() as u32).to_le_bytes());
    archive.extend(start.to_le_bytes());
    archive.extend([0, 0]);
}
