//! A program of a plan, on its way: what it needs is made ready before anything runs, and then a
//! process becomes it, with its files, in its folder, if nothing has changed.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat2};
use rustix::io::Errno;
use rustix::process::fchdir;
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stderr, stdin, stdout};

use super::sys;
use crate::program::Program;
use crate::walk::{Descriptor, NO_LINKS, Pin, To, Walked};

/// What programs end with whose files cannot be opened, as in a shell.
const NOT_OPENED: i32 = 1;
/// What programs end with that cannot be started.
pub(super) const NOT_STARTED: i32 = 126;
/// What programs end with that are not there.
const NOT_THERE: i32 = 127;

/// A program with the texts that the kernel takes.
pub(super) struct Prospect<'a> {
    pub(super) walked: &'a Walked,
    path: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
}

impl<'a> Prospect<'a> {
    pub(super) fn new(program: &Program, walked: &'a Walked) -> io::Result<Self> {
        let files = walked.redirections.iter().filter_map(|(_, to)| match to {
            To::Nothing | To::Same(_) => None,
            To::Read(path) | To::Write(path) | To::Append(path) => Some(path),
        });
        let places = walked.places.iter().map(|place| &place.path);
        let mut paths = files.chain(places).chain([&walked.executable, &walked.directory]);
        if walked.arguments.is_empty() || paths.any(|path| !path.is_absolute()) {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        let variables = program.environment.iter().chain(&walked.environment);
        let variables: BTreeMap<_, _> = variables.map(|(name, value)| (name, value)).collect();
        let pairs = variables.into_iter().map(|(name, value)| {
            let pair = [name.as_bytes(), value.as_bytes()].join(&b'=');
            text(OsStr::from_bytes(&pair))
        });
        Ok(Self {
            walked,
            path: text(walked.executable.as_os_str())?,
            arguments: walked.arguments.iter().map(|it| text(it)).collect::<Result<_, _>>()?,
            environment: pairs.collect::<Result<_, _>>()?,
        })
    }

    /// What is not as it was.
    pub(super) fn changed(&self) -> Option<PathBuf> {
        let Walked { executable, pins, places, .. } = self.walked;
        let is_linked = || matches!(open(executable, OFlags::PATH), Err(Errno::LOOP));
        let pin = pins.iter().find(|pin| !pin.holds()).map(|pin| pin.path.clone());
        let place = || places.iter().find(|place| !place.holds()).map(|place| place.path.clone());
        pin.or_else(place).or_else(|| is_linked().then(|| executable.clone()))
    }

    /// Turns this process into a program; gives the reason if that cannot be done.
    pub(super) fn take_over(&self, ends: &Ends) -> Fault {
        let walked = self.walked;
        let ready = join(ends).map_err(|error| Fault::not_started(walked, &error.into()));
        let ready = ready.and_then(|()| redirect(walked)).and_then(|()| self.enter());
        if let Err(fault) = ready {
            return fault;
        }
        if let Some(path) = self.changed() {
            return Fault::Changed(path);
        }
        let error = sys::execute(&self.path, &self.arguments, &self.environment);
        Fault::not_started(walked, &error)
    }

    /// Goes to its folder, and no other.
    fn enter(&self) -> Result<(), Fault> {
        let Walked { directory, pins, .. } = self.walked;
        let entered = open(directory, OFlags::PATH | OFlags::DIRECTORY).and_then(|folder| {
            fchdir(&folder)?;
            Pin::of_open(directory, folder).map_err(|_unknown| Errno::STALE)
        });
        let is_other = |found: &Pin| pins.iter().any(|pin| pin.path == *directory && pin != found);
        match entered {
            Ok(found) if !is_other(&found) => Ok(()),
            _ => Err(Fault::Changed(directory.clone())),
        }
    }
}

/// A text for the kernel; none has a zero byte.
fn text(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes()).map_err(|_zero| io::Error::from_raw_os_error(libc::EINVAL))
}

/// Opens a file to which no link leads.
fn open(path: &Path, how: OFlags) -> Result<OwnedFd, Errno> {
    let mode =
        if how.contains(OFlags::CREATE) { Mode::from_raw_mode(0o666) } else { Mode::empty() };
    let how = how | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    openat2(CWD, path, how, mode, NO_LINKS)
}

/// Why a program was not started.
pub(super) enum Fault {
    /// Something is not as it was.
    Changed(PathBuf),
    /// Something else, as it happens in a shell too.
    Complaint { path: PathBuf, what: &'static str, error: Errno, status: i32 },
}

impl Fault {
    fn not_opened(path: &Path, error: Errno) -> Self {
        let (path, status) = (path.to_owned(), NOT_OPENED);
        Self::Complaint { path, what: "cannot be opened", error, status }
    }

    pub(super) fn not_started(walked: &Walked, error: &io::Error) -> Self {
        let path = walked.executable.clone();
        let error = error.raw_os_error().map_or(Errno::INVAL, Errno::from_raw_os_error);
        let status = if error == Errno::NOENT { NOT_THERE } else { NOT_STARTED };
        Self::Complaint { path, what: "cannot be started", error, status }
    }
}

/// A program's ends of the pipes to its neighbours.
#[derive(Default)]
pub(super) struct Ends {
    pub(super) input: Option<OwnedFd>,
    pub(super) output: Option<OwnedFd>,
}

/// Takes the ends of pipes as input and output.
fn join(ends: &Ends) -> Result<(), Errno> {
    ends.input.as_ref().map(dup2_stdin).transpose()?;
    ends.output.as_ref().map(dup2_stdout).transpose()?;
    Ok(())
}

/// Does what a program's redirections say, one after the other.
fn redirect(walked: &Walked) -> Result<(), Fault> {
    let (read, write) = (OFlags::NOCTTY, OFlags::WRONLY | OFlags::CREATE | OFlags::NOCTTY);
    for (descriptor, to) in &walked.redirections {
        let (path, how) = match to {
            To::Same(other) => {
                let result = same(*descriptor, *other);
                result.map_err(|error| Fault::not_started(walked, &error.into()))?;
                continue;
            }
            To::Nothing => (Path::new("/dev/null"), OFlags::RDWR),
            To::Read(path) => (path.as_path(), read),
            To::Write(path) => (path.as_path(), write | OFlags::TRUNC),
            To::Append(path) => (path.as_path(), write | OFlags::APPEND),
        };
        let opened = open(path, how).and_then(|file| take(*descriptor, file.as_fd()));
        opened.map_err(|error| match error {
            Errno::LOOP => Fault::Changed(path.to_owned()),
            error => Fault::not_opened(path, error),
        })?;
    }
    Ok(())
}

fn same(descriptor: Descriptor, other: Descriptor) -> Result<(), Errno> {
    if descriptor == other {
        return Ok(());
    }
    take(
        descriptor,
        match other {
            Descriptor::Input => stdin(),
            Descriptor::Output => stdout(),
            Descriptor::Error => stderr(),
        },
    )
}

fn take(descriptor: Descriptor, file: BorrowedFd<'_>) -> Result<(), Errno> {
    match descriptor {
        Descriptor::Input => dup2_stdin(file),
        Descriptor::Output => dup2_stdout(file),
        Descriptor::Error => dup2_stderr(file),
    }
}
