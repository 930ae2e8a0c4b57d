//! A command in a container that is ready: input in, output out, within its time.

use std::pin::Pin;
use std::time::{Duration, Instant};

use bollard::container::LogOutput;
use bollard::errors::Error;
use bollard::exec::{CreateExecOptions, StartExecOptions, StartExecResults};
use futures_util::{Stream as Pieces, StreamExt};
use metier_sandbox::{Cancel, Ended, Limit, Outcome, Stream};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::time::{sleep, sleep_until, timeout};

use super::engine::Engine;
use super::error::{ContainerError, while_it};
use super::ready::Ready;
use super::recipe::IDLE_PROCESSES;
use crate::executor::Watch;

/// Bytes that are read at a time.
const CHUNK: usize = 64 << 10;
/// Time between being asked to end and being killed.
const GRACE: Duration = Duration::from_secs(2);
/// How long output is waited for after everything that could write it has been ended.
const DRAIN: Duration = Duration::from_millis(300);
/// Between two looks whether a command that keeps its output open has ended.
const LOOK: Duration = Duration::from_millis(250);
/// The same when its output has ended; at first, and in the long run.
const FIRST_LOOK: Duration = Duration::from_millis(2);
/// Between two looks whether a run is cancelled.
const CANCEL_LOOK: Duration = Duration::from_millis(25);
/// Looks at the number of processes, with a pause after each; one that just ended may still be counted.
const COUNTS: [Duration; 3] = [Duration::from_millis(5), Duration::from_millis(25), Duration::ZERO];
/// Codes of programs that a signal ended begin after this one.
const SIGNALS: i64 = 128;
const KILLED: i64 = SIGNALS + 9;
const TERMINATED: i64 = SIGNALS + 15;
/// What an engine cannot tell, and what nobody looks at.
const NOT_PROMISED: [&str; 2] = ["tells a signal from an exit code above 128", "the disk"];

/// Asks every process of the user but the first one to end.
const TERMINATE: &str = "kill -TERM -1";
/// Prints what the kernel counted of processes killed for want of memory, in either kind of control groups.
const COUNT_KILLS: &str = "for file in memory.events memory/memory.oom_control; do \
    while read -r line; do echo \"$line\"; done <\"/sys/fs/cgroup/$file\"; done 2>/dev/null";

/// What is run.
#[derive(Debug)]
pub(super) struct Command<'a> {
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) directory: String,
    pub(super) input: &'a [u8],
    pub(super) wall: Duration,
}

/// A container in which a command runs.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) engine: &'a Engine,
    pub(super) ready: &'a Ready,
}

type Output = Pin<Box<dyn Pieces<Item = Result<LogOutput, Error>> + Send>>;
type Input = Pin<Box<dyn AsyncWrite + Send>>;

/// Why following a command came to an end.
enum Stop {
    /// It ended, with a code if the engine knows.
    Ended(Option<i64>),
    TimedOut,
    Cancelled,
}

impl Place<'_> {
    /// Runs a command to its end and ends whatever it left running.
    pub(super) async fn run(
        &self,
        command: &Command<'_>,
        watch: &mut Watch,
    ) -> Result<Outcome, ContainerError> {
        let cancel = watch.cancel.clone();
        let started = Instant::now();
        let (id, output, input) = self.start(command).await?;
        let mut followed = Followed { place: self, id, output: Some(output), watch };
        let mut fed = Box::pin(feed(input, command.input));
        let stop = tokio::select! {
            stop = followed.follow(started + command.wall) => stop,
            () = cancelled(&cancel) => Stop::Cancelled,
            never = &mut fed => match never {},
        };
        let (timed_out, is_cancelled) =
            (matches!(stop, Stop::TimedOut), matches!(stop, Stop::Cancelled));
        let stop = if let Stop::Ended(_) = stop { stop } else { followed.stop().await };
        let (code, is_there) = match stop {
            Stop::Ended(code) => (code, false),
            Stop::TimedOut | Stop::Cancelled => (Some(KILLED), true),
        };
        let duration = started.elapsed();
        let stopped = timed_out || is_cancelled;
        let out_of_memory = !stopped && code == Some(KILLED) && self.has_run_out_of_memory().await;
        // The kernel's count of what it killed begins anew with the container.
        if is_there || out_of_memory || !self.is_idle().await {
            self.engine.kill(&self.ready.id).await?;
        }
        followed.drain().await;
        let mut ended = ended(code, stopped);
        ended.limits.extend(timed_out.then_some(Limit::Wall));
        ended.limits.extend(out_of_memory.then_some(Limit::Memory));
        let not_promised = NOT_PROMISED.to_vec();
        Ok(Outcome { ended, timed_out, cancelled: is_cancelled, duration, not_promised })
    }

    async fn start(
        &self,
        command: &Command<'_>,
    ) -> Result<(String, Output, Input), ContainerError> {
        let variables = command.environment.iter();
        let options = CreateExecOptions {
            attach_stdin: Some(!command.input.is_empty()),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            env: Some(variables.map(|(name, value)| format!("{name}={value}")).collect()),
            cmd: Some(command.arguments.clone()),
            working_dir: Some(command.directory.clone()),
            ..CreateExecOptions::default()
        };
        let docker = &self.engine.docker;
        let made = docker.create_exec(&self.ready.id, options).await;
        let id = made.map_err(while_it("prepare the command"))?.id;
        let options = StartExecOptions { output_capacity: Some(CHUNK), ..Default::default() };
        let started = docker.start_exec(&id, Some(options)).await;
        match started.map_err(while_it("start the command"))? {
            StartExecResults::Attached { output, input } => Ok((id, output, input)),
            StartExecResults::Detached => {
                Err(while_it("attach to the command")(Error::DockerStreamError {
                    error: "it is detached".to_owned(),
                }))
            }
        }
    }

    /// Runs a text of ours in the container's shell; gives what it prints.
    async fn ask(&self, text: &'static str) -> Option<String> {
        let command = Command {
            arguments: vec![self.ready.shell.clone(), "-c".to_owned(), text.to_owned()],
            environment: Vec::new(),
            directory: "/".to_owned(),
            input: &[],
            wall: GRACE,
        };
        let (_, mut output, _input) = self.start(&command).await.ok()?;
        let mut printed = Vec::new();
        while let Some(Ok(piece)) = output.next().await {
            printed.extend_from_slice(&piece.into_bytes());
        }
        Some(String::from_utf8_lossy(&printed).into_owned())
    }

    async fn has_run_out_of_memory(&self) -> bool {
        let counted = timeout(GRACE, self.ask(COUNT_KILLS)).await.ok().flatten();
        let counted = counted.unwrap_or_default();
        let mut kills = counted.lines().filter_map(|line| line.strip_prefix("oom_kill "));
        kills.any(|count| count.trim() != "0")
    }

    /// Whether nothing is left in the container. When that cannot be told, something is.
    async fn is_idle(&self) -> bool {
        for pause in COUNTS {
            match self.engine.processes(&self.ready.id).await {
                Some(count) if count <= IDLE_PROCESSES => return true,
                Some(_) => sleep(pause).await,
                None => return false,
            }
        }
        false
    }

    /// Whether a command has ended, and with what code if the engine still knows.
    async fn look(&self, id: &str) -> Option<Stop> {
        match self.engine.docker.inspect_exec(id).await {
            Ok(found) if found.running != Some(false) => None,
            Ok(found) => Some(Stop::Ended(found.exit_code)),
            // The engine does not know it any more: the container is gone, and with it the command.
            Err(Error::DockerResponseServerError { .. }) => Some(Stop::Ended(None)),
            // The engine did not answer; it will be asked again.
            Err(_) => None,
        }
    }
}

/// A command whose output is taken.
struct Followed<'a, 'b> {
    place: &'a Place<'b>,
    id: String,
    output: Option<Output>,
    watch: &'a mut Watch,
}

impl Followed<'_, '_> {
    /// Takes output until the command has ended or its time is up.
    async fn follow(&mut self, deadline: Instant) -> Stop {
        let mut pause = FIRST_LOOK;
        let mut next_look = Instant::now() + LOOK;
        loop {
            let until = next_look.min(deadline);
            tokio::select! {
                more = next(&mut self.output), if self.output.is_some() => {
                    if let Some(piece) = more {
                        self.take(piece);
                    } else {
                        self.output = None;
                        next_look = Instant::now();
                    }
                    if Instant::now() < until {
                        continue;
                    }
                }
                () = sleep_until(until.into()) => {}
            }
            let now = Instant::now();
            if now >= deadline {
                return Stop::TimedOut;
            }
            if now >= next_look {
                if let Some(stop) = self.place.look(&self.id).await {
                    return stop;
                }
                if self.output.is_none() {
                    pause = (pause * 2).min(LOOK);
                }
                next_look = Instant::now() + if self.output.is_some() { LOOK } else { pause };
            }
        }
    }

    /// Asks everything to end, and waits as long as that may take. What is still there is for others to kill.
    async fn stop(&mut self) -> Stop {
        let place = self.place;
        let deadline = Instant::now() + GRACE;
        // A container full of processes may have no room for this one; then there is only the kill.
        let asked = timeout(GRACE, place.ask(TERMINATE));
        tokio::join!(asked, self.follow(deadline)).1
    }

    /// Takes what is still on its way. Should someone hold the stream open all the same, that is not waited for.
    async fn drain(&mut self) {
        while self.output.is_some()
            && let Ok(Some(piece)) = timeout(DRAIN, next(&mut self.output)).await
        {
            self.take(piece);
        }
    }

    fn take(&mut self, piece: LogOutput) {
        let stream = match piece {
            LogOutput::StdErr { .. } => Stream::Error,
            LogOutput::StdOut { .. } | LogOutput::StdIn { .. } | LogOutput::Console { .. } => {
                Stream::Output
            }
        };
        (self.watch.output)(stream, &piece.into_bytes());
    }
}

/// The next piece of an output that has not ended.
async fn next(output: &mut Option<Output>) -> Option<LogOutput> {
    output.as_mut()?.next().await?.ok()
}

/// What is never reached.
enum Never {}

/// Gives a program its input and then waits for ever. A program that does not want it is no error.
async fn feed(mut input: Input, bytes: &[u8]) -> Never {
    if !bytes.is_empty() && input.write_all(bytes).await.is_ok() {
        let _not_wanted = input.shutdown().await;
    }
    std::future::pending().await
}

/// Waits until a run is cancelled.
pub(super) async fn cancelled(cancel: &Cancel) {
    while !cancel.is_cancelled() {
        sleep(CANCEL_LOOK).await;
    }
}

/// How a command ended, from the code that the engine gives. After a signal that we sent it is a signal.
fn ended(code: Option<i64>, stopped: bool) -> Ended {
    let code = code.unwrap_or(KILLED);
    let is_signal = stopped && matches!(code, KILLED | TERMINATED);
    let number = i32::try_from(code).unwrap_or(i32::MAX);
    let signal = is_signal.then(|| i32::try_from(code - SIGNALS).unwrap_or_default());
    Ended { code: (!is_signal).then_some(number), signal, limits: Vec::new(), refused: Vec::new() }
}
