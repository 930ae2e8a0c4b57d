//! The warden: starts the program as it was told, refuses what it must not call, ends the tree when
//! asked to, or when the caller is gone, and reports how it went.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, pidfd_open, pidfd_send_signal,
    set_child_subreaper, waitpid,
};

use super::calls::answer_next_call;
use super::launch::{Bounds, Files, Launched, Step, changed, launch, steps};
use super::memory::MemoryMeter;
use super::sys::{Fork, exit_now, fork};
use super::{OrFail, filter, identity, init, namespaces, rules, tree};
use crate::limits::Limit;
use crate::policy::{Access, Level};
use crate::wire::{self, Failure, KILL, Order, Report, STOP, Stage};

/// How long a tree has to end by itself after it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// Most system calls that are named in the report.
const MAX_REFUSED: usize = 32;

/// A warden's own `main`.
pub(super) fn main(control: &OwnedFd) -> i32 {
    match serve(control) {
        Ok(()) => 0,
        Err(_caller_gone) => 1,
    }
}

fn serve(control: &OwnedFd) -> io::Result<()> {
    // Whoever loses patience with what follows cannot count on being heard.
    let handle = pidfd_open(getpid(), PidfdFlags::empty())?;
    wire::send(control, &Report::Here, &[handle.as_fd()])?;
    drop(handle);
    let Some((order, files)) = wire::receive::<Order>(control)? else { return Ok(()) };
    let [input, output, error] = <[OwnedFd; 3]>::try_from(files)
        .map_err(|_other| io::Error::other("three files are needed"))?;
    match start(&order, Files { input, output, error }) {
        Ok(ward) => {
            let listener: Vec<BorrowedFd<'_>> = ward.listener.iter().map(AsFd::as_fd).collect();
            let report = Report::Started {
                has_notices: ward.notices.is_some(),
                is_grouped: ward.bounds == Some(Bounds::Group),
            };
            wire::send(control, &report, &listener)?;
            let memory = MemoryMeter::new(&order, ward.bounds);
            watch(control, ward, memory)
        }
        Err(failure) => wire::send(control, &Report::Failed(failure), &[]),
    }
}

/// What runs, as far as the warden has a hold of it.
struct Ward {
    /// The program, or the first process of its namespace.
    process: Pid,
    handle: OwnedFd,
    /// What bounds memory and processes, as far as that is known.
    bounds: Option<Bounds>,
    /// Where the first process of a namespace says how the program ended.
    steps: Option<OwnedFd>,
    /// Where the walker of a plan says what has changed, if it is not in a namespace.
    walk: Option<OwnedFd>,
    listener: Option<OwnedFd>,
    notices: Option<OwnedFd>,
    /// Folders in which the program may change modes and the like, when it has to ask.
    writable: Vec<PathBuf>,
}

fn start(order: &Order, files: Files) -> Result<Ward, Failure> {
    if order.job.policy.level == Level::Full {
        start_in_namespaces(order, files)
    } else {
        start_directly(order, &files)
    }
}

fn start_in_namespaces(order: &Order, files: Files) -> Result<Ward, Failure> {
    namespaces::enter(order)?;
    let (ours, theirs) = steps().or_fail(Stage::Processes, "")?;
    let process = match fork().or_fail(Stage::Processes, "")? {
        Fork::Parent(pid) => pid,
        Fork::Child => {
            drop(ours);
            exit_now(init::main(order, files, &theirs));
        }
    };
    drop((theirs, files));
    let handle = open_handle(process)?;
    let (writable, steps, walk, listener, notices) = (Vec::new(), None, None, None, None);
    let mut ward = Ward { process, handle, bounds: None, steps, walk, listener, notices, writable };
    loop {
        match wire::receive::<Step>(&ours).or_fail(Stage::Processes, "")? {
            Some((Step::Bounded(bounds), _)) => ward.bounds = Some(bounds),
            Some((Step::Confined { has_listener, has_notices }, files)) => {
                let mut files = files.into_iter();
                ward.listener = has_listener.then(|| files.next()).flatten();
                ward.notices = has_notices.then(|| files.next()).flatten();
            }
            Some((Step::Started, _)) => break,
            Some((Step::Failed(failure), _)) => return Err(failure),
            Some((Step::Walks | Step::Changed(_) | Step::Ended { .. }, _)) | None => {
                return Err(io::Error::from_raw_os_error(libc::ECHILD))
                    .or_fail(Stage::Processes, "");
            }
        }
    }
    ward.steps = Some(ours);
    Ok(ward)
}

fn start_directly(order: &Order, files: &Files) -> Result<Ward, Failure> {
    let own = Some(getpid());
    set_child_subreaper(own).or_fail(Stage::Processes, "subreaper")?;
    let confined = order.job.policy.level == Level::Landlock;
    let launched = launch(order, files, |warden| {
        identity::end_first();
        let bounds = Bounds::join(order, warden)?;
        if !confined {
            return Ok(bounds);
        }
        identity::give_up_rights(order.owner)?;
        rules::restrict(order, files)?;
        let notices = filter::install(&order.job.policy, bounds)?;
        init::hand_over(warden, None, notices.as_ref().map(AsFd::as_fd))?;
        Ok(bounds)
    })?;
    let Launched { process, bounds, files, walk } = launched;
    let handle = open_handle(process)?;
    let notices = files.into_iter().next();
    if confined {
        // So that what it does for the program the program could do.
        identity::follow_program(order.owner)?;
    }
    let writable = order.job.policy.reachable(Access::Write).map(Path::to_owned).collect();
    Ok(Ward { process, handle, bounds, steps: None, walk, listener: None, notices, writable })
}

fn open_handle(process: Pid) -> Result<OwnedFd, Failure> {
    pidfd_open(process, PidfdFlags::empty()).or_fail(Stage::Processes, "handle")
}

impl Ward {
    fn ask_to_end(&self) {
        if self.steps.is_some() {
            let _gone = pidfd_send_signal(&self.handle, Signal::TERM);
        } else {
            tree::signal(Signal::TERM);
        }
    }

    fn kill(&self) {
        let _gone = pidfd_send_signal(&self.handle, Signal::KILL);
        if self.steps.is_none() {
            tree::kill();
        }
    }

    /// How the program ended, and what had changed; to be asked once its process has ended.
    fn status(&self) -> (i32, Option<PathBuf>) {
        if let Some(steps) = &self.steps {
            // Killed from outside, the first process could not say anything any more.
            return match wire::receive::<Step>(steps) {
                Ok(Some((Step::Ended { status, changed }, _))) => (status, changed),
                _ => (libc::SIGKILL, None),
            };
        }
        let status = match waitpid(Some(self.process), WaitOptions::empty()) {
            Ok(Some((_, status))) => status.as_raw(),
            _ => libc::SIGKILL,
        };
        (status, changed(self.walk.as_ref()))
    }
}

/// Waits for the end of the program, for requests of the caller and for calls to refuse, and looks at the memory of
/// the tree.
fn watch(control: &OwnedFd, mut ward: Ward, mut memory: Option<MemoryMeter>) -> io::Result<()> {
    let mut refused: Vec<i64> = Vec::new();
    let mut limits: Vec<Limit> = Vec::new();
    let mut deadline: Option<Instant> = None;
    ward.listener = None;
    loop {
        let mut polled =
            vec![PollFd::new(control, PollFlags::IN), PollFd::new(&ward.handle, PollFlags::IN)];
        polled.extend(ward.notices.iter().map(|it| PollFd::new(it, PollFlags::IN)));
        let due = memory.as_ref().map(MemoryMeter::due);
        wait_until(&mut polled, deadline.into_iter().chain(due).min())?;
        let [asked, ended, called] =
            [0, 1, 2].map(|index| polled.get(index).map_or(PollFlags::empty(), PollFd::revents));
        if ended.contains(PollFlags::IN) {
            break;
        }
        if called.contains(PollFlags::IN)
            && let Some(notices) = &ward.notices
            && let Ok(Some(number)) = answer_next_call(notices, &ward.writable)
            && refused.len() < MAX_REFUSED
            && !refused.contains(&number)
        {
            refused.push(number);
        } else if called.intersects(PollFlags::HUP | PollFlags::ERR) {
            ward.notices = None;
        }
        if !asked.is_empty() {
            match request(control) {
                Some(STOP) => {
                    ward.ask_to_end();
                    deadline.get_or_insert_with(|| Instant::now() + GRACE);
                }
                // Anything else, and most of all silence, is a reason to end at once.
                _ => ward.kill(),
            }
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            ward.kill();
        }
        if memory.as_mut().is_some_and(MemoryMeter::is_over) {
            limits.push(Limit::Memory);
            memory = None;
            ward.kill();
        }
    }
    let (status, changed) = ward.status();
    if ward.steps.is_none() {
        tree::kill();
    }
    wire::send(control, &Report::Ended { status, refused, changed, limits }, &[])
}

fn request(control: impl AsFd) -> Option<u8> {
    let mut byte = [0];
    matches!(rustix::io::read(control, &mut byte), Ok(1))
        .then_some(byte[0])
        .filter(|it| *it != KILL)
}

fn wait_until(polled: &mut [PollFd<'_>], deadline: Option<Instant>) -> io::Result<()> {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    let left = left.map(|left| Timespec::try_from(left).unwrap_or_default());
    match poll(polled, left.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
