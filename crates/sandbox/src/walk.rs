//! A command without a shell: the programs of a plan, how they are joined, and what must not have
//! changed since somebody said that they may run.
//!
//! Paths are absolute and lead through no link; one that does counts as changed.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use serde::{Deserialize, Serialize};

use crate::program::names;

/// On the way to a file, no link is followed.
pub(crate) const NO_LINKS: ResolveFlags =
    ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS);

/// How many links one after the other are followed, as the kernel does.
const MAX_LINKS: usize = 40;

/// A plan that is walked: one step after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walk {
    /// Its steps. Never empty.
    pub steps: Vec<WalkStep>,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WalkStep {
    /// When it is taken.
    pub joint: Joint,
    /// Programs that run at the same time, each one's output the next one's input. A step without any succeeds,
    /// as going to another folder does: every program knows its own.
    pub programs: Vec<Walked>,
}

/// When a step is taken, by how the last step that was taken ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Joint {
    /// Whatever happened.
    Always,
    /// After success.
    Success,
    /// After failure.
    Failure,
}

impl Joint {
    /// Whether a step that is joined so is taken after a status.
    pub(crate) fn fits(self, status: i32) -> bool {
        match self {
            Self::Always => true,
            Self::Success => status == 0,
            Self::Failure => status != 0,
        }
    }
}

/// A program of a plan.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walked {
    /// What is executed.
    pub executable: PathBuf,
    /// Its arguments, the first of which is its name as it was written. Never empty.
    pub arguments: Vec<OsString>,
    /// Variables for this program alone, above those of all programs.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub directory: PathBuf,
    /// What becomes of its files, in their order, after they were joined to its neighbours.
    pub redirections: Vec<(Descriptor, To)>,
    /// What must be as it was. It is looked at before anything of the step runs, and again right
    /// before this program does.
    pub pins: Vec<Pin>,
    /// Places that it writes by paths of its own, looked at in the same moments.
    pub places: Vec<WritePin>,
}

/// Without the values of variables, which may be secret.
impl fmt::Debug for Walked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Walked")
            .field("executable", &self.executable)
            .field("arguments", &self.arguments)
            .field("environment", &names(&self.environment))
            .field("directory", &self.directory)
            .field("redirections", &self.redirections)
            .field("pins", &self.pins)
            .field("places", &self.places)
            .finish()
    }
}

/// One of the three files that programs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Descriptor {
    /// Standard input.
    Input,
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// What a file of a program is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum To {
    /// Nothing to read, and nowhere.
    Nothing,
    /// The same as another of its files at this moment.
    Same(Descriptor),
    /// A file that is read.
    Read(PathBuf),
    /// A file that is made or emptied, and written.
    Write(PathBuf),
    /// A file that is made, or written at its end.
    Append(PathBuf),
}

/// A file or folder as it was at some moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// Where it is.
    pub path: PathBuf,
    /// The device it is on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Its length in bytes; 0 for folders.
    pub size: u64,
    /// When it was last written, in nanoseconds since 1970; 0 for folders.
    pub modified_ns: i128,
    /// When it last changed in any way, likewise.
    pub changed_ns: i128,
    /// Whether it is a folder, which stays the same when files in it come and go.
    pub is_folder: bool,
}

impl Pin {
    /// What is at a path now.
    ///
    /// # Errors
    ///
    /// When nothing is there, or a link is on the way.
    pub fn of(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat2(CWD, path, flags, Mode::empty(), NO_LINKS)?;
        Self::of_open(path, file)
    }

    /// What an open file is that was found at a path.
    pub(crate) fn of_open(path: &Path, file: impl AsFd) -> io::Result<Self> {
        let found = fstat(file)?;
        let is_folder = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
        let mut pin = Self {
            path: path.to_owned(),
            device: found.st_dev,
            inode: found.st_ino,
            size: 0,
            modified_ns: 0,
            changed_ns: 0,
            is_folder,
        };
        if !is_folder {
            let moment = |seconds: i128, rest: i128| seconds * 1_000_000_000 + rest;
            pin.size = u64::try_from(found.st_size).unwrap_or_default();
            pin.modified_ns = moment(found.st_mtime.into(), found.st_mtime_nsec.into());
            pin.changed_ns = moment(found.st_ctime.into(), found.st_ctime_nsec.into());
        }
        Ok(pin)
    }

    /// Whether it is still so.
    pub(crate) fn holds(&self) -> bool {
        Self::of(&self.path).is_ok_and(|now| now == *self)
    }
}

/// A place that a program writes, and where it may lead. Folders there may come and go: only links make it another place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WritePin {
    /// As the program finds it; links are followed.
    pub path: PathBuf,
    /// Where it may lead, with links followed as far as there is something.
    pub real: Vec<PathBuf>,
    /// Whether it must be a folder.
    pub is_folder: bool,
}

impl WritePin {
    /// Whether it leads there now.
    pub(crate) fn holds(&self) -> bool {
        let real = real_path(&self.path);
        let leads_there = real.is_some_and(|real| self.real.contains(&real));
        leads_there && (!self.is_folder || self.path.is_dir())
    }
}

/// Where a path leads, with links followed as far as there is something. None if it comes to no end.
fn real_path(path: &Path) -> Option<PathBuf> {
    let mut here = PathBuf::from("/");
    let mut left = parts(path);
    let mut links = 0;
    while let Some(part) = left.pop() {
        if part == Path::new("..") {
            here.pop();
            continue;
        }
        let next = here.join(&part);
        let Ok(target) = fs::read_link(&next) else {
            here = next;
            continue;
        };
        links += 1;
        if links > MAX_LINKS {
            return None;
        }
        if target.is_absolute() {
            here = PathBuf::from("/");
        }
        left.extend(parts(&target));
    }
    Some(here)
}

/// The parts of a path that have to be walked, the last first.
fn parts(path: &Path) -> Vec<PathBuf> {
    let parts = path.components().rev();
    let parts = parts.filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    parts.map(|part| PathBuf::from(part.as_os_str())).collect()
}
