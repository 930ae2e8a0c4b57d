//! Nothing is left of a server: not after a close, not after a drop, and not when we are killed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use metier_mcp::McpConnection;

use crate::bench::{Promise, block_on, has, hurried, options, over_pipes, refusal, script};

pub(crate) const PROMISES: &[Promise] = &[
    ("nothing_is_left_after_a_close", closed),
    ("nothing_is_left_after_a_drop", dropped),
    ("nothing_is_left_of_a_server_that_was_not_understood", not_understood),
    ("nothing_is_left_when_we_are_killed", killed),
];

/// The first argument that makes this binary connect and wait.
const VICTIM: &str = "__victim";

/// A server that does not want to go, with a child that is even more stubborn. Both have a mark among their
/// arguments, by which they are found.
fn stubborn(mark: &str) -> String {
    format!(
        "
signal.signal(signal.SIGTERM, signal.SIG_IGN)
CODE = 'import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000) # {mark}'
subprocess.Popen([sys.executable, '-c', CODE], start_new_session=True)
serving = over_pipes

def over_pipes():
    serving()
    time.sleep(1000)
"
    )
}

/// A mark that only one test has.
fn mark(name: &str) -> String {
    format!("mark-{name}-{}", std::process::id())
}

/// How many processes have a mark among their arguments, this one apart.
fn count(mark: &str) -> usize {
    let is_marked = |process: &Path| {
        let own = process.file_name().is_some_and(|it| *it == *std::process::id().to_string());
        let line = fs::read(process.join("cmdline")).unwrap_or_default();
        !own && line.windows(mark.len()).any(|it| it == mark.as_bytes())
    };
    let processes = fs::read_dir("/proc").expect("/proc");
    processes.flatten().filter(|process| is_marked(&process.path())).count()
}

/// Waits until so many processes have a mark.
fn until(mark: &str, number: usize) -> Result<(), Failed> {
    let deadline = Instant::now() + Duration::from_secs(30);
    while count(mark) != number {
        if Instant::now() > deadline {
            return Err(format!("{} processes instead of {number}", count(mark)).into());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

fn closed() -> Result<(), Failed> {
    let mark = mark("closed");
    block_on(async {
        let connection = McpConnection::open(&over_pipes(&stubborn(&mark)), &options()).await?;
        until(&mark, 2)?;
        connection.close().await;
        // At once: a close waits.
        if count(&mark) == 0 { Ok(()) } else { Err("something is left".into()) }
    })
}

fn dropped() -> Result<(), Failed> {
    let mark = mark("dropped");
    block_on(async {
        let connection = McpConnection::open(&over_pipes(&stubborn(&mark)), &options()).await?;
        until(&mark, 2)?;
        drop(connection);
        Ok::<(), Failed>(())
    })?;
    until(&mark, 0)
}

fn not_understood() -> Result<(), Failed> {
    let mark = mark("silent");
    let shown = block_on(refusal(&script(&format!("sleep 1000 # {mark}\ntrue")), &hurried()));
    has(&shown, "did not answer")?;
    until(&mark, 0)
}

fn killed() -> Result<(), Failed> {
    let mark = mark("killed");
    #[expect(clippy::disallowed_methods, reason = "the caller itself is what is tested")]
    let mut victim = Command::new(std::env::current_exe()?)
        .args([VICTIM, &mark])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(victim.stdout.take().expect("a pipe")).read_line(&mut line)?;
    has(&line, "connected")?;
    // The victim has the mark as well.
    until(&mark, 3)?;
    victim.kill()?;
    victim.wait()?;
    until(&mark, 0)
}

/// Connects and waits, if this process was started for that.
#[expect(clippy::print_stdout, reason = "the test waits for it")]
pub(crate) fn victim() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, word, mark] = &arguments[..] else { return };
    if word == VICTIM {
        block_on(async {
            let connection = McpConnection::open(&over_pipes(&stubborn(mark)), &options()).await;
            println!("{}", if connection.is_ok() { "connected" } else { "alone" });
            std::future::pending::<()>().await;
        });
    }
}
