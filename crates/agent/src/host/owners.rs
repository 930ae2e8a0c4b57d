//! Whether somebody else could put another program in the place of one.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::lgetxattr;
use rustix::io::Errno;
use rustix::process::geteuid;

use super::links::{MAX_LINKS, parts};

/// What lets others write where the owner's group is root.
const LISTS: [&str; 2] = ["system.posix_acl_access", "system.nfs4_acl"];
const FOR_GROUP: u32 = 0o020;
const FOR_OTHERS: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// Whether somebody other than root or this user could change what a path leads to: the file, a folder above
/// it, or a link or folder on the way. What cannot be looked at counts as changeable.
pub(super) fn is_replaceable(path: &Path) -> bool {
    walk(path).unwrap_or(true)
}

/// Walks to the end of a path as the kernel does, link by link. Gives whether somebody could change the way;
/// none if it does not come to an end.
fn walk(path: &Path) -> Option<bool> {
    let mut here = PathBuf::from("/");
    if is_open(&here)? {
        return Some(true);
    }
    let mut left = parts(path);
    let mut links = 0;
    while let Some(part) = left.pop() {
        if part == Path::new("..") {
            here.pop();
            continue;
        }
        let next = here.join(&part);
        if is_open(&next)? {
            return Some(true);
        }
        if let Ok(target) = fs::read_link(&next) {
            links += 1;
            if links > MAX_LINKS {
                return None;
            }
            if target.is_absolute() {
                here = PathBuf::from("/");
            }
            left.extend(parts(&target));
        } else {
            here = next;
        }
    }
    Some(false)
}

/// Whether somebody else may write to a file or folder, or has it.
fn is_open(path: &Path) -> Option<bool> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let owner = metadata.uid();
    if owner != 0 && owner != geteuid().as_raw() {
        return Some(true);
    }
    Some(!metadata.is_symlink() && may_be_written(path, &metadata))
}

fn may_be_written(path: &Path, metadata: &Metadata) -> bool {
    // Where only owners may remove what is theirs, what lies there is judged by its own owner.
    if metadata.is_dir() && metadata.mode() & STICKY != 0 {
        return false;
    }
    if metadata.mode() & FOR_OTHERS != 0 {
        return true;
    }
    // With a list of further users the mode says what the most powerful of them may.
    metadata.mode() & FOR_GROUP != 0 && (metadata.gid() != 0 || has_list(path))
}

fn has_list(path: &Path) -> bool {
    LISTS.iter().any(|name| {
        let mut nothing: [u8; 0] = [];
        let found = lgetxattr(path, *name, &mut nothing);
        !matches!(found, Err(Errno::NODATA | Errno::NOTSUP))
    })
}
