//! Seeing a program to its end: input in, output out, within its time.

use std::io::{self, Write};
use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Gid, OFlags, Uid, fchown, fcntl_getfl, fcntl_setfl};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::cancel::Cancel;
use crate::console::Console;
use crate::disk::DiskWatch;
use crate::limits::Limit;
use crate::policy::Level;
use crate::program::Job;
use crate::spawn::{Child, Ended, Patience, SpawnError, Stdio, spawn_within, unprivileged_owner};
use crate::terminal::{self, Size};

/// Bytes that are read at a time.
const CHUNK: usize = 64 << 10;
/// How long output is waited for after everything that could write it has been ended.
const DRAIN: Duration = Duration::from_millis(200);

/// How long a tree that was told to end is waited for: it is asked for two seconds and fought for five.
const LAST_RESORT: Duration = Duration::from_secs(8);

/// Which of the two streams something was written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// Is told of a program while it runs.
pub trait Observer {
    /// It wrote some bytes to a stream.
    fn output(&mut self, stream: Stream, bytes: &[u8]);

    /// It runs from now on.
    fn started(&mut self) {}

    /// It started, with a proxy at [`PROXY_PORT`](crate::PROXY_PORT) of its own loopback that is to be served here.
    fn proxy(&mut self, listener: TcpListener) {
        drop(listener);
    }
}

/// How a run went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// How the program ended.
    pub ended: Ended,
    /// Whether its time was up.
    pub timed_out: bool,
    /// Whether it was cancelled.
    pub cancelled: bool,
    /// How long it took.
    pub duration: Duration,
    /// What was not kept from the program, in words.
    pub not_promised: Vec<&'static str>,
}

/// Runs a program to its end, with a text as its input.
///
/// Returns when the program has ended; whatever it left running is ended with it. The page of [the crate](crate) has an
/// example.
///
/// This blocks: in asynchronous code give it a thread, such as `tokio::task::spawn_blocking` has.
///
/// # Errors
///
/// When it cannot be started.
pub fn run(
    job: &Job,
    input: &[u8],
    observer: &mut dyn Observer,
    cancel: &Cancel,
) -> Result<Outcome, SpawnError> {
    let files = pipes(input.is_empty(), owner(job)).map_err(SpawnError::Helper)?;
    see_through(job, Talk { files, source: Source::Text(input), observer }, cancel)
}

/// How a program is talked to.
#[derive(Clone, Copy, Debug)]
pub struct Conversation<'a> {
    /// Where its input comes from. One console is for one program.
    pub console: &'a Console,
    /// The size of its terminal; pipes if it has none.
    pub terminal: Option<Size>,
}

/// Runs a program to its end, while others talk to it.
///
/// On a terminal everything it writes is [`Stream::Output`]. Returns when the program has ended;
/// whatever it left running is ended with it.
///
/// This blocks: in asynchronous code give it a thread, such as `tokio::task::spawn_blocking` has.
///
/// # Errors
///
/// When it cannot be started.
pub fn converse(
    job: &Job,
    conversation: Conversation<'_>,
    observer: &mut dyn Observer,
    cancel: &Cancel,
) -> Result<Outcome, SpawnError> {
    let files = match conversation.terminal {
        Some(size) => terminal_files(size, owner(job)),
        None => pipes(false, owner(job)),
    };
    let files = files.map_err(SpawnError::Helper)?;
    let source = Source::Console(conversation.console);
    see_through(job, Talk { files, source, observer }, cancel)
}

/// Who the program is to be, if that is somebody else. Its files are given to that user, so that it
/// can open them again as `/dev/stderr` and the like.
fn owner(job: &Job) -> Option<(u32, u32)> {
    unprivileged_owner().filter(|_| job.policy.level != Level::None)
}

/// What goes in and out of a program.
struct Talk<'a> {
    files: (Pipes, Stdio),
    source: Source<'a>,
    observer: &'a mut dyn Observer,
}

/// Where input comes from.
enum Source<'a> {
    Text(&'a [u8]),
    Console(&'a Console),
}

impl Source<'_> {
    /// Whether there is something to write now, or the end of it to tell.
    fn is_ready(&self) -> bool {
        match self {
            Self::Text(_) => true,
            Self::Console(console) => console.has_pending(),
        }
    }

    fn is_done(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Console(console) => console.is_done(),
        }
    }

    fn write_to(&mut self, mut file: impl Write) {
        match self {
            Self::Text(text) => match file.write(text) {
                Ok(count) => *text = &text[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // A program that does not want its input is no error.
                Err(_closed) => *text = &[],
            },
            Self::Console(console) => console.hand_out(|bytes| file.write(bytes)),
        }
    }
}

fn see_through(job: &Job, talk: Talk<'_>, cancel: &Cancel) -> Result<Outcome, SpawnError> {
    let started = Instant::now();
    let Talk { files: (pipes, stdio), source, observer } = talk;
    let disk = DiskWatch::before(job);
    let deadline = started + job.limits.wall;
    let mut child = match spawn_within(job, &stdio, Some(Patience { cancel, deadline })) {
        Err(SpawnError::Impatient) => return Ok(never_started(started, cancel)),
        child => child?,
    };
    drop(stdio);
    observer.started();
    if let Some(listener) = child.take_listener() {
        observer.proxy(listener);
    }
    let not_promised = child.not_promised().to_vec();
    let mut run =
        Run { pipes, source, observer, stopped: None, cancelled: false, disk, disk_is_full: false };
    let ended = run.follow(child, deadline, cancel).map_err(SpawnError::Lost)?;
    let timed_out = run.stopped.is_some() && !run.cancelled && !run.disk_is_full;
    let (cancelled, duration) = (run.cancelled, started.elapsed());
    let mut outcome = Outcome { ended, timed_out, cancelled, duration, not_promised };
    if timed_out {
        outcome.ended.limits.push(Limit::Wall);
    }
    if run.disk_is_full {
        outcome.ended.limits.push(Limit::Disk);
    }
    Ok(outcome)
}

/// A run that was ended while it was set up.
fn never_started(started: Instant, cancel: &Cancel) -> Outcome {
    let cancelled = cancel.is_cancelled();
    let limits = if cancelled { Vec::new() } else { vec![Limit::Wall] };
    let (signal, refused) = (Some(libc::SIGKILL), Vec::new());
    Outcome {
        ended: Ended { code: None, signal, limits, refused, changed: None },
        timed_out: !cancelled,
        cancelled,
        duration: started.elapsed(),
        not_promised: Vec::new(),
    }
}

/// Our ends of the pipes; those that are closed are gone.
struct Pipes {
    input: Option<OwnedFd>,
    output: Option<OwnedFd>,
    error: Option<OwnedFd>,
}

fn pipes(no_input: bool, owner: Option<(u32, u32)>) -> io::Result<(Pipes, Stdio)> {
    let (output, their_output) = pipe_with(PipeFlags::CLOEXEC)?;
    let (error, their_error) = pipe_with(PipeFlags::CLOEXEC)?;
    let (their_input, input) = if no_input {
        (std::fs::File::open("/dev/null")?.into(), None)
    } else {
        let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC)?;
        fcntl_setfl(&ours, fcntl_getfl(&ours)? | OFlags::NONBLOCK)?;
        (theirs, Some(ours))
    };
    if let Some((user, group)) = owner {
        for theirs in input.iter().chain([&their_output, &their_error]) {
            fchown(theirs, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)))?;
        }
    }
    let ours = Pipes { input, output: Some(output), error: Some(error) };
    let stdio =
        Stdio { input: their_input, output: their_output, error: their_error, terminal: false };
    Ok((ours, stdio))
}

/// A terminal in the place of pipes. Everything comes out of it as standard output.
fn terminal_files(size: Size, owner: Option<(u32, u32)>) -> io::Result<(Pipes, Stdio)> {
    let (ours, theirs) = terminal::open(size, owner)?;
    fcntl_setfl(&ours, fcntl_getfl(&ours)? | OFlags::NONBLOCK)?;
    let pipes = Pipes { input: Some(ours.try_clone()?), output: Some(ours), error: None };
    let stdio = Stdio {
        input: theirs.try_clone()?,
        output: theirs.try_clone()?,
        error: theirs,
        terminal: true,
    };
    Ok((pipes, stdio))
}

struct Run<'a> {
    pipes: Pipes,
    source: Source<'a>,
    observer: &'a mut dyn Observer,
    /// When the tree was told to end, last.
    stopped: Option<Instant>,
    cancelled: bool,
    disk: DiskWatch,
    /// Whether the tree was ended because of what it wrote.
    disk_is_full: bool,
}

impl Run<'_> {
    fn follow(
        &mut self,
        mut child: Child,
        deadline: Instant,
        cancel: &Cancel,
    ) -> io::Result<Ended> {
        let mut chunk = vec![0; CHUNK];
        let ended = loop {
            let ready = self.poll(&child, cancel, deadline)?;
            if ready.asked && !ready.ended {
                // Before its input: it may look at the size once it has read.
                self.heed(&child);
            }
            self.transfer(ready, &mut chunk);
            if ready.ended {
                break child.wait()?;
            }
            if ready.full {
                // Asked gently it would go on writing.
                self.disk_is_full = self.stopped.is_none();
                self.stopped.get_or_insert_with(Instant::now);
                self.disk = DiskWatch::Never;
                child.kill();
            }
            self.disk.begin_if_due()?;
            if self.last_resort().is_some_and(|moment| Instant::now() >= moment) {
                // It may wait for a file system that does not answer.
                child.give_up();
                self.stopped = Some(Instant::now());
            }
            let late = Instant::now() >= deadline;
            if self.stopped.is_none() && (late || ready.cancelled) {
                self.cancelled = ready.cancelled;
                self.stopped = Some(Instant::now());
                child.stop();
            }
        };
        self.drain(&mut chunk);
        Ok(ended)
    }

    /// When the helper is ended that should have ended everything.
    fn last_resort(&self) -> Option<Instant> {
        self.stopped.map(|stopped| stopped + LAST_RESORT)
    }

    /// Does what was asked at the console.
    fn heed(&mut self, child: &Child) {
        let Source::Console(console) = self.source else { return };
        let (size, kill) = console.take_requests();
        if let (Some(size), Some(terminal)) = (size, &self.pipes.input) {
            // Pipes have no size.
            let _not_a_terminal = terminal::resize(terminal, size);
        }
        if console.is_done() {
            self.pipes.input = None;
        }
        if kill {
            self.cancelled |= self.stopped.is_none();
            self.stopped.get_or_insert_with(Instant::now);
            child.kill();
        }
    }

    fn poll(&self, child: &Child, cancel: &Cancel, deadline: Instant) -> io::Result<Ready> {
        let end = child.end();
        let mut polled = vec![PollFd::new(&end, PollFlags::IN)];
        let cancel_fd = cancel.as_fd();
        let mut places = [usize::MAX; 6];
        if self.stopped.is_none() {
            places[3] = polled.len();
            polled.push(PollFd::new(&cancel_fd, PollFlags::IN));
        }
        if let Source::Console(console) = &self.source {
            places[4] = polled.len();
            polled.push(PollFd::new(*console, PollFlags::IN));
        }
        let disk = self.disk.file();
        if let Some(disk) = &disk {
            places[5] = polled.len();
            polled.push(PollFd::new(disk, PollFlags::IN));
        }
        let input = self.pipes.input.as_ref().filter(|_| self.source.is_ready());
        let pipes = [
            (self.pipes.output.as_ref(), PollFlags::IN),
            (self.pipes.error.as_ref(), PollFlags::IN),
            (input, PollFlags::OUT),
        ];
        for (place, (pipe, flags)) in places.iter_mut().zip(pipes) {
            if let Some(pipe) = pipe {
                *place = polled.len();
                polled.push(PollFd::new(pipe, flags));
            }
        }
        let deadline = self.last_resort().unwrap_or(deadline);
        let moment = self.disk.due().map_or(deadline, |due| due.min(deadline));
        let left = moment.saturating_duration_since(Instant::now());
        match poll(&mut polled, Some(&Timespec::try_from(left).unwrap_or_default())) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_ready = |place: usize| polled.get(place).is_some_and(|it| !it.revents().is_empty());
        let [output, error, input, cancelled, asked, full] = places.map(is_ready);
        Ok(Ready { output, error, input, cancelled, asked, full, ended: is_ready(0) })
    }

    fn transfer(&mut self, ready: Ready, chunk: &mut [u8]) {
        if ready.output {
            read_some(&mut self.pipes.output, Stream::Output, chunk, self.observer);
        }
        if ready.error {
            read_some(&mut self.pipes.error, Stream::Error, chunk, self.observer);
        }
        if ready.input
            && let Some(pipe) = self.pipes.input.take()
        {
            let file = std::fs::File::from(pipe);
            self.source.write_to(&file);
            self.pipes.input = (!self.source.is_done()).then(|| file.into());
        }
    }

    /// Takes what is still in the pipes. Nobody writes any more; should someone hold a pipe open all
    /// the same, that is not waited for.
    fn drain(&mut self, chunk: &mut [u8]) {
        let deadline = Instant::now() + DRAIN;
        for (pipe, stream) in
            [(&mut self.pipes.output, Stream::Output), (&mut self.pipes.error, Stream::Error)]
        {
            while let Some(open) = &*pipe
                && Instant::now() < deadline
            {
                let left = deadline.saturating_duration_since(Instant::now());
                let left = Timespec::try_from(left).unwrap_or_default();
                let mut polled = [PollFd::new(open, PollFlags::IN)];
                match poll(&mut polled, Some(&left)) {
                    Ok(0) | Err(_) => break,
                    Ok(_) => read_some(pipe, stream, chunk, self.observer),
                }
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Ready {
    output: bool,
    error: bool,
    input: bool,
    cancelled: bool,
    /// At the console.
    asked: bool,
    /// The disk, as far as the run may fill it.
    full: bool,
    ended: bool,
}

/// Reads once; a pipe that has ended is closed.
fn read_some(
    pipe: &mut Option<OwnedFd>,
    stream: Stream,
    chunk: &mut [u8],
    observer: &mut dyn Observer,
) {
    let Some(open) = pipe else { return };
    match rustix::io::read(open, &mut *chunk) {
        Ok(0) => *pipe = None,
        Ok(count) => observer.output(stream, &chunk[..count]),
        Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
        // This is also how a terminal says that nobody has it open any more.
        Err(_broken) => *pipe = None,
    }
}
