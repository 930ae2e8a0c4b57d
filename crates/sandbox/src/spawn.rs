//! Starting a program under a policy.

use std::fmt;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, geteuid, pidfd_send_signal};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities};
use thiserror::Error;

use crate::cancel::Cancel;
use crate::cgroup::Group;
use crate::helper::{self, name_of};
use crate::keeper::start_warden;
use crate::limits::{Limit, UNGROUPED};
use crate::policy::{ATTRIBUTES, Level, Network};
use crate::program::Job;
use crate::wire::{self, Failure, KILL, Order, Report, STOP, Stage};

/// The user and group that programs have when the caller is root: those of nobody.
const NOBODY: (u32, u32) = (65534, 65534);

/// How long a warden that was told to end everything has for it.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Standard input, output and error of a program. The files are its own from now on.
#[derive(Debug)]
pub struct Stdio {
    /// What it reads.
    pub input: OwnedFd,
    /// Where it writes.
    pub output: OwnedFd,
    /// Where it complains.
    pub error: OwnedFd,
    /// Whether they are a terminal that is to be the program's own.
    pub terminal: bool,
}

impl Stdio {
    /// Those of the caller, for a program that the person uses directly, such as an editor.
    ///
    /// # Errors
    ///
    /// When the system has no room for more open files.
    pub fn inherited() -> io::Result<Self> {
        Ok(Self {
            input: io::stdin().as_fd().try_clone_to_owned()?,
            output: io::stdout().as_fd().try_clone_to_owned()?,
            error: io::stderr().as_fd().try_clone_to_owned()?,
            terminal: false,
        })
    }
}

/// Why a program did not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The program that uses this crate cannot become the helper.
    #[error("this program has no sandbox helper; call `metier_sandbox::helper()` first in `main`")]
    NoHelper,
    /// The helper could not be started.
    #[error("the sandbox helper cannot be started: {0}")]
    Helper(#[source] io::Error),
    /// The helper went away without a word, or speaks another language.
    #[error("the sandbox helper failed: {0}")]
    Lost(#[source] io::Error),
    /// It was cancelled, or its time was up, before it had started.
    #[error("the program was ended before it had started")]
    Impatient,
    /// The system does not offer what the policy's level needs.
    #[error("this system does not offer {0}")]
    Unavailable(Missing),
    /// Something that was granted is not there, or cannot be.
    #[error("the sandbox cannot be set up: {detail}: {source}")]
    Setup {
        /// What was being done.
        detail: String,
        /// Why it failed.
        source: io::Error,
    },
    /// The directory to start in cannot be entered.
    #[error("the directory `{path}` cannot be entered: {source}")]
    Directory {
        /// The directory.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// The program itself cannot be started.
    #[error("`{name}` cannot be started: {source}")]
    Program {
        /// The program.
        name: String,
        /// Why not.
        source: io::Error,
    },
}

/// What a system lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The level that needs it.
    pub level: Level,
    /// What it is.
    pub what: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, which level `{}` needs", self.what, self.level)
    }
}

/// The owner that a program's writable folders must have, when the caller is root and the program
/// therefore runs as somebody else.
pub fn unprivileged_owner() -> Option<(u32, u32)> {
    geteuid().is_root().then_some(NOBODY)
}

/// Whether the caller is root and yet may not mount, as in most containers. Its programs run as
/// somebody else, who has to pass all folders above those that were granted.
pub fn is_root_without_mounts() -> bool {
    let may_mount = |sets: CapabilitySets| sets.effective.contains(CapabilitySet::SYS_ADMIN);
    geteuid().is_root() && !capabilities(None).is_ok_and(may_mount)
}

/// A program that runs, with everything it started.
///
/// Dropped, it ends the whole tree. The thread that made it need not stay.
#[derive(Debug)]
pub struct Child {
    control: OwnedFd,
    /// A handle of the warden, once it is there.
    warden: Option<OwnedFd>,
    group: Option<Group>,
    /// What is not kept from the program.
    not_promised: Vec<&'static str>,
    listener: Option<TcpListener>,
    ended: Option<Ended>,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Limits that it met.
    pub limits: Vec<Limit>,
    /// System calls that were refused, by name.
    pub refused: Vec<&'static str>,
    /// What had changed since a plan was made; nothing more of it was run then.
    pub changed: Option<PathBuf>,
}

/// Starts a program. This blocks until it runs, which takes some milliseconds.
///
/// # Errors
///
/// When the system lacks what the policy needs, or the program cannot be started; it has not run then.
pub fn spawn(job: &Job, stdio: &Stdio) -> Result<Child, SpawnError> {
    spawn_within(job, stdio, None)
}

/// How long is waited for a program to start.
#[derive(Clone, Copy)]
pub(crate) struct Patience<'a> {
    pub(crate) cancel: &'a Cancel,
    pub(crate) deadline: Instant,
}

impl Patience<'_> {
    /// Waits for the warden to say something.
    fn wait_for(self, control: &OwnedFd) -> Result<(), SpawnError> {
        let has_spoken = readable(control, Some(self.cancel), self.deadline);
        if has_spoken { Ok(()) } else { Err(SpawnError::Impatient) }
    }
}

/// Waits until there is something to read, or nobody to write it; not when cancelled or too late.
fn readable(control: &OwnedFd, cancel: Option<&Cancel>, deadline: Instant) -> bool {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).unwrap_or_default();
        let mut polled = vec![PollFd::new(control, PollFlags::IN)];
        let cancel = cancel.map(AsFd::as_fd);
        polled.extend(cancel.iter().map(|cancel| PollFd::new(cancel, PollFlags::IN)));
        match poll(&mut polled, Some(&left)) {
            Err(rustix::io::Errno::INTR) => {}
            result => return result.is_ok() && !polled[0].revents().is_empty(),
        }
    }
}

/// Starts a program, unless that takes too long. Setting up can wait for others: for a file system that
/// does not answer, say.
pub(crate) fn spawn_within(
    job: &Job,
    stdio: &Stdio,
    patience: Option<Patience<'_>>,
) -> Result<Child, SpawnError> {
    if !helper::is_called() {
        return Err(SpawnError::NoHelper);
    }
    let policy = &job.policy;
    let control = start_warden().map_err(SpawnError::Helper)?;
    let group = Group::new(&job.limits);
    let not_promised = policy.level.lacks().to_vec();
    let mut child =
        Child { control, warden: None, group, not_promised, listener: None, ended: None };
    let order = Order {
        job: job.clone(),
        group: child.group.as_ref().map(Group::doors).unwrap_or_default(),
        terminal: stdio.terminal,
        owner: unprivileged_owner().filter(|_| policy.level != Level::None),
    };
    let files = [&stdio.input, &stdio.output, &stdio.error].map(AsFd::as_fd);
    wire::send(&child.control, &order, &files).map_err(SpawnError::Lost)?;
    let mut report = wire::receive::<Report>(&child.control).map_err(SpawnError::Lost)?;
    if let Some((Report::Here, files)) = report {
        child.warden = files.into_iter().next();
        if let Some(Err(impatient)) = patience.map(|it| it.wait_for(&child.control)) {
            child.give_up();
            return Err(impatient);
        }
        report = wire::receive::<Report>(&child.control).map_err(SpawnError::Lost)?;
    }
    match report {
        Some((Report::Started { has_notices, is_grouped }, files)) => {
            child.not_promised.extend((!is_grouped).then_some(UNGROUPED));
            if policy.level == Level::Landlock && !has_notices {
                child.not_promised.push(ATTRIBUTES);
            }
            let listener = files.into_iter().next().map(TcpListener::from);
            child.listener = listener.filter(|_| policy.network == Network::Proxy);
            Ok(child)
        }
        Some((Report::Failed(failure), _)) => Err(explain(failure, policy.level)),
        Some((Report::Here | Report::Ended { .. }, _)) | None => {
            Err(SpawnError::Lost(io::Error::from(io::ErrorKind::UnexpectedEof)))
        }
    }
}

/// Tells what the system lacks from what is wrong with the order.
fn explain(failure: Failure, level: Level) -> SpawnError {
    let Failure { stage, errno, detail } = failure;
    let source = io::Error::from_raw_os_error(errno);
    let missing = |what: String| SpawnError::Unavailable(Missing { level, what });
    match stage {
        Stage::Namespaces if errno == libc::ENOSPC => {
            missing("more namespaces for this user (`sysctl user.max_user_namespaces`)".to_owned())
        }
        Stage::Namespaces => missing(format!("namespaces for this user ({source})")),
        Stage::Processes => missing(format!("a process namespace ({source})")),
        Stage::Landlock => missing(format!("Landlock with scopes ({detail})")),
        Stage::Filter => missing(format!("a filter of system calls ({source})")),
        Stage::Mounts if errno == libc::EPERM => {
            missing(format!("mounts for this user ({detail}: {source})"))
        }
        Stage::Mounts | Stage::Network | Stage::Identity | Stage::Limits => {
            SpawnError::Setup { detail, source }
        }
        Stage::Directory => SpawnError::Directory { path: detail, source },
        Stage::Program => SpawnError::Program { name: detail, source },
    }
}

impl Child {
    /// The socket that the program reaches as its proxy; given once.
    pub fn take_listener(&mut self) -> Option<TcpListener> {
        self.listener.take()
    }

    /// What is not kept from the program, in words.
    pub fn not_promised(&self) -> &[&'static str] {
        &self.not_promised
    }

    /// Asks the tree to end, and ends it two seconds later.
    pub fn stop(&self) {
        self.tell(STOP);
    }

    /// Ends the tree at once.
    pub fn kill(&self) {
        self.tell(KILL);
    }

    /// Ends the warden and leaves the tree to whoever ends it then.
    pub(crate) fn lose_warden(&self) {
        let _gone = self.warden.as_ref().map(|warden| pidfd_send_signal(warden, Signal::KILL));
    }

    /// Ends the warden itself, with what dies with it, when it does not do what it was told.
    pub(crate) fn give_up(&self) {
        self.lose_warden();
        if let Some(group) = &self.group {
            group.kill();
        }
    }

    fn tell(&self, request: u8) {
        // A warden that is gone has ended everything already.
        let _gone = rustix::io::write(&self.control, &[request]);
    }

    /// Waits for the end. This blocks: in asynchronous code give it a thread.
    ///
    /// # Errors
    ///
    /// When the warden went away without saying how it went.
    pub fn wait(&mut self) -> io::Result<Ended> {
        if let Some(ended) = &self.ended {
            return Ok(ended.clone());
        }
        let report = wire::receive::<Report>(&self.control).ok().flatten();
        let Some((Report::Ended { status, refused, changed, limits }, _)) = report else {
            // Whoever should have ended the tree is gone.
            self.give_up();
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let mut ended = Ended { changed, ..ended(status, &refused, self.group.take()) };
        ended.limits.extend(limits);
        self.ended = Some(ended.clone());
        Ok(ended)
    }

    /// Waits for the end, but only for so long, and not when cancelled.
    ///
    /// # Errors
    ///
    /// As [`Child::wait`].
    pub fn wait_within(
        &mut self,
        limit: Duration,
        cancel: Option<&Cancel>,
    ) -> io::Result<Option<Ended>> {
        let has_ended =
            self.ended.is_some() || readable(&self.control, cancel, Instant::now() + limit);
        if has_ended { self.wait().map(Some) } else { Ok(None) }
    }

    /// The file that becomes readable when the program has ended.
    pub(crate) fn end(&self) -> BorrowedFd<'_> {
        self.control.as_fd()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.kill();
            // The warden ends once its tree has; that takes milliseconds.
            let deadline = Instant::now() + LAST_WORDS;
            while readable(&self.control, None, deadline) {
                match wire::receive::<Report>(&self.control) {
                    Ok(Some((Report::Ended { .. }, _))) => return,
                    Ok(Some(_)) => {}
                    _ => break,
                }
            }
            self.give_up();
        }
    }
}

fn ended(status: i32, refused: &[i64], group: Option<Group>) -> Ended {
    let exited = status & 0x7f == 0;
    let signal = (!exited).then_some(status & 0x7f);
    let mut limits = group.map(|group| group.met()).unwrap_or_default();
    limits.extend(match signal {
        Some(libc::SIGXCPU) => Some(Limit::Cpu),
        Some(libc::SIGXFSZ) => Some(Limit::FileSize),
        _ => None,
    });
    let code = exited.then_some((status >> 8) & 0xff);
    let refused = refused.iter().map(|&number| name_of(number)).collect();
    Ended { code, signal, limits, refused, changed: None }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::policy::Policy;
    use crate::program::{Command, Program};

    /// The program of these tests has a `main` that is not ours.
    #[test]
    fn a_program_that_cannot_become_the_helper_starts_nothing() {
        let command = Command::Arguments(vec!["/bin/true".into()]);
        let program = Program { command, environment: Vec::new(), directory: "/".into() };
        let policy = Policy::unconfined();
        let job = Job { program, policy, limits: crate::Limits::default() };
        let file = || OwnedFd::from(File::open("/dev/null").unwrap());
        let stdio = Stdio { input: file(), output: file(), error: file(), terminal: false };
        let refused = spawn(&job, &stdio).map(drop);
        assert!(matches!(refused, Err(SpawnError::NoHelper)), "{refused:?}");
    }
}
