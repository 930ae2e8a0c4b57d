//! Files that save time: written beside and renamed, checked when read, missed by nobody.
//!
//! A cache never makes anything fail: one that is absent, broken, of another
//! version or on a full disk is as good as an empty one.

use std::fs;
use std::io::{self, Write};
use std::iter;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Changes with the shape of anything that is cached.
const FORMAT: &[u8; 16] = b"metier cache 08\n";
const CHECKSUM_BYTES: usize = 16;
/// Larger files are not ours.
const MAX_BYTES: u64 = 256 << 20;

/// Reads what [`store`] wrote, or nothing.
pub(crate) fn load<T: DeserializeOwned>(file: &Path) -> Option<T> {
    postcard::from_bytes(read(file)?.content()).ok()
}

/// A cache file that is whole, for what need not be in memory at once.
#[derive(Debug)]
pub(crate) struct Stored {
    bytes: Vec<u8>,
}

impl Stored {
    /// The items of a list that was stored, up to the first of another shape.
    pub(crate) fn items<'a, T: Deserialize<'a>>(&'a self) -> impl Iterator<Item = T> {
        let (mut left, mut rest): (usize, &[u8]) =
            postcard::take_from_bytes(self.content()).unwrap_or_default();
        iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let (item, after) = postcard::take_from_bytes(rest).ok()?;
            rest = after;
            Some(item)
        })
    }

    fn content(&self) -> &[u8] {
        &self.bytes[FORMAT.len() + CHECKSUM_BYTES..]
    }
}

/// Reads a file that [`store`] wrote and checks it.
pub(crate) fn read(file: &Path) -> Option<Stored> {
    let metadata = fs::symlink_metadata(file).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    let bytes = fs::read(file).ok()?;
    let rest = bytes.strip_prefix(FORMAT)?;
    let (checksum, content) = rest.split_at_checked(CHECKSUM_BYTES)?;
    if blake3::hash(content).as_bytes()[..CHECKSUM_BYTES] != *checksum {
        return None;
    }
    Some(Stored { bytes })
}

/// Makes a folder, and those above it that are missing, for their owner alone: keys may be kept there as well.
pub(crate) fn make_private_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a value for [`load`]; what cannot be written is not.
pub(crate) fn store<T: Serialize>(file: &Path, value: &T) {
    let _not_stored = try_store(file, value);
}

fn try_store<T: Serialize>(file: &Path, value: &T) -> Option<()> {
    let content = postcard::to_stdvec(value).ok()?;
    let folder = file.parent()?;
    make_private_folder(folder).ok()?;
    let mut beside = tempfile::NamedTempFile::new_in(folder).ok()?;
    beside.write_all(FORMAT).ok()?;
    beside.write_all(&blake3::hash(&content).as_bytes()[..CHECKSUM_BYTES]).ok()?;
    beside.write_all(&content).ok()?;
    beside.persist(file).ok()?;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_cache_is_an_empty_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/cache");
        assert_eq!(load::<Vec<u32>>(&file), None);
        store(&file, &vec![1_u32, 2, 3]);
        assert_eq!(load::<Vec<u32>>(&file), Some(vec![1, 2, 3]));
        let whole = fs::read(&file).unwrap();
        for cut in 0..whole.len() {
            fs::write(&file, &whole[..cut]).unwrap();
            assert_eq!(load::<Vec<u32>>(&file), None, "cut at {cut}");
        }
        for at in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            fs::write(&file, &flipped).unwrap();
            assert_eq!(load::<Vec<u32>>(&file), None, "flipped at {at}");
        }
    }

    #[test]
    fn what_cannot_be_stored_is_not_an_error() {
        store(Path::new("/proc/no/such/place"), &1_u32);
        store(Path::new("/dev/full/cache"), &1_u32);
    }
}
