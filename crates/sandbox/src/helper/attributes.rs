//! Modes, owners, times and attributes of files, where no namespace and no rule of Landlock keeps them.
//!
//! The program's calls wait for the warden, which opens the file that is meant, looks where that file
//! really is, and makes the change itself on what it opened: nothing can be put in its place between
//! the look and the change. Below a folder that was granted for writing the program gets the kernel's
//! answer, elsewhere a refusal. The warden has no right that the program lacks.

use std::fs;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Gid, Mode, OFlags, Timespec, Timestamps, UTIME_NOW, Uid, XattrFlags,
    chmod, chownat, fstat, openat, removexattr, setxattr, utimensat,
};
use rustix::io::Errno;

use super::calls::{Caller, Refusal, low};
use super::filter::FCHMODAT2;
use super::sys::{Call, is_waiting};

/// Longest path, name of an attribute and value of one that the kernel takes.
const MAX_PATH: usize = 4096;
const MAX_NAME: usize = 256;
const MAX_VALUE: u64 = 64 << 10;

/// Makes the change that a call asks for, below a folder that may be written to; nothing if it is no such call.
pub(super) fn make(
    call: &Call,
    notices: impl AsFd,
    writable: &[PathBuf],
) -> Option<Result<(), Refusal>> {
    let wish = decode(call)?;
    let made = Caller(call).open(&wish.target).and_then(|file| {
        // Whoever waited may be gone, and somebody else have its number.
        if !is_waiting(notices, call.id) {
            return Err(Errno::SRCH.into());
        }
        if !is_below(&file, writable) {
            return Err(Refusal::Ours);
        }
        Ok(wish.change.make(&file, &Caller(call))?)
    });
    Some(made)
}

/// Whether an open file is below a folder that may be written to.
fn is_below(file: &OwnedFd, writable: &[PathBuf]) -> bool {
    let place = fs::read_link(link_to(file)).unwrap_or_default();
    writable.iter().any(|folder| place.starts_with(folder))
}

/// A path that leads to an open file, whatever has its name by now.
fn link_to(file: &OwnedFd) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// What a call asks for.
struct Wish {
    target: Target,
    change: Change,
}

/// The file that is meant.
enum Target {
    /// One that is open.
    File(i32),
    /// A path at an address, from an open folder.
    Path { folder: i32, address: u64, flags: AtFlags },
}

/// A change; numbers are addresses of what is too long for a call.
enum Change {
    Mode(u32),
    Owner(u32, u32),
    Times(Times, u64),
    Set { name: u64, value: u64, length: u64, flags: u32 },
    Remove { name: u64 },
}

/// How times are written down.
#[derive(Clone, Copy)]
enum Times {
    Nanoseconds,
    Microseconds,
    Seconds,
}

/// Understands a call that changes a file.
fn decode(call: &Call) -> Option<Wish> {
    let [first, second, third, fourth, fifth, _] = call.arguments;
    let here = |flags| Target::Path { folder: libc::AT_FDCWD, address: first, flags };
    let from = |flags| Target::Path { folder: low(first).cast_signed(), address: second, flags };
    let given = |flags: u64| from(AtFlags::from_bits_retain(low(flags)));
    let (follow, nofollow) = (AtFlags::empty(), AtFlags::SYMLINK_NOFOLLOW);
    let file = Target::File(low(first).cast_signed());
    let set = Change::Set { name: second, value: third, length: fourth, flags: low(fifth) };
    let (target, change) = match call.number {
        libc::SYS_fchmod => (file, Change::Mode(low(second))),
        libc::SYS_fchmodat => (from(follow), Change::Mode(low(third))),
        FCHMODAT2 => (given(fourth), Change::Mode(low(third))),
        libc::SYS_fchown => (file, Change::Owner(low(second), low(third))),
        libc::SYS_fchownat => (given(fifth), Change::Owner(low(third), low(fourth))),
        libc::SYS_utimensat if second == 0 => (file, Change::Times(Times::Nanoseconds, third)),
        libc::SYS_utimensat => (given(fourth), Change::Times(Times::Nanoseconds, third)),
        libc::SYS_setxattr => (here(follow), set),
        libc::SYS_lsetxattr => (here(nofollow), set),
        libc::SYS_fsetxattr => (file, set),
        libc::SYS_removexattr => (here(follow), Change::Remove { name: second }),
        libc::SYS_lremovexattr => (here(nofollow), Change::Remove { name: second }),
        libc::SYS_fremovexattr => (file, Change::Remove { name: second }),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chmod => (here(follow), Change::Mode(low(second))),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chown => (here(follow), Change::Owner(low(second), low(third))),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_lchown => (here(nofollow), Change::Owner(low(second), low(third))),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_utime => (here(follow), Change::Times(Times::Seconds, second)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_utimes => (here(follow), Change::Times(Times::Microseconds, second)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_futimesat if second == 0 => (file, Change::Times(Times::Microseconds, third)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_futimesat => (from(follow), Change::Times(Times::Microseconds, third)),
        _ => return None,
    };
    Some(Wish { target, change })
}

impl Caller<'_> {
    /// Opens what is meant, without any right to it.
    fn open(&self, target: &Target) -> Result<OwnedFd, Refusal> {
        let (folder, address, flags) = match target {
            Target::File(number) => return Ok(self.open_number(*number)?),
            Target::Path { folder, address, flags } => (*folder, *address, *flags),
        };
        let path = self.read_text(address, MAX_PATH, Errno::NAMETOOLONG)?;
        if path.is_empty() {
            let may_be_empty = flags.contains(AtFlags::EMPTY_PATH);
            let open = || self.open_base(folder);
            return if may_be_empty { Ok(open()?) } else { Err(Errno::NOENT.into()) };
        }
        let path = self.as_seen(PathBuf::from(std::ffi::OsString::from_vec(path)));
        let mut how = OFlags::PATH | OFlags::CLOEXEC;
        how.set(OFlags::NOFOLLOW, flags.contains(AtFlags::SYMLINK_NOFOLLOW));
        if path.is_absolute() {
            return Ok(openat(CWD, &path, how, Mode::empty())?);
        }
        Ok(openat(self.open_base(folder)?, &path, how, Mode::empty())?)
    }

    /// Opens the folder from which a path starts.
    fn open_base(&self, folder: i32) -> Result<OwnedFd, Errno> {
        if folder != libc::AT_FDCWD {
            return self.open_number(folder);
        }
        openat(CWD, self.entry("cwd"), OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
    }

    fn open_number(&self, number: i32) -> Result<OwnedFd, Errno> {
        let path = self.entry(&format!("fd/{number}"));
        let opened = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        opened.map_err(|errno| if errno == Errno::NOENT { Errno::BADF } else { errno })
    }

    /// A path as the process sees it, not as we do.
    fn as_seen(&self, path: PathBuf) -> PathBuf {
        let own = ["/proc/self", "/proc/thread-self"];
        if let Some(rest) = own.iter().find_map(|own| path.strip_prefix(own).ok()) {
            return self.entry("").join(rest);
        }
        path.strip_prefix("/dev/fd").map(|rest| self.entry("fd").join(rest)).unwrap_or(path)
    }

    /// Reads the times of access and change; without any, they are now.
    fn read_times(&self, times: Times, address: u64) -> Result<Timestamps, Errno> {
        if address == 0 {
            let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
            return Ok(Timestamps { last_access: now, last_modification: now });
        }
        let width = if matches!(times, Times::Seconds) { 1 } else { 2 };
        let bytes = self.read_exactly(address, 2 * width * size_of::<i64>())?;
        let numbers: Vec<i64> = bytes
            .chunks_exact(size_of::<i64>())
            .map(|chunk| chunk.try_into().map_or(0, i64::from_ne_bytes))
            .collect();
        let moment = |pair: &[i64]| match (times, pair) {
            (Times::Nanoseconds, [seconds, rest]) => Ok((*seconds, *rest)),
            (Times::Microseconds, [seconds, rest]) if (0..1_000_000).contains(rest) => {
                Ok((*seconds, rest * 1000))
            }
            (Times::Seconds, [seconds]) => Ok((*seconds, 0)),
            _ => Err(Errno::INVAL),
        };
        let mut moments = numbers.chunks_exact(width).map(moment);
        let mut next = || {
            let (tv_sec, tv_nsec) = moments.next().unwrap_or(Err(Errno::INVAL))?;
            Ok::<_, Errno>(Timespec { tv_sec, tv_nsec })
        };
        Ok(Timestamps { last_access: next()?, last_modification: next()? })
    }
}

impl Change {
    /// Makes the change on an open file.
    fn make(&self, file: &OwnedFd, process: &Caller<'_>) -> Result<(), Errno> {
        let link = link_to(file);
        let is_link = || Ok(FileType::from_raw_mode(fstat(file)?.st_mode).is_symlink());
        match *self {
            Self::Mode(_) if is_link()? => Err(Errno::OPNOTSUPP),
            Self::Mode(mode) => chmod(&link, Mode::from_raw_mode(mode)),
            Self::Owner(user, group) => {
                let user = (user != u32::MAX).then(|| Uid::from_raw(user));
                let group = (group != u32::MAX).then(|| Gid::from_raw(group));
                chownat(file, "", user, group, AtFlags::EMPTY_PATH)
            }
            Self::Times(times, address) => {
                let times = process.read_times(times, address)?;
                utimensat(file, "", &times, AtFlags::EMPTY_PATH)
            }
            Self::Set { .. } | Self::Remove { .. } if is_link()? => Err(Errno::PERM),
            Self::Set { name, value, length, flags } => {
                let name = process.read_name(name)?;
                if length > MAX_VALUE {
                    return Err(Errno::TOOBIG);
                }
                let value = process.read_exactly(value, low(length) as usize)?;
                setxattr(&link, Path::new(&name), &value, XattrFlags::from_bits_retain(flags))
            }
            Self::Remove { name } => removexattr(&link, Path::new(&process.read_name(name)?)),
        }
    }
}

impl Caller<'_> {
    fn read_name(&self, address: u64) -> Result<std::ffi::OsString, Errno> {
        let name = self.read_text(address, MAX_NAME, Errno::RANGE)?;
        Ok(std::ffi::OsString::from_vec(name))
    }
}
