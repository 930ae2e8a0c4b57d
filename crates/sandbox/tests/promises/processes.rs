//! Processes: those of others cannot be seen or touched, and none of its own is left.

use std::ffi::OsString;
use std::fs;
use std::io::BufRead;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use metier_sandbox::{Cancel, Level, Observer, SpawnError, Stream, run};
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{Bench, Text, arguments};
use crate::keeper::leaderless;
use crate::{ALL, CONFINED, FULL, Promise};

pub(crate) const PROMISES: &[Promise] = &[
    ("others_cannot_be_seen", others_cannot_be_seen, FULL),
    ("the_caller_cannot_be_read_or_signalled", the_caller_is_safe, CONFINED),
    ("command_lines_of_others_are_hidden_or_named_as_visible", command_lines, CONFINED),
    ("nothing_is_left_running", nothing_is_left_running, ALL),
    ("cancelling_ends_everything", cancelling_ends_everything, ALL),
    ("nothing_outlives_the_caller", nothing_outlives_the_caller, ALL),
    ("codes_and_signals_are_told_apart", codes_and_signals, ALL),
    ("input_is_read_and_may_be_ignored", input, ALL),
    ("a_start_that_hangs_is_ended_too", a_start_that_hangs, ALL),
    ("a_helper_that_hangs_does_not_outlast_the_time", a_helper_that_hangs, &[Level::Landlock]),
    ("arguments_pass_as_they_are_or_not_at_all", arguments_pass_as_they_are, ALL),
];

/// The first argument that makes this binary run a sandboxed program and wait to be killed.
pub(crate) const VICTIM: &str = "__victim";
/// The same, with a program whose child has no first thread any more.
pub(crate) const LEADERLESS_VICTIM: &str = "__leaderless_victim";

/// A process that double-forks away from everything and can be found by its name.
pub(crate) fn daemon(mark: &str) -> String {
    format!("(setsid sh -c 'exec -a {mark} sleep 300' >/dev/null 2>&1 &) ; ")
        .replace("sh -c 'exec -a", "bash -c 'exec -a")
}

/// Whether some process has a mark in its command line.
pub(crate) fn is_running(mark: &str) -> bool {
    let Ok(entries) = fs::read_dir("/proc") else { return false };
    entries.filter_map(Result::ok).any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.starts_with(mark.as_bytes())
    })
}

pub(crate) fn mark(level: Level, test: &str) -> String {
    format!("metier-{test}-{level}-{}", std::process::id())
}

/// Waits until there is a process with a mark, for ten seconds.
pub(crate) fn is_there(mark: &str) -> bool {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_running(mark) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
    }
    is_running(mark)
}

/// Waits until a mark is gone, for a second.
pub(crate) fn is_gone(mark: &str) -> bool {
    let deadline = Instant::now() + Duration::from_secs(1);
    while Instant::now() < deadline {
        if !is_running(mark) {
            return true;
        }
        thread::sleep(Duration::from_millis(10));
    }
    false
}

fn others_cannot_be_seen(level: Level) -> Result<(), Failed> {
    let tried = Bench::new(level).sh("ls /proc | grep -c '^[0-9]'; ps -e | wc -l");
    let counts: Vec<u32> =
        tried.output.lines().filter_map(|line| line.trim().parse().ok()).collect();
    assert!(counts.iter().all(|&count| count <= 6) && counts.len() == 2, "{tried:?}");
    Ok(())
}

fn the_caller_is_safe(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let caller = std::process::id();
    let script = format!(
        "cat /proc/{caller}/environ /proc/{caller}/mem /proc/{caller}/maps 2>/dev/null; \
         readlink /proc/{caller}/fd/* /proc/{caller}/cwd 2>/dev/null; \
         kill -0 {caller} 2>/dev/null && echo signalled; kill -0 $PPID 2>/dev/null && echo parent"
    );
    let tried = bench.sh(&script);
    let allowed = if level == Level::Full { "parent\n" } else { "" };
    assert!(tried.output.is_empty() || tried.output == allowed, "{tried:?}");
    Ok(())
}

/// A key in a command line can be read where processes can be listed, and a run says so; one in a variable cannot.
fn command_lines(level: Level) -> Result<(), Failed> {
    let (argument, variable) = ("key-in-the-command-line", "key-in-a-variable");
    #[expect(clippy::disallowed_methods, reason = "somebody else's program")]
    let mut other = Command::new("sleep").arg0(argument).arg("20").env("KEY", variable).spawn()?;
    let number = other.id();
    let tried = Bench::new(level).sh(&format!(
        "cat /proc/self/cmdline /proc/{number}/cmdline /proc/{number}/environ 2>/dev/null"
    ));
    other.kill()?;
    other.wait()?;
    let is_named = tried
        .outcome
        .not_promised
        .iter()
        .any(|it| it.contains("list of processes and their command lines"));
    assert!(tried.output.starts_with("cat"), "{tried:?}");
    assert_eq!(tried.output.contains(argument), is_named, "{tried:?}");
    assert_eq!(is_named, level == Level::Landlock, "{tried:?}");
    assert!(!tried.output.contains(variable), "{tried:?}");
    Ok(())
}

fn nothing_is_left_running(level: Level) -> Result<(), Failed> {
    let mark = mark(level, "left");
    let tried = Bench::new(level).sh(&format!("{} sleep 0.2; echo done", daemon(&mark)));
    assert_eq!(tried.output, "done\n", "{tried:?}");
    assert!(is_gone(&mark), "a process was left");
    assert!(tried.outcome.duration < Duration::from_secs(3));
    Ok(())
}

fn cancelling_ends_everything(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let mark = mark(level, "cancelled");
    let job = bench.job(&format!("{} echo so far; sleep 60", daemon(&mark)));
    let cancel = Cancel::new()?;
    let other = cancel.clone();
    let canceller = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        other.cancel();
    });
    let mut text = Text::default();
    let outcome = run(&job, b"", &mut text, &cancel).map_err(|error| error.to_string())?;
    canceller.join().map_err(|_panic| "the canceller failed")?;
    assert!(outcome.cancelled && !outcome.timed_out);
    assert!(outcome.duration < Duration::from_secs(3), "{:?}", outcome.duration);
    assert_eq!(text.output, b"so far\n");
    assert!(is_gone(&mark));
    Ok(())
}

fn nothing_outlives_the_caller(level: Level) -> Result<(), Failed> {
    let mark = mark(level, "orphan");
    #[expect(clippy::disallowed_methods, reason = "the caller itself is what is tested")]
    let mut caller = Command::new(std::env::current_exe()?)
        .args([VICTIM, &level.to_string(), &mark])
        .stdout(Stdio::null())
        .spawn()?;
    assert!(is_there(&mark), "it was never started");
    caller.kill()?;
    caller.wait()?;
    assert!(is_gone(&mark), "a process outlived the caller");
    metier_sandbox::remove_leftovers();
    Ok(())
}

pub(crate) fn level_named(name: &str) -> Level {
    let named = ALL.iter().find(|level| level.to_string() == name);
    *named.expect("a level")
}

/// Runs a sandboxed program that never ends, if this process was started for that.
pub(crate) fn victim() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, word, level, mark] = &arguments[..] else { return };
    match word.as_str() {
        VICTIM => Bench::new(level_named(level)).sh(&format!("{} sleep 60", daemon(mark))),
        LEADERLESS_VICTIM => {
            Bench::new(level_named(level)).python(&leaderless(mark, "time.sleep(15)"))
        }
        _ => return,
    };
}

fn codes_and_signals(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let ended = |script: &str| bench.sh(script).outcome.ended;
    assert_eq!((ended("exit 7").code, ended("exit 7").signal), (Some(7), None));
    assert_eq!((ended("kill -9 $$").code, ended("kill -9 $$").signal), (None, Some(9)));
    assert_eq!(ended("exit 255").code, Some(255));
    let mut job = bench.job("");
    job.program.command = arguments(["no-such-program"]);
    let error = bench.try_job(&job).expect_err("there is no such program").to_string();
    assert!(error.starts_with("`no-such-program` cannot be started: No such file"), "{error}");
    job.program.directory = "/no/such/folder".into();
    let error = bench.try_job(&job).expect_err("there is no such folder").to_string();
    assert!(error.starts_with("the directory `/no/such/folder` cannot be entered"), "{error}");
    Ok(())
}

fn input(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let input = vec![b'x'; 1 << 20];
    for (script, expected) in [("wc -c", "1048576"), ("head -c 3", "xxx"), ("echo no", "no")] {
        let mut text = Text::default();
        let cancel = Cancel::new()?;
        run(&bench.job(script), &input, &mut text, &cancel).map_err(|error| error.to_string())?;
        assert_eq!(String::from_utf8_lossy(&text.output).trim(), expected);
    }
    Ok(())
}

fn arguments_pass_as_they_are(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let mut job = bench.job("");
    let odd = OsString::from_vec(b"\xff'\"$(id)`\n;\\".to_vec());
    let words = ["sh", "-c", "printf '%s' \"$1$ODD\" | od -An -tx1 | tr -d ' \\n'", "-"];
    job.program.command = arguments(words.map(OsString::from).into_iter().chain([odd.clone()]));
    job.program.environment.push(("ODD".into(), odd));
    let tried = bench.try_job(&job).map_err(|error| error.to_string())?;
    let bytes = "ff272224286964296 00a3b5c".replace(' ', "");
    assert_eq!(tried.output, bytes.repeat(2));
    for arguments in [
        vec!["sh".into(), "-c".into(), "true\0".into()],
        vec!["true".into(), "x".repeat(200 << 10).into()],
        vec!["true".into(), "x".repeat(9 << 20).into()],
        vec!["".into()],
        vec![],
    ] {
        job.program.command = metier_sandbox::Command::Arguments(arguments);
        let started = Instant::now();
        assert!(bench.try_job(&job).is_err());
        assert!(started.elapsed() < Duration::from_secs(2));
    }
    Ok(())
}

/// Starting a file waits for whoever has a lease on it.
fn a_start_that_hangs(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    let file = bench.path("work/leased");
    fs::copy("/bin/true", &file)?;
    let mut holder = hold_lease(&file)?;
    let mut job = bench.job("");
    job.program.command = arguments([bench.work().join("leased")]);
    bench.limits.wall = Duration::from_millis(500);
    job.limits = bench.limits;
    let started = Instant::now();
    let late = bench.try_job(&job).map_err(|error| error.to_string())?.outcome;
    job.limits.wall = Duration::from_secs(30);
    let cancel = Cancel::new()?;
    cancel.cancel();
    let cancelled = run(&job, b"", &mut Text::default(), &cancel).map_err(|it| it.to_string())?;
    let took = started.elapsed();
    holder.kill()?;
    holder.wait()?;
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(late.timed_out && !late.cancelled && late.ended.signal == Some(9), "{late:?}");
    assert!(cancelled.cancelled && !cancelled.timed_out, "{cancelled:?}");
    Ok(())
}

/// A process that has a lease on a file and does not give it up.
fn hold_lease(file: &std::path::Path) -> Result<std::process::Child, Failed> {
    let script = "import fcntl, os, signal, sys, time\n\
                  signal.signal(signal.SIGIO, signal.SIG_IGN)\n\
                  file = os.open(sys.argv[1], os.O_RDWR)\n\
                  fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)\n\
                  print('held', flush=True)\n\
                  time.sleep(60)";
    #[expect(clippy::disallowed_methods, reason = "somebody else's program")]
    let mut holder =
        Command::new("python3").args(["-c", script]).arg(file).stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    std::io::BufReader::new(holder.stdout.take().ok_or("a pipe")?).read_line(&mut line)?;
    assert_eq!(line, "held\n");
    Ok(holder)
}

/// Stops the parent of a program that names it: the helper, where there is no namespace.
#[derive(Default)]
struct Stopper(Option<Pid>);

impl Observer for Stopper {
    fn output(&mut self, _stream: Stream, bytes: &[u8]) {
        let number = String::from_utf8_lossy(bytes).trim().parse().ok();
        self.0 = number.and_then(Pid::from_raw);
        let stopped = self.0.map(|helper| kill_process(helper, Signal::STOP));
        stopped.expect("a number").expect("a process of ours");
    }
}

fn a_helper_that_hangs(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    bench.limits.wall = Duration::from_secs(1);
    let mark = mark(level, "stuck");
    let job = bench.job(&format!("echo $PPID; exec bash -c 'exec -a {mark} sleep 300'"));
    let started = Instant::now();
    let mut stopper = Stopper::default();
    let lost = run(&job, b"", &mut stopper, &Cancel::new()?);
    assert!(stopper.0.is_some() && matches!(lost, Err(SpawnError::Lost(_))), "{lost:?}");
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    assert!(is_gone(&mark), "the program outlived its helper");
    Ok(())
}
