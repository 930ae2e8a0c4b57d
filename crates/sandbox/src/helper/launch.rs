//! Starting the program itself.

use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, Resource, Rlimit, getrlimit, ioctl_tiocsctty, setrlimit, setsid};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stdin};
use serde::{Deserialize, Serialize};

use super::sys::{Fork, exit_now, fork, reset_signals};
use super::{OrFail, identity, tree, walk};
use crate::cgroup;
use crate::policy::Level;
use crate::program::Command;
use crate::wire::{self, Failure, Order, Stage};

/// Standard input, output and error of the program.
pub(super) struct Files {
    pub(super) input: OwnedFd,
    pub(super) output: OwnedFd,
    pub(super) error: OwnedFd,
}

/// What bounds memory and processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Bounds {
    /// The control group that this process is in.
    Group,
    /// Limits of each process.
    Process,
}

impl Bounds {
    /// Joins the control group of the program, if there is one that lets it in, and tells the warden
    /// how that went: a group that was made is not yet one that bounds anything.
    pub(super) fn join(order: &Order, warden: BorrowedFd<'_>) -> Result<Self, Failure> {
        let bounds = if cgroup::join(&order.group) { Self::Group } else { Self::Process };
        wire::send(warden, &Step::Bounded(bounds), &[]).or_fail(Stage::Limits, "warden")?;
        Ok(bounds)
    }
}

/// What a process on its way to the program tells the one that started it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Step {
    /// It is where its memory and processes are bounded.
    Bounded(Bounds),
    /// It is confined; files that the warden needs come along.
    Confined { has_listener: bool, has_notices: bool },
    /// The program was started.
    Started,
    /// It was not.
    Failed(Failure),
    /// It is none but walks a plan, and keeps this way open.
    Walks,
    /// Something has changed since that plan was made.
    Changed(PathBuf),
    /// It ended.
    Ended {
        /// The status as `wait` gives it.
        status: i32,
        /// What had changed.
        changed: Option<PathBuf>,
    },
}

/// Two ends of a way for [`Step`]s; neither survives into the program.
pub(super) fn steps() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
}

/// A program that was started.
pub(super) struct Launched {
    pub(super) process: Pid,
    /// What bounds it, if `prepare` joined that.
    pub(super) bounds: Option<Bounds>,
    /// The files that `prepare` handed over.
    pub(super) files: Vec<OwnedFd>,
    /// Where one that walks a plan says what has changed.
    pub(super) walk: Option<OwnedFd>,
}

/// What had changed for the walker of a plan that has ended.
pub(super) fn changed(walk: Option<&OwnedFd>) -> Option<PathBuf> {
    let walk = walk?;
    let mut polled = [PollFd::new(walk, PollFlags::IN)];
    // Whatever it said is there; children that are not programs yet may keep the way open.
    poll(&mut polled, Some(&Timespec::default())).ok().filter(|ready| *ready > 0)?;
    match wire::receive::<Step>(walk) {
        Ok(Some((Step::Changed(path), _))) => Some(path),
        _ => None,
    }
}

/// Starts the program in a new process, after `prepare` there.
pub(super) fn launch(
    order: &Order,
    files: &Files,
    prepare: impl FnOnce(BorrowedFd<'_>) -> Result<Bounds, Failure>,
) -> Result<Launched, Failure> {
    let (ours, theirs) = steps().or_fail(Stage::Program, "")?;
    let process = match fork().or_fail(Stage::Program, "")? {
        Fork::Parent(pid) => pid,
        Fork::Child => {
            drop(ours);
            let failure = match prepare(theirs.as_fd()) {
                Ok(bounds) => become_program(order, files, bounds, theirs.as_fd()),
                Err(failure) => failure,
            };
            let _parent_gone = wire::send(&theirs, &Step::Failed(failure), &[]);
            exit_now(127);
        }
    };
    drop(theirs);
    let mut launched = Launched { process, bounds: None, files: Vec::new(), walk: None };
    // The other end closes when the program takes over.
    while let Ok(Some((step, files))) = wire::receive::<Step>(&ours) {
        match step {
            Step::Failed(failure) => return Err(failure),
            Step::Bounded(bounds) => launched.bounds = Some(bounds),
            Step::Walks => {
                launched.walk = Some(ours);
                break;
            }
            Step::Confined { .. } | Step::Started | Step::Changed(_) | Step::Ended { .. } => {
                launched.files.extend(files);
            }
        }
    }
    Ok(launched)
}

/// Turns this process into the program; gives the reason if that cannot be done.
fn become_program(order: &Order, files: &Files, bounds: Bounds, parent: BorrowedFd<'_>) -> Failure {
    match try_become_program(order, files, bounds, parent) {
        Ok(never) => match never {},
        Err(failure) => failure,
    }
}

fn try_become_program(
    order: &Order,
    files: &Files,
    bounds: Bounds,
    parent: BorrowedFd<'_>,
) -> Result<Infallible, Failure> {
    let program = &order.job.program;
    let name = program.command.name();
    identity::follow_parent().or_fail(Stage::Program, name.display())?;
    still_there(parent).or_fail(Stage::Program, name.display())?;
    take_stdio(order, files).or_fail(Stage::Program, name.display())?;
    let directory = &program.directory;
    rustix::process::chdir(directory).or_fail(Stage::Directory, directory.display())?;
    apply_limits(order, bounds).or_fail(Stage::Limits, "")?;
    reset_signals();
    let arguments = match &program.command {
        Command::Arguments(arguments) => arguments,
        Command::Plan(plan) => return walk::walk(program, plan, parent),
    };
    #[expect(clippy::disallowed_methods, reason = "this process becomes the program")]
    let mut command = process::Command::new(&name);
    command.args(arguments.iter().skip(1)).env_clear();
    command.envs(program.environment.iter().map(|(name, value)| (name, value)));
    Err(command.exec()).or_fail(Stage::Program, name.display())
}

/// Fails if the process at the other end is gone: whoever follows it from now on would follow nobody.
fn still_there(parent: BorrowedFd<'_>) -> io::Result<()> {
    let mut polled = [PollFd::new(&parent, PollFlags::RDHUP)];
    poll(&mut polled, Some(&Timespec::default()))?;
    let is_gone = polled[0].revents().intersects(PollFlags::RDHUP | PollFlags::HUP);
    if is_gone { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
}

/// Starts a session with the program's own files, and its own terminal if they are one.
fn take_stdio(order: &Order, files: &Files) -> io::Result<()> {
    setsid()?;
    dup2_stdin(&files.input)?;
    dup2_stdout(&files.output)?;
    dup2_stderr(&files.error)?;
    if order.terminal {
        ioctl_tiocsctty(stdin())?;
    }
    Ok(())
}

/// Processes and threads that the user has already: the kernel counts them in, unless the program has
/// a namespace of users.
fn others(order: &Order) -> u64 {
    let counted = order.job.policy.level != Level::Full || order.owner.is_some();
    if !counted {
        return 0;
    }
    // This process is the program's first.
    tree::tasks_of(rustix::process::getuid()).saturating_sub(1)
}

/// Lowers the limits of this process; none is ever raised.
fn apply_limits(order: &Order, bounds: Bounds) -> io::Result<()> {
    let limits = &order.job.limits;
    let mut wanted = vec![
        (Resource::Core, 0),
        (Resource::Cpu, limits.cpu_seconds),
        (Resource::Fsize, limits.file_bytes),
        (Resource::Nofile, limits.open_files),
    ];
    if bounds == Bounds::Process {
        wanted.push((Resource::Data, limits.memory));
        wanted.push((Resource::Nproc, others(order) + limits.processes));
    }
    for (resource, value) in wanted {
        let maximum = getrlimit(resource).maximum.map_or(value, |maximum| maximum.min(value));
        let limit = Rlimit { current: Some(maximum), maximum: Some(maximum) };
        setrlimit(resource, limit)?;
    }
    Ok(())
}
