//! The program's own file system: an empty one, with what was granted put into it.
//!
//! Runs in a new mount namespace, as the first process of a new process namespace. What a program
//! could have changed before (a folder of an earlier run, say) is never followed through a link.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount,
    mount_change, move_mount, open_tree, unmount,
};
use rustix::process::pivot_root;

use super::OrFail;
use super::sys::{MountAttributes, set_mount_attributes};
use crate::policy::{Access, Grant};
use crate::wire::{Failure, Order, Stage};

/// A folder every system has, on which the new root is made before it moves away.
const BASE: &str = "/tmp";
/// Where the old root is while grants are taken from it.
const OLD_ROOT: &str = "/.old";
/// Devices that do nothing but what their names say.
const DEVICES: [&str; 5] = ["full", "null", "random", "urandom", "zero"];

/// A temporary folder holds one file for so many bytes of its size: empty ones take memory of the kernel.
const BYTES_PER_FILE: u64 = 16 << 10;
/// Files and folders that even a small one holds.
const FEWEST_FILES: u64 = 1 << 12;

/// Replaces the file system of this process.
pub(super) fn build(order: &Order) -> Result<(), Failure> {
    let old_root = enter_empty_root().or_fail(Stage::Mounts, "/")?;
    // First, so that what is granted below it is seen.
    let size = order.job.limits.temporary_bytes;
    make_temporary("/tmp", size).or_fail(Stage::Mounts, "/tmp")?;
    for grant in &order.job.policy.grants {
        place(grant, old_root.as_fd()).or_fail(Stage::Mounts, grant.source.display())?;
    }
    make_devices(old_root.as_fd(), order.terminal).or_fail(Stage::Mounts, "/dev")?;
    make_temporary("/dev/shm", size).or_fail(Stage::Mounts, "/dev/shm")?;
    // Before the old one is gone: some systems only allow it to those who see one already.
    make_processes().or_fail(Stage::Processes, "/proc")?;
    drop(old_root);
    leave_old_root().or_fail(Stage::Mounts, "/")
}

fn enter_empty_root() -> io::Result<OwnedFd> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", BASE, "tmpfs", flags, Some(c"mode=0755,size=4m"))?;
    rustix::process::chdir(BASE)?;
    fs::create_dir(&OLD_ROOT[1..])?;
    pivot_root(".", &OLD_ROOT[1..])?;
    rustix::process::chdir("/")?;
    Ok(File::open(OLD_ROOT)?.into())
}

fn leave_old_root() -> io::Result<()> {
    unmount(OLD_ROOT, UnmountFlags::DETACH)?;
    fs::remove_dir(OLD_ROOT)?;
    let root = File::open("/")?;
    set_mount_attributes(root, MountAttributes { read_only: true, no_devices: true }, false)
}

/// Puts a file or folder of the old root into the new one.
fn place(grant: &Grant, old_root: BorrowedFd<'_>) -> io::Result<()> {
    let inside = grant.source.strip_prefix("/").map_err(io::Error::other)?;
    if grant.system {
        return place_system(grant, inside, old_root);
    }
    let source = open(old_root, inside, ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS)?;
    bind(source.as_fd(), &grant.target, grant.access == Access::Read, true)
}

/// Parts of the system may be absent, or links: those to folders stay links (`/bin`), those to files
/// are followed within the old root.
fn place_system(grant: &Grant, inside: &Path, old_root: BorrowedFd<'_>) -> io::Result<()> {
    let Ok(source) = open(old_root, inside, ResolveFlags::IN_ROOT) else { return Ok(()) };
    let is_folder = FileType::from_raw_mode(fstat(&source)?.st_mode).is_dir();
    if is_folder && let Ok(link) = fs::read_link(Path::new(OLD_ROOT).join(inside)) {
        make_parents(&grant.target)?;
        return symlink(link, &grant.target);
    }
    bind(source.as_fd(), &grant.target, grant.access == Access::Read, true)
}

fn open(folder: BorrowedFd<'_>, path: &Path, resolve: ResolveFlags) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    Ok(openat2(folder, path, flags, Mode::empty(), resolve | ResolveFlags::NO_MAGICLINKS)?)
}

/// Shows what is open at another place.
fn bind(
    source: BorrowedFd<'_>,
    target: &Path,
    read_only: bool,
    no_devices: bool,
) -> io::Result<()> {
    let is_folder = FileType::from_raw_mode(fstat(source)?.st_mode).is_dir();
    let mut flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH;
    if is_folder && read_only {
        flags |= OpenTreeFlags::AT_RECURSIVE;
    }
    let tree = open_tree(source, "", flags)?;
    let recursive = flags.contains(OpenTreeFlags::AT_RECURSIVE);
    set_mount_attributes(&tree, MountAttributes { read_only, no_devices }, recursive)?;
    make_parents(target)?;
    if is_folder {
        make_folder(target)?;
    } else {
        File::create(target)?;
    }
    Ok(move_mount(&tree, "", CWD, target, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

fn make_parents(target: &Path) -> io::Result<()> {
    target.parent().map_or(Ok(()), fs::create_dir_all)
}

fn make_folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

fn make_devices(old_root: BorrowedFd<'_>, terminal: bool) -> io::Result<()> {
    fs::create_dir("/dev")?;
    for name in DEVICES.into_iter().chain(terminal.then_some("tty")) {
        let inside: PathBuf = [OsStr::new("dev"), OsStr::new(name)].iter().collect();
        let device = open(old_root, &inside, ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS)?;
        bind(device.as_fd(), &Path::new("/").join(inside), false, false)?;
    }
    symlink("/proc/self/fd", "/dev/fd")?;
    for (number, name) in ["stdin", "stdout", "stderr"].into_iter().enumerate() {
        symlink(format!("/proc/self/fd/{number}"), Path::new("/dev").join(name))?;
    }
    fs::create_dir("/dev/pts")?;
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    // Few programs make terminals of their own; the others do not miss it.
    let options = c"newinstance,ptmxmode=0666,mode=0620";
    if mount("devpts", "/dev/pts", "devpts", flags, Some(options)).is_ok() {
        symlink("pts/ptmx", "/dev/ptmx")?;
    }
    Ok(())
}

fn make_temporary(path: &str, size: u64) -> io::Result<()> {
    fs::create_dir(path)?;
    let files = (size / BYTES_PER_FILE).max(FEWEST_FILES);
    let options = format!("mode=1777,size={size},nr_inodes={files}\0");
    let options =
        std::ffi::CStr::from_bytes_with_nul(options.as_bytes()).map_err(io::Error::other)?;
    Ok(mount("tmpfs", path, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(options))?)
}

fn make_processes() -> io::Result<()> {
    fs::create_dir("/proc")?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount("proc", "/proc", "proc", flags, None)?)
}
