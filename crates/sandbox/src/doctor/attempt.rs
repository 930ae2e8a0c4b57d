//! One run of a script in the sandbox, as a trial needs it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};

use super::error::{AttemptFault, TrialError};
use super::trial::Place;
use crate::cancel::Cancel;
use crate::limits::Limits;
use crate::policy::{Access, Level, Network, Policy};
use crate::program::{Command, Job, Program};
use crate::run::{Observer, Outcome, Stream, run};
use crate::spawn::{SpawnError, Stdio, spawn};

/// Most that is kept of what a trial writes, in bytes.
const MAX_TEXT: usize = 64 << 10;
/// No trial takes longer.
const WALL: Duration = Duration::from_secs(10);
/// How long a program may outlive its helper.
const LOST: Duration = Duration::from_secs(3);

/// How a script is run.
#[derive(Clone, Debug)]
pub(super) struct Attempt<'a> {
    place: &'a Place,
    level: Level,
    /// Something to reach beside the folder.
    pub(super) granted: Option<(&'a Path, Access)>,
    pub(super) network: Network,
    pub(super) limits: Limits,
}

/// What a script did.
#[derive(Debug)]
pub(super) struct Tried {
    pub(super) outcome: Outcome,
    pub(super) output: String,
    pub(super) error: String,
}

impl<'a> Attempt<'a> {
    pub(super) fn new(place: &'a Place, level: Level) -> Self {
        let limits = Limits { wall: WALL, ..Limits::default() };
        Self { place, level, granted: None, network: Network::None, limits }
    }

    /// Runs a script.
    ///
    /// # Errors
    ///
    /// When it could not be started.
    pub(super) fn sh(&self, script: &str) -> Result<Tried, SpawnError> {
        let mut text = Text::default();
        let cancel = Cancel::new().map_err(SpawnError::Helper)?;
        let outcome = run(&self.job(script), b"", &mut text, &cancel)?;
        Ok(Tried {
            outcome,
            output: String::from_utf8_lossy(&text.output).into_owned(),
            error: String::from_utf8_lossy(&text.error).into_owned(),
        })
    }

    /// Starts a script, kills its helper once it has written something, and says whether a process of it is left that
    /// could write more.
    pub(super) fn lose_helper(&self, script: &str) -> Result<bool, TrialError> {
        let nothing = || File::open("/dev/null").map(OwnedFd::from);
        let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from)?;
        let stdio = Stdio { input: nothing()?, output: theirs, error: nothing()?, terminal: false };
        let child = spawn(&self.job(script), &stdio)?;
        drop(stdio);
        let started = Instant::now();
        if !is_readable(&ours, WALL) || rustix::io::read(&ours, &mut [0; 64]).unwrap_or(0) == 0 {
            return Err(TrialError::Silent);
        }
        child.lose_warden();
        let is_closed = is_readable(&ours, LOST) && started.elapsed() < WALL;
        // Whatever is left is ended with it.
        drop(child);
        Ok(!is_closed)
    }

    fn job(&self, script: &str) -> Job {
        let is_full = self.level == Level::Full;
        let folder = &self.place.folder;
        let target = if is_full { PathBuf::from("/work") } else { folder.clone() };
        let program = Program {
            command: Command::Arguments(["sh", "-c", script].map(Into::into).into()),
            environment: vec![("PATH".into(), self.place.path.clone().into())],
            directory: target.clone(),
        };
        let mut policy = Policy::deny_all(self.level).with_system().network(self.network);
        policy = policy.grant(folder, &target, Access::Write);
        if let Some((path, access)) = self.granted {
            policy = policy.grant(path, path, access);
        }
        Job { program, policy, limits: self.limits }
    }
}

/// Waits until there is something to read, or nobody left to write it.
fn is_readable(file: &OwnedFd, limit: Duration) -> bool {
    let mut polled = [PollFd::new(file, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec::try_from(limit).unwrap_or_default())).is_ok_and(|it| it > 0)
}

impl Tried {
    /// Whether the program wrote a line.
    pub(super) fn says(&self, line: &str) -> bool {
        self.output.lines().any(|it| it == line)
    }

    /// The largest number the program wrote as a line.
    pub(super) fn count(&self) -> u64 {
        self.output.lines().filter_map(|line| line.parse().ok()).max().unwrap_or_default()
    }

    /// The number of different lines that the program wrote.
    pub(super) fn distinct_lines(&self) -> u64 {
        self.output.lines().collect::<BTreeSet<&str>>().len() as u64
    }

    /// Returns what it complained about, or how it ended.
    pub(super) fn fault(&self) -> AttemptFault {
        let line = self.error.lines().find(|line| !line.trim().is_empty());
        let ended = &self.outcome.ended;
        match (line, ended.code, self.outcome.timed_out) {
            (Some(line), ..) => AttemptFault::Complaint(line.to_owned()),
            (None, _, true) => AttemptFault::TimedOut,
            (None, Some(code), _) => AttemptFault::Ended(code),
            (None, None, _) => AttemptFault::Signal(ended.signal.unwrap_or_default()),
        }
    }
}

#[derive(Default)]
struct Text {
    output: Vec<u8>,
    error: Vec<u8>,
}

impl Observer for Text {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        let text = match stream {
            Stream::Output => &mut self.output,
            Stream::Error => &mut self.error,
        };
        let room = MAX_TEXT.saturating_sub(text.len()).min(bytes.len());
        text.extend_from_slice(&bytes[..room]);
    }
}
