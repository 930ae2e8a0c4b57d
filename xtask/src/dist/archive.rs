//! Archives that come out the same, byte for byte, whoever makes them and when.
//!
//! Entries are sorted, belong to root, and have the time of the commit; folders are written before
//! what is in them. gzip's own header has no time and no name.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

/// A file to be packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    /// Its content.
    pub(super) bytes: Vec<u8>,
    /// Whether it is a program.
    pub(super) is_program: bool,
}

/// Files by their path, which is relative and has `/` between its parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Files(BTreeMap<String, File>);

impl Files {
    /// Adds a file that is read.
    pub(super) fn add(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.0.insert(path.into(), File { bytes: bytes.into(), is_program: false });
    }

    /// Adds a file that is run.
    pub(super) fn add_program(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.0.insert(path.into(), File { bytes: bytes.into(), is_program: true });
    }

    /// The files, sorted by path.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &File)> {
        self.0.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// The folders that the files are in, each after the one that has it.
    fn folders(&self) -> BTreeSet<String> {
        let parts = |path: &str| path.match_indices('/').map(|(end, _)| end).collect::<Vec<_>>();
        let of = |path: &String| {
            parts(path).into_iter().map(|end| path[..=end].to_owned()).collect::<Vec<_>>()
        };
        self.0.keys().flat_map(of).collect()
    }
}

/// A compressed archive of `files` below `prefix`, which is empty or ends in `/`.
pub(super) fn tar_gz(files: &Files, prefix: &str, time: u64) -> Result<Vec<u8>> {
    let mut builder = Builder::new(Vec::new());
    // What contains something sorts before it: `a/` is shorter than `a/b`.
    let mut paths: BTreeMap<String, Option<&File>> =
        files.folders().into_iter().map(|folder| (folder, None)).collect();
    paths.extend(files.iter().map(|(path, file)| (path.to_owned(), Some(file))));
    if !prefix.is_empty() {
        append(&mut builder, prefix, None, time)?;
    }
    for (path, file) in paths {
        append(&mut builder, &format!("{prefix}{path}"), file, time)?;
    }
    let tar = builder.into_inner().context("cannot finish an archive")?;
    gzip(&tar)
}

/// Compressed, without a time or a name.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    encoder.write_all(bytes).context("cannot compress")?;
    encoder.finish().context("cannot compress")
}

fn append(
    builder: &mut Builder<Vec<u8>>,
    path: &str,
    file: Option<&File>,
    time: u64,
) -> Result<()> {
    let mut header = Header::new_gnu();
    let (kind, mode) = match file {
        None => (EntryType::Directory, 0o755),
        Some(File { is_program: true, .. }) => (EntryType::Regular, 0o755),
        Some(File { is_program: false, .. }) => (EntryType::Regular, 0o644),
    };
    let bytes = file.map(|file| file.bytes.as_slice()).unwrap_or_default();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_mtime(time);
    header.set_size(bytes.len() as u64);
    header.set_uid(0);
    header.set_gid(0);
    header.set_username("root")?;
    header.set_groupname("root")?;
    let name = &mut header.as_gnu_mut().context("the header was made as one of GNU")?.name;
    // The library would take the `./` away that Debian's tools write, so the name is put in as it is.
    let place = name.get_mut(..path.len()).with_context(|| format!("`{path}` is too long"))?;
    place.copy_from_slice(path.as_bytes());
    header.set_cksum();
    builder.append(&header, bytes).with_context(|| format!("cannot pack `{path}`"))
}
