//! A command in a container that is ready: input in, output out, within its time.

use std::path::PathBuf;
use std::pin::Pin;
use std::time::{Duration, Instant};

use bollard::container::LogOutput;
use bollard::errors::Error;
use bollard::exec::{CreateExecOptions, StartExecOptions, StartExecResults};
use futures_util::{Stream as Pieces, StreamExt};
use metier_sandbox::{Cancel, DiskGuard, Ended, Limit, Limits, Outcome, Stream};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::time::{sleep, sleep_until, timeout};

use super::engine::Engine;
use super::error::{ContainerError, while_it};
use super::outside::{Counted, Outside};
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
const COUNTS: [Duration; 4] = [
    Duration::from_millis(5),
    Duration::from_millis(25),
    Duration::from_millis(100),
    Duration::ZERO,
];
/// Codes of programs that a signal ended begin after this one.
const SIGNALS: i64 = 128;
const KILLED: i64 = SIGNALS + 9;
const TERMINATED: i64 = SIGNALS + 15;
/// What an engine cannot tell.
const NOT_PROMISED: &str = "telling signals from exit codes above 128";

/// Asks every process of the user but the first one to end.
const TERMINATE: &str = "kill -TERM -1";
/// Prints what the kernel counted of limits that were met, in either kind of control groups.
const COUNT: &str = "for file in memory.events memory/memory.oom_control pids.events pids/pids.events; do \
    while read -r line; do echo \"${file%%.*} $line\"; done <\"/sys/fs/cgroup/$file\"; done 2>/dev/null";
/// Prints a line for everything in the temporary folders.
const LIST: &str = "for folder in /tmp /dev/shm /dev/mqueue; do \
    for name in $folder/* $folder/.[!.]* $folder/..?*; do \
    if [ -e \"$name\" ] || [ -L \"$name\" ]; then echo left; fi; done; done";

/// What is run.
#[derive(Debug)]
pub(super) struct Command<'a> {
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) directory: String,
    pub(super) input: &'a [u8],
    pub(super) limits: Limits,
    /// Folders of this machine that it can write to.
    pub(super) writable: Vec<PathBuf>,
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
    /// It wrote more than it may.
    DiskFull,
}

impl Place<'_> {
    /// Runs a command to its end and ends whatever it left running.
    pub(super) async fn run(
        &self,
        command: &Command<'_>,
        watch: &mut Watch,
    ) -> Result<Outcome, ContainerError> {
        let cancel = watch.cancel.clone();
        let before = self.outside().and_then(Outside::counted);
        let disk = DiskGuard::new(command.writable.clone(), command.limits)?;
        let started = Instant::now();
        let (id, output, input) = self.start(command).await?;
        let mut followed = Followed { place: self, id, output: Some(output), watch };
        let mut fed = Box::pin(feed(input, command.input));
        let stop = tokio::select! {
            stop = followed.follow(started + command.limits.wall) => stop,
            () = cancelled(&cancel) => Stop::Cancelled,
            () = cancelled(disk.over()) => Stop::DiskFull,
            never = &mut fed => match never {},
        };
        let (timed_out, is_cancelled) =
            (matches!(stop, Stop::TimedOut), matches!(stop, Stop::Cancelled));
        let is_full = matches!(stop, Stop::DiskFull);
        let stop = if let Stop::Ended(_) = stop { stop } else { followed.stop().await };
        let (code, is_there) = match stop {
            Stop::Ended(code) => (code, false),
            Stop::TimedOut | Stop::Cancelled | Stop::DiskFull => (Some(KILLED), true),
        };
        let duration = started.elapsed();
        let stopped = timed_out || is_cancelled || is_full;
        let met = self.met(before, !is_there && code != Some(0)).await;
        if is_there || met.is_of_container || !self.is_idle().await || !self.is_clean().await {
            self.engine.kill(&self.ready.id).await?;
        }
        followed.drain().await;
        let mut ended = ended(code, stopped);
        ended.limits.extend(timed_out.then_some(Limit::Wall));
        ended.limits.extend(is_full.then_some(Limit::Disk));
        ended.limits.extend(met.limits);
        let not_promised = vec![NOT_PROMISED];
        Ok(Outcome { ended, timed_out, cancelled: is_cancelled, duration, not_promised })
    }

    fn outside(&self) -> Option<&Outside> {
        self.ready.outside.as_ref()
    }

    /// The limits that a command met. When that cannot be seen, the container is asked after a command that ended
    /// and failed.
    async fn met(&self, before: Option<Counted>, has_failed: bool) -> Met {
        let after = self.outside().and_then(Outside::counted);
        if let (Some(before), Some(after)) = (before, after) {
            return Met { limits: more(before, after), is_of_container: false };
        }
        if !has_failed {
            return Met::default();
        }
        let counted = timeout(GRACE, self.ask(COUNT)).await.ok().flatten().unwrap_or_default();
        let limits = more(Counted::default(), count(&counted));
        Met { is_of_container: !limits.is_empty(), limits }
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
            limits: Limits { wall: GRACE, ..Limits::default() },
            writable: Vec::new(),
        };
        let (_, mut output, _input) = self.start(&command).await.ok()?;
        let mut printed = Vec::new();
        while let Some(Ok(piece)) = output.next().await {
            printed.extend_from_slice(&piece.into_bytes());
        }
        Some(String::from_utf8_lossy(&printed).into_owned())
    }

    /// Whether nothing runs in the container any more. When that cannot be told, something does.
    async fn is_idle(&self) -> bool {
        for pause in COUNTS {
            let seen = self.outside().and_then(Outside::processes);
            let count = match seen {
                Some(count) => Some(count),
                None => self.engine.processes(&self.ready.id).await,
            };
            match count {
                Some(count) if count <= IDLE_PROCESSES => return true,
                Some(_) => sleep(pause).await,
                None => return false,
            }
        }
        false
    }

    /// Whether no temporary file is left, which the next run would find. When that cannot be told, one is.
    async fn is_clean(&self) -> bool {
        match self.outside().and_then(Outside::is_clean) {
            Some(is_clean) => is_clean,
            None => {
                timeout(GRACE, self.ask(LIST)).await.ok().flatten().is_some_and(|it| it.is_empty())
            }
        }
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

/// Limits that a command met.
#[derive(Debug, Default)]
struct Met {
    limits: Vec<Limit>,
    /// The container has counted since it was started, so the count must begin anew.
    is_of_container: bool,
}

/// The limits whose counts have grown.
fn more(before: Counted, after: Counted) -> Vec<Limit> {
    let memory = (after.kills > before.kills).then_some(Limit::Memory);
    let processes = (after.forks > before.forks).then_some(Limit::Processes);
    memory.into_iter().chain(processes).collect()
}

/// What [`COUNT`] printed.
fn count(printed: &str) -> Counted {
    let most = |beginnings: [&str; 2]| {
        let lines = printed.lines();
        let counts =
            lines.filter_map(|line| beginnings.iter().find_map(|it| line.strip_prefix(it)));
        counts.filter_map(|count| count.trim().parse().ok()).max().unwrap_or_default()
    };
    Counted {
        kills: most(["memory oom_kill ", "memory/memory oom_kill "]),
        forks: most(["pids max ", "pids/pids max "]),
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
    let (code, limits, refused) = ((!is_signal).then_some(number), Vec::new(), Vec::new());
    Ended { code, signal, limits, refused, changed: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_counted_in_either_kind_of_control_groups() {
        let first = "memory/memory oom_kill_disable 0\nmemory/memory oom_kill 2\npids/pids max 0\n";
        assert_eq!(more(Counted::default(), count(first)), [Limit::Memory]);
        let second = "memory max 9\nmemory oom_kill 0\npids max 3\n";
        assert_eq!(more(Counted::default(), count(second)), [Limit::Processes]);
        assert_eq!(more(count(second), count(second)), []);
        assert_eq!(count("cannot be read\n"), Counted::default());
    }
}
