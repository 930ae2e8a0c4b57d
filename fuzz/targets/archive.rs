//! Any bytes as an archive: nothing outside the target changes, and what is inside keeps the rules.
//!
//! The first byte chooses how the rest is read. Bytes as they are seldom get far into a tar file,
//! whose headers carry checksums, or behind gzip; so there are ways that set the checksums right
//! and compress first.
#![no_main]

use std::fs::{self, Metadata};
use std::io::{Cursor, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use libfuzzer_sys::fuzz_target;
use metier_skill::archive::{ArchiveError, Limits, LinkRule, UnpackRequest, Unpacked, unpack};

/// In memory, where there is such a folder: a run writes thousands of files a second.
const MEMORY: &str = "/dev/shm";
const CANARY: &str = "canary";
const TARGET: &str = "target";

/// Small enough to be reached by small inputs.
const LIMITS: Limits = Limits {
    max_archive_bytes: 64 << 10,
    max_file_bytes: 16 << 10,
    max_total_bytes: 32 << 10,
    max_entries: 32,
    max_ratio: 20,
    ratio_grace_bytes: 4 << 10,
    max_depth: 8,
    max_name_bytes: 64,
};

fuzz_target!(|bytes: &[u8]| {
    let Some((&way, rest)) = bytes.split_first() else { return };
    let (name, archive) = match way % 6 {
        0 => ("skills.zip", rest.to_vec()),
        1 => ("skills.tar", rest.to_vec()),
        2 => ("skills.tgz", rest.to_vec()),
        3 => ("skills", rest.to_vec()),
        4 => ("skills.tar", with_checksums(rest)),
        _ => ("skills.tar.gz", compressed(&with_checksums(rest))),
    };
    let outside = folder();
    fs::write(outside.path().join(CANARY), CANARY).expect("a file in it");
    let target = outside.path().join(TARGET);
    let request = UnpackRequest {
        name,
        into: &target,
        skill_folder: "single",
        strip: usize::from(way / 6 % 3),
        links: if way % 2 == 0 { LinkRule::Inside } else { LinkRule::Refused },
        limits: &LIMITS,
    };
    let result = unpack(Cursor::new(archive), &request);
    check_outside(outside.path(), &result);
    if let Ok(unpacked) = result {
        check_inside(&target, &unpacked);
    }
});

fn folder() -> tempfile::TempDir {
    let memory = Path::new(MEMORY);
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }
        .expect("a temporary folder")
}

/// The canary is as it was; beside it is the target if unpacking succeeded, and nothing else.
fn check_outside(outside: &Path, result: &Result<Unpacked, ArchiveError>) {
    let mut names: Vec<PathBuf> = listing(outside);
    names.sort();
    let mut expected = vec![outside.join(CANARY)];
    expected.extend(result.is_ok().then(|| outside.join(TARGET)));
    assert_eq!(names, expected);
    assert_eq!(fs::read(outside.join(CANARY)).expect("the canary"), CANARY.as_bytes());
}

/// Only files, folders and links that stay inside, as many and as large as reported.
fn check_inside(target: &Path, unpacked: &Unpacked) {
    let target = fs::canonicalize(target).expect("the target");
    let (mut files, mut folders, mut links, mut bytes) = (0, 0, 0, 0);
    let mut queue = listing(&target);
    while let Some(path) = queue.pop() {
        let metadata = fs::symlink_metadata(&path).expect("it was listed");
        if metadata.is_symlink() {
            links += 1;
            check_link(&target, &path);
            continue;
        }
        assert_eq!(metadata.permissions().mode() & 0o7000, 0, "{path:?} has special bits");
        if metadata.is_dir() {
            folders += 1;
            queue.extend(listing(&path));
        } else {
            check_file(&path, &metadata);
            files += 1;
            bytes += metadata.len();
        }
    }
    assert_eq!((files, links, bytes), (unpacked.files, unpacked.links, unpacked.bytes));
    assert_eq!(folders, unpacked.folders);
    assert!(files + folders + links <= LIMITS.max_entries as u64);
    assert!(bytes <= LIMITS.max_total_bytes);
}

/// A link leads to something inside, or to nothing by a way that stays inside.
fn check_link(target: &Path, link: &Path) {
    match fs::canonicalize(link) {
        Ok(end) => assert!(end.starts_with(target), "{link:?} leads outside"),
        Err(_) => {
            let to = fs::read_link(link).expect("it is a link");
            assert!(to.is_relative(), "{link:?} leads to {to:?}");
        }
    }
}

fn check_file(path: &Path, metadata: &Metadata) {
    assert!(metadata.is_file(), "{path:?} is of another kind");
    assert!(metadata.len() <= LIMITS.max_file_bytes);
}

fn listing(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder that can be listed");
    entries.map(|entry| entry.expect("an entry").path()).collect()
}

/// The bytes as a tar file whose headers have the right checksums.
fn with_checksums(bytes: &[u8]) -> Vec<u8> {
    const BLOCK: usize = 512;
    const SIZE: std::ops::Range<usize> = 124..136;
    const CHECKSUM: std::ops::Range<usize> = 148..156;
    let mut archive = bytes.to_vec();
    let mut start = 0;
    while let Some(header) = archive.get_mut(start..start + BLOCK) {
        header[CHECKSUM].fill(b' ');
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let digits = String::from_utf8_lossy(&header[SIZE]).into_owned();
        let digits = digits.trim_matches(|it: char| it == '\0' || it.is_whitespace());
        let size = usize::from_str_radix(digits, 8).unwrap_or_default();
        start =
            start.saturating_add(BLOCK).saturating_add(size.div_ceil(BLOCK).saturating_mul(BLOCK));
    }
    archive.extend([0; 2 * BLOCK]);
    archive
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}
