//! The keeper: waits for requests of the caller and starts a warden for each.
//!
//! It reads nothing but sockets to pass on. When the caller is gone there is nobody left to ask, and it
//! ends; wardens see that for themselves and need neither the keeper nor each other. A warden that
//! is killed leaves its tree to the keeper, which ends it.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, chdir, getpid, pidfd_open, pidfd_send_signal,
    set_child_subreaper, setsid, waitpid,
};

use super::sys::{Fork, close_other_files, exit_now, fork, remember_children};
use super::{OrFail, tree, warden};
use crate::wire::{self, Report, Stage};

/// How long wardens have to end their trees once the caller is gone; then they are ended themselves.
const LAST_ORDERS: Duration = Duration::from_secs(8);
/// How long what they left is fought after that.
const LAST_FIGHT: Duration = Duration::from_secs(5);
/// The time between two attempts to end what a warden left.
const AGAIN: Duration = Duration::from_millis(1);

/// The helper's own `main`.
pub(super) fn main() -> i32 {
    match serve() {
        Ok(()) => 0,
        Err(_caller_gone) => 1,
    }
}

fn serve() -> io::Result<()> {
    close_other_files();
    let requests = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    // Ctrl-C is for the caller, who decides what becomes of programs.
    let _leads_already = setsid();
    // The caller's folder can be removed or unmounted.
    chdir("/")?;
    // The number of a warden must be its own for as long as it is known here.
    remember_children();
    // Whatever loses its warden comes here.
    set_child_subreaper(Some(getpid()))?;
    let mut wardens = Wardens::default();
    loop {
        if wardens.wait(Some(&requests), None)? {
            let Some(control) = wire::take(&requests)? else { break };
            match fork().or_fail(Stage::Limits, "another process") {
                Ok(Fork::Child) => {
                    drop((requests, wardens));
                    exit_now(warden::main(&control));
                }
                Ok(Fork::Parent(process)) => wardens.add(process)?,
                Err(failure) => {
                    let _caller_gone = wire::send(&control, &Report::Failed(failure), &[]);
                }
            }
        }
        wardens.clear_up();
    }
    wardens.see_out()
}

/// The wardens that were started and have not ended.
#[derive(Default)]
struct Wardens {
    alive: Vec<(Pid, OwnedFd)>,
    /// Whether one has ended, and may have left something.
    has_left: bool,
}

impl Wardens {
    fn add(&mut self, process: Pid) -> io::Result<()> {
        let handle = pidfd_open(process, PidfdFlags::empty())?;
        self.alive.push((process, handle));
        Ok(())
    }

    /// Waits for a request, for the end of a warden, or until something has to be tried again. Says whether there is a
    /// request.
    fn wait(&mut self, requests: Option<&OwnedFd>, until: Option<Instant>) -> io::Result<bool> {
        let mut polled: Vec<PollFd<'_>> =
            self.alive.iter().map(|(_, handle)| PollFd::new(handle, PollFlags::IN)).collect();
        polled.extend(requests.map(|requests| PollFd::new(requests, PollFlags::IN)));
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = if self.has_left { Some(AGAIN) } else { left };
        let left = left.map(|left| Timespec::try_from(left).unwrap_or_default());
        match poll(&mut polled, left.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready: Vec<bool> = polled.iter().map(|it| !it.revents().is_empty()).collect();
        let count = self.alive.len();
        let mut has_ended = ready.iter().copied();
        let ended: Vec<(Pid, OwnedFd)> =
            self.alive.extract_if(.., |_| has_ended.next().unwrap_or_default()).collect();
        for (warden, _) in ended {
            // One that ended by itself has ended its tree, unless that took too long.
            let status = waitpid(Some(warden), WaitOptions::NOHANG);
            let by_itself = matches!(status, Ok(Some((_, status))) if status.exited());
            self.has_left |= !by_itself || tree::has_orphans(&self.processes());
        }
        Ok(ready.get(count).copied().unwrap_or_default())
    }

    fn processes(&self) -> Vec<Pid> {
        self.alive.iter().map(|(process, _)| *process).collect()
    }

    /// Ends what wardens left that have ended. Mostly that is nothing.
    fn clear_up(&mut self) {
        if self.has_left {
            self.has_left = !tree::kill_once(&self.processes());
        }
    }

    /// Waits for the last wardens, which have seen that the caller is gone.
    fn see_out(mut self) -> io::Result<()> {
        let deadline = Instant::now() + LAST_ORDERS;
        while !self.alive.is_empty() && Instant::now() < deadline {
            self.wait(None, Some(deadline))?;
            self.clear_up();
        }
        for (_, warden) in self.alive.drain(..) {
            let _gone = pidfd_send_signal(&warden, Signal::KILL);
            self.has_left = true;
        }
        let deadline = Instant::now() + LAST_FIGHT;
        while self.has_left && Instant::now() < deadline {
            self.clear_up();
            std::thread::sleep(AGAIN);
        }
        Ok(())
    }
}
