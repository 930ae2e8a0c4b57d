//! Attacks on unpacking, and archives as honest tools write them.
//!
//! Every test unpacks into a fresh folder and sees all of it, so a file that lands beside the target
//! or a leftover of a failed attempt shows in the snapshot or fails the helper.

mod build;
mod good;
mod limits;
mod links;
mod names;
mod publishing;
mod structure;
mod tools;

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::io::Cursor;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

use super::{ArchiveError, Limits, LinkRule, UnpackRequest, Unpacked, unpack};

/// Unpacks with the standard limits and renders what happened.
fn outcome(name: &str, archive: &[u8]) -> String {
    outcome_within(&Limits::STANDARD, name, archive)
}

fn outcome_within(limits: &Limits, name: &str, archive: &[u8]) -> String {
    let parent = TempDir::new().unwrap();
    let result = unpack_in(parent.path(), limits, name, archive);
    let beside: Vec<_> =
        fs::read_dir(parent.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    match result {
        Ok(unpacked) => {
            assert_eq!(beside, ["out"], "only the target may appear");
            render(&unpacked, &parent.path().join("out"))
        }
        Err(error) => {
            assert!(beside.is_empty(), "a failed attempt left {beside:?}");
            chain(&error)
        }
    }
}

fn unpack_in(
    parent: &Path,
    limits: &Limits,
    name: &str,
    archive: &[u8],
) -> Result<Unpacked, ArchiveError> {
    let into = parent.join("out");
    unpack(Cursor::new(archive), &request(name, &into, limits))
}

fn request<'a>(name: &'a str, into: &'a Path, limits: &'a Limits) -> UnpackRequest<'a> {
    let (skill_folder, links) = ("downloaded", LinkRule::Inside);
    UnpackRequest { name, into, skill_folder, strip: 0, links, limits }
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        write!(text, "\n  because: {cause}").unwrap();
        source = cause.source();
    }
    text
}

fn render(unpacked: &Unpacked, folder: &Path) -> String {
    let Unpacked { format, files, folders, links, skipped, bytes } = unpacked;
    let mut text = format!(
        "{format}: {files} files, {folders} folders, {links} links, {skipped} skipped, {bytes} bytes\n"
    );
    list(folder, folder, &mut text);
    text
}

fn list(root: &Path, folder: &Path, text: &mut String) {
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let name = path.strip_prefix(root).unwrap().display();
        let metadata = fs::symlink_metadata(&path).unwrap();
        let mode = metadata.permissions().mode() & 0o7777;
        if metadata.is_symlink() {
            writeln!(text, "link {name} -> {}", fs::read_link(&path).unwrap().display()).unwrap();
        } else if metadata.is_dir() {
            writeln!(text, "{mode:o} {name}/").unwrap();
            list(root, &path, text);
        } else {
            let contents = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            writeln!(text, "{mode:o} {name} {contents:?}").unwrap();
        }
    }
}
