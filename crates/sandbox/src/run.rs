//! Seeing a program to its end: input in, output out, within its time.

use std::io::{self, Write};
use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::cancel::Cancel;
use crate::limits::Limit;
use crate::program::Job;
use crate::spawn::{Child, Ended, SpawnError, Stdio, spawn};

/// Bytes that are read at a time.
const CHUNK: usize = 64 << 10;
/// How long output is waited for after everything that could write it has been ended.
const DRAIN: Duration = Duration::from_millis(200);

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
}

/// Runs a program to its end, with a text as its input.
///
/// Returns when the program has ended; whatever it left running is ended with it.
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
    let started = Instant::now();
    let (pipes, stdio) = pipes(input.is_empty()).map_err(SpawnError::Helper)?;
    let mut child = spawn(job, &stdio)?;
    drop(stdio);
    if let Some(listener) = child.take_listener() {
        observer.proxy(listener);
    }
    let mut run = Run { pipes, input, observer, stopped: None, cancelled: false };
    let ended = run.follow(child, started + job.limits.wall, cancel).map_err(SpawnError::Lost)?;
    let timed_out = run.stopped.is_some() && !run.cancelled;
    let mut outcome =
        Outcome { ended, timed_out, cancelled: run.cancelled, duration: started.elapsed() };
    if timed_out {
        outcome.ended.limits.push(Limit::Wall);
    }
    Ok(outcome)
}

/// Our ends of the pipes; those that are closed are gone.
struct Pipes {
    input: Option<OwnedFd>,
    output: Option<OwnedFd>,
    error: Option<OwnedFd>,
}

fn pipes(no_input: bool) -> io::Result<(Pipes, Stdio)> {
    let (output, their_output) = pipe_with(PipeFlags::CLOEXEC)?;
    let (error, their_error) = pipe_with(PipeFlags::CLOEXEC)?;
    let (their_input, input) = if no_input {
        (std::fs::File::open("/dev/null")?.into(), None)
    } else {
        let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC)?;
        fcntl_setfl(&ours, fcntl_getfl(&ours)? | OFlags::NONBLOCK)?;
        (theirs, Some(ours))
    };
    let ours = Pipes { input, output: Some(output), error: Some(error) };
    let stdio =
        Stdio { input: their_input, output: their_output, error: their_error, terminal: false };
    Ok((ours, stdio))
}

struct Run<'a> {
    pipes: Pipes,
    input: &'a [u8],
    observer: &'a mut dyn Observer,
    /// When the tree was asked to end.
    stopped: Option<Instant>,
    cancelled: bool,
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
            self.transfer(ready, &mut chunk)?;
            if ready.ended {
                break child.wait()?;
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

    fn poll(&self, child: &Child, cancel: &Cancel, deadline: Instant) -> io::Result<Ready> {
        let end = child.end();
        let mut polled = vec![PollFd::new(&end, PollFlags::IN)];
        let cancel_fd = cancel.as_fd();
        let mut places = [usize::MAX; 4];
        if self.stopped.is_none() {
            places[3] = polled.len();
            polled.push(PollFd::new(&cancel_fd, PollFlags::IN));
        }
        let pipes = [
            (&self.pipes.output, PollFlags::IN),
            (&self.pipes.error, PollFlags::IN),
            (&self.pipes.input, PollFlags::OUT),
        ];
        for (place, (pipe, flags)) in places.iter_mut().zip(pipes) {
            if let Some(pipe) = pipe {
                *place = polled.len();
                polled.push(PollFd::new(pipe, flags));
            }
        }
        let left = self.stopped.is_none().then(|| {
            let left = deadline.saturating_duration_since(Instant::now());
            Timespec::try_from(left).unwrap_or_default()
        });
        match poll(&mut polled, left.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_ready = |place: usize| polled.get(place).is_some_and(|it| !it.revents().is_empty());
        let [output, error, input, cancelled] = places.map(is_ready);
        Ok(Ready { output, error, input, cancelled, ended: is_ready(0) })
    }

    fn transfer(&mut self, ready: Ready, chunk: &mut [u8]) -> io::Result<()> {
        if ready.output {
            read_some(&mut self.pipes.output, Stream::Output, chunk, self.observer);
        }
        if ready.error {
            read_some(&mut self.pipes.error, Stream::Error, chunk, self.observer);
        }
        if ready.input
            && let Some(pipe) = self.pipes.input.take()
        {
            let mut file = std::fs::File::from(pipe);
            match file.write(self.input) {
                Ok(count) => self.input = &self.input[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // A program that does not want its input is no error.
                Err(_closed) => self.input = &[],
            }
            self.pipes.input = (!self.input.is_empty()).then(|| file.into());
        }
        Ok(())
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
        Err(rustix::io::Errno::INTR) => {}
        Err(_broken) => *pipe = None,
    }
}
