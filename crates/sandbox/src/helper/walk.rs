//! Walking a plan: its programs are started from here, without a shell.
//!
//! The walker is the process that would have become the program, confined and bounded like it. It
//! starts the programs of a step, waits for all of them, and goes on by how the last of them ended, as a
//! shell does. What was pinned is looked at before a step and again right before each program; once something has
//! changed the walker ends, and whatever still runs ends with it. Programs belong to the walker's group, so
//! that a terminal's keys reach them all; it only notes what it was sent, and goes no further.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    DumpableBehavior, Pid, WaitOptions, WaitStatus, getpid, getppid, set_dumpable_behavior, wait,
};
use rustix::stdio::stderr;

use super::launch::Step;
use super::prospect::{Ends, Fault, NOT_STARTED, Prospect};
use super::sys::{self, Fork, exit_now, fork};
use super::{OrFail, identity};
use crate::program::Program;
use crate::walk::{Joint, Walk};
use crate::wire::{self, Failure, Stage};

/// What programs end with that a signal ended, less its number.
const SIGNALS: i32 = 128;
/// Longest path that the kernel takes, with its end; a pipe takes as much at once.
const MAX_PATH: usize = 4096;

/// Walks a plan and ends with it; gives the reason if it cannot be begun.
pub(super) fn walk(
    program: &Program,
    walk: &Walk,
    parent: BorrowedFd<'_>,
) -> Result<Infallible, Failure> {
    let steps = prepare(program, walk)?;
    let refusals =
        pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).or_fail(Stage::Program, "")?;
    // What this process says is believed, so nobody who has the same user may change it.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).or_fail(Stage::Program, "dumpable")?;
    sys::note_signals();
    wire::send(parent, &Step::Walks, &[]).or_fail(Stage::Program, "warden")?;
    let walker = Walker { parent, own: getpid(), refusals };
    exit_now(walker.walk(&steps))
}

/// A step, as it can be taken.
struct Ready<'a> {
    joint: Joint,
    programs: Vec<Prospect<'a>>,
}

/// Refuses what cannot be a plan, before anything of it runs.
fn prepare<'a>(program: &Program, walk: &'a Walk) -> Result<Vec<Ready<'a>>, Failure> {
    let invalid = || io::Error::from_raw_os_error(libc::EINVAL);
    let steps = walk.steps.iter().map(|step| {
        let programs = step.programs.iter().map(|walked| {
            Prospect::new(program, walked).or_fail(Stage::Program, walked.executable.display())
        });
        Ok(Ready { joint: step.joint, programs: programs.collect::<Result<_, _>>()? })
    });
    let steps: Vec<_> = steps.collect::<Result<_, _>>()?;
    if steps.is_empty() { Err(invalid()).or_fail(Stage::Program, "") } else { Ok(steps) }
}

struct Walker<'a> {
    /// Is told what has changed.
    parent: BorrowedFd<'a>,
    own: Pid,
    /// Where a program on its way says what it found changed.
    refusals: (OwnedFd, OwnedFd),
}

impl Walker<'_> {
    /// Takes the steps; gives the status of the last one.
    fn walk(&self, steps: &[Ready<'_>]) -> i32 {
        let mut status = 0;
        for (index, Ready { joint, programs }) in steps.iter().enumerate() {
            if !joint.fits(status) {
                continue;
            }
            if let Some(path) = programs.iter().find_map(Prospect::changed) {
                self.refuse(&path);
            }
            let is_last = index + 1 == steps.len();
            status = match &programs[..] {
                [] => 0,
                [only] if is_last && only.walked.redirections.is_empty() => {
                    return self.become_last(only);
                }
                programs => self.run(programs),
            };
            match sys::noted() {
                Some(libc::SIGTERM) => return status,
                // A key of the terminal, which was pressed for all of the plan.
                Some(signal) if status == SIGNALS + signal => sys::end_by(signal),
                // What the programs made of it is their matter.
                _ => sys::forget_noted(),
            }
        }
        status
    }

    /// Runs the programs of a step; gives the status of the last one.
    fn run(&self, programs: &[Prospect<'_>]) -> i32 {
        let mut running: Vec<Pid> = Vec::new();
        let mut last = Err(NOT_STARTED);
        let mut input = None;
        for (index, program) in programs.iter().enumerate() {
            if let Some(signal) = sys::noted() {
                last = Err(SIGNALS + signal);
                break;
            }
            let is_last = index + 1 == programs.len();
            let mut ends = Ends { input: input.take(), output: None };
            let pipe = (!is_last).then(|| pipe_with(PipeFlags::CLOEXEC)).transpose();
            let started = pipe.map_err(io::Error::from).and_then(|pipe| {
                (input, ends.output) = pipe.unzip();
                self.start(program, &ends)
            });
            match started {
                Ok(process) => {
                    running.push(process);
                    last = Ok(process);
                }
                Err(error) => {
                    let fault = Fault::not_started(program.walked, &error);
                    last = Err(self.meet(&fault));
                }
            }
        }
        drop(input);
        self.wait_for(running, last)
    }

    /// Waits for the programs of a step.
    fn wait_for(&self, mut running: Vec<Pid>, last: Result<Pid, i32>) -> i32 {
        let mut ended = None;
        while !running.is_empty() {
            match wait(WaitOptions::empty()) {
                Ok(Some((process, how))) => {
                    running.retain(|it| *it != process);
                    self.heed_refusals();
                    ended = ended.or((Ok(process) == last).then_some(how));
                }
                Ok(None) | Err(Errno::INTR) => {}
                Err(_nobody) => break,
            }
        }
        ended.map(status_of).or(last.err()).unwrap_or(NOT_STARTED)
    }

    fn start(&self, program: &Prospect<'_>, ends: &Ends) -> io::Result<Pid> {
        sys::hold_signals();
        let process = match fork() {
            Ok(Fork::Child) => match self.begin(program, ends) {
                Fault::Changed(path) => {
                    let told = [path.as_os_str().as_bytes(), b"\0"].concat();
                    let _told = rustix::io::write(&self.refusals.1, &told);
                    exit_now(NOT_STARTED)
                }
                complaint => exit_now(self.meet(&complaint)),
            },
            Ok(Fork::Parent(process)) => Ok(process),
            Err(error) => Err(error),
        };
        sys::release_signals();
        process
    }

    /// What the child does: it becomes the program, or gives the reason why not.
    fn begin(&self, program: &Prospect<'_>, ends: &Ends) -> Fault {
        sys::reset_signals();
        if let Err(error) = identity::follow_parent() {
            return Fault::not_started(program.walked, &error);
        }
        if getppid() != Some(self.own) {
            // Nobody would ever end it.
            exit_now(NOT_STARTED);
        }
        program.take_over(ends)
    }

    /// Becomes the only program of the last step, as a shell does: nothing is left to do after it.
    fn become_last(&self, program: &Prospect<'_>) -> i32 {
        sys::hold_signals();
        if let Some(signal) = sys::noted() {
            return SIGNALS + signal;
        }
        sys::reset_signals();
        self.meet(&program.take_over(&Ends::default()))
    }

    /// Says on standard error why a program was not started; gives what counts as its status.
    fn meet(&self, fault: &Fault) -> i32 {
        match fault {
            Fault::Changed(path) => self.refuse(path),
            Fault::Complaint { path, what, error, status } => {
                say(path, &format!("{what}: {}", io::Error::from(*error)));
                *status
            }
        }
    }

    /// Ends everything if a program on its way found something changed.
    fn heed_refusals(&self) {
        let mut path = vec![0; MAX_PATH];
        if let Ok(1..) = rustix::io::read(&self.refusals.0, &mut path) {
            let end = path.iter().position(|byte| *byte == 0);
            path.truncate(end.unwrap_or(MAX_PATH));
            self.refuse(&PathBuf::from(OsString::from_vec(path)));
        }
    }

    /// Says what has changed and ends; whoever waits for this process ends the rest.
    fn refuse(&self, path: &Path) -> ! {
        say(path, "changed since it was approved");
        let _gone = wire::send(self.parent, &Step::Changed(path.to_owned()), &[]);
        exit_now(NOT_STARTED)
    }
}

fn say(path: &Path, what: &str) {
    let line = format!("metier: `{}` {what}\n", path.to_string_lossy().escape_debug());
    let _nobody_listens = rustix::io::write(stderr(), line.as_bytes());
}

fn status_of(how: WaitStatus) -> i32 {
    let signal = how.terminating_signal().map(|signal| SIGNALS + signal);
    how.exit_status().or(signal).unwrap_or(NOT_STARTED)
}
