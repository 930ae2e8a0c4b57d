//! Servers that are programs: started, talked to line by line, and ended.
//!
//! The program is the person's own, so it is not confined; it is owned all the same. Its whole tree ends when the
//! connection does, and when we are killed. It is first told by the end of its input, then asked, then killed.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use metier_sandbox::{
    Cancel, Child, Command, Ended, Job, Limits, Policy, Program, SpawnError, Stdio,
};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::time::timeout;

use super::lines::Lines;
use super::text::excerpt;

/// How much is kept of what a program complains about, in bytes.
const MAX_SAID: usize = 4 << 10;
/// How long a program is kept, unless it is told to end.
const FOREVER: Duration = Duration::from_secs(366 * 24 * 60 * 60);
/// How long a program has to leave once its input has ended.
const TO_LEAVE: Duration = Duration::from_secs(2);
/// How long a tree that was told to end is waited for: it is asked for two seconds and fought for five.
const TO_END: Duration = Duration::from_secs(8);
/// How long the end of a program is waited for after the end of its output.
const TO_TELL: Duration = Duration::from_millis(500);

/// What a server of a person may use: nothing is saved here, but a tree without any bound could take the machine.
const LIMITS: Limits = Limits {
    wall: Duration::MAX,
    cpu_seconds: 366 * 24 * 60 * 60,
    memory: 64 << 30,
    processes: 16 << 10,
    file_bytes: 1 << 40,
    open_files: 64 << 10,
    temporary_bytes: 1 << 40,
    disk_bytes: 1 << 40,
    disk_left: 0,
};

/// A program that runs. Dropped, it is told to end.
#[derive(Debug)]
pub(super) struct Running {
    notes: Arc<Notes>,
    /// Closed when all that it complained about has been heard.
    heard: watch::Receiver<()>,
    fate: watch::Receiver<Fate>,
    /// Tells the program to end.
    leave: Cancel,
}

/// What became of a program.
#[derive(Debug)]
enum Fate {
    Runs,
    /// It ended, in a way that may not be known.
    Ended(Option<Ended>),
}

impl Drop for Running {
    fn drop(&mut self) {
        self.leave.cancel();
    }
}

/// What is remembered of what a program wrote, for messages.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// The end of its standard error.
    said: Mutex<VecDeque<u8>>,
    /// Why it is not listened to any more, or the first thing it said that is no message.
    nonsense: Mutex<Option<String>>,
}

/// Starts a program; gives the way to talk to it.
pub(super) async fn start(
    arguments: &[String],
    variables: &[(String, String)],
    directory: &Path,
) -> Result<(Running, Lines), SpawnError> {
    let pipes = Pipes::new().map_err(SpawnError::Helper)?;
    let job = job(arguments, variables, directory);
    let leave = Cancel::new().map_err(SpawnError::Helper)?;
    let Pipes { stdio, input, output, error } = pipes;
    let starting = move || metier_sandbox::spawn(&job, &stdio);
    let started = tokio::task::spawn_blocking(starting).await;
    let child = started.map_err(|error| SpawnError::Helper(io::Error::other(error)))??;

    let notes = Arc::new(Notes::default());
    let (listens, heard) = watch::channel(());
    tokio::spawn(listen(error, Arc::clone(&notes), listens));
    let (tell, fate) = watch::channel(Fate::Runs);
    let told = leave.clone();
    // A thread of its own: it waits for as long as the program runs.
    let keeping = move || tell.send_replace(Fate::Ended(keep(child, &told)));
    thread::Builder::new().spawn(keeping).map_err(SpawnError::Helper)?;
    let lines = Lines::new(output, input, Arc::clone(&notes));
    Ok((Running { notes, heard, fate, leave }, lines))
}

impl Running {
    /// What it said that could explain something.
    pub(super) fn said(&self) -> String {
        let nonsense = self.notes.nonsense();
        let said = self.notes.said.lock().unwrap_or_else(PoisonError::into_inner);
        let (front, back) = said.as_slices();
        let said = String::from_utf8_lossy(&[front, back].concat()).into_owned();
        match nonsense {
            Some(nonsense) => format!("{said}\n{nonsense}"),
            None => said,
        }
    }

    /// How it ended, in words; its output has.
    pub(super) async fn how(&self) -> String {
        let (mut fate, mut heard) = (self.fate.clone(), self.heard.clone());
        let waited = timeout(TO_TELL, fate.wait_for(|fate| !matches!(fate, Fate::Runs))).await;
        let how = match waited.ok().and_then(Result::ok).as_deref() {
            Some(Fate::Ended(Some(Ended { code: Some(code), .. }))) => {
                format!("ended with exit code {code}")
            }
            Some(Fate::Ended(Some(Ended { signal: Some(signal), .. }))) => {
                format!("was ended by signal {signal}")
            }
            _ => "closed its output".to_owned(),
        };
        // Something that it started may still hold its standard error.
        let _open = timeout(TO_TELL, heard.changed()).await;
        how
    }

    /// Ends it, and waits for that.
    pub(super) async fn end(self) {
        let mut fate = self.fate.clone();
        drop(self);
        // Whoever keeps it says that it has ended, whatever happens.
        let _ended = fate.wait_for(|fate| !matches!(fate, Fate::Runs)).await;
    }
}

impl Notes {
    /// Remembers what is no message, if it is the first.
    pub(super) fn is_nonsense(&self, line: &[u8]) {
        let line = excerpt(&String::from_utf8_lossy(line));
        let mut nonsense = self.nonsense.lock().unwrap_or_else(PoisonError::into_inner);
        nonsense.get_or_insert_with(|| format!("no message of the protocol: {line}"));
    }

    /// Remembers why it is not listened to any more.
    pub(super) fn is_too_much(&self, what: &str) {
        let mut nonsense = self.nonsense.lock().unwrap_or_else(PoisonError::into_inner);
        *nonsense = Some(what.to_owned());
    }

    fn nonsense(&self) -> Option<String> {
        self.nonsense.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn job(arguments: &[String], variables: &[(String, String)], directory: &Path) -> Job {
    let pair = |(name, value): &(String, String)| (OsString::from(name), OsString::from(value));
    Job {
        program: Program {
            command: Command::Arguments(arguments.iter().map(OsString::from).collect()),
            environment: variables.iter().map(pair).collect(),
            directory: directory.to_owned(),
        },
        policy: Policy::unconfined(),
        limits: LIMITS,
    }
}

/// The files of a program, and our ends of them.
struct Pipes {
    stdio: Stdio,
    input: pipe::Sender,
    output: pipe::Receiver,
    error: pipe::Receiver,
}

impl Pipes {
    fn new() -> io::Result<Self> {
        let (their_input, input) = io::pipe()?;
        let (output, their_output) = io::pipe()?;
        let (error, their_error) = io::pipe()?;
        Ok(Self {
            stdio: Stdio {
                input: their_input.into(),
                output: their_output.into(),
                error: their_error.into(),
                terminal: false,
            },
            input: pipe::Sender::from_owned_fd(OwnedFd::from(input))?,
            output: pipe::Receiver::from_owned_fd(OwnedFd::from(output))?,
            error: pipe::Receiver::from_owned_fd(OwnedFd::from(error))?,
        })
    }
}

/// Keeps a program until it ends or is told to; says how it ended.
fn keep(mut child: Child, leave: &Cancel) -> Option<Ended> {
    if let Some(ended) = child.wait_within(FOREVER, Some(leave)).ok()? {
        return Some(ended);
    }
    if let Some(ended) = child.wait_within(TO_LEAVE, None).ok()? {
        return Some(ended);
    }
    child.stop();
    child.wait_within(TO_END, None).ok()?
}

/// Remembers the end of what a program complains about.
async fn listen(mut error: pipe::Receiver, notes: Arc<Notes>, _listens: watch::Sender<()>) {
    let mut piece = [0; 1024];
    while let Ok(count @ 1..) = error.read(&mut piece).await {
        let mut said = notes.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.extend(&piece[..count]);
        let excess = said.len().saturating_sub(MAX_SAID);
        said.drain(..excess);
    }
}
