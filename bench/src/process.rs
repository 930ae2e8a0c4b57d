//! Running a program to its end and what that cost: time, processor time and memory.
//!
//! The figures are the kernel's own for exactly that child (`wait4`). A child begins as a copy of
//! this process, so a peak below this process's own cannot be seen; it stays small for that reason
//! and never holds what a child prints.
#![expect(clippy::disallowed_methods, reason = "a benchmark starts programs; it is not shipped")]

use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use wait4::Wait4;

/// What one run of a program cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// From before the start until the end was seen.
    pub(crate) wall: Duration,
    /// Processor time of the program and the kernel on its behalf, on all cores.
    pub(crate) cpu: Duration,
    /// Most memory that was resident at one time.
    pub(crate) peak_bytes: u64,
}

/// A program, to be given arguments.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    Command::new(name)
}

/// Runs a command that must succeed; what it prints goes nowhere, its complaints to the terminal.
pub(crate) fn measure(command: &mut Command) -> Result<Sample> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let start = Instant::now();
    let child = command.spawn().with_context(|| format!("cannot start {}", shown(command)))?;
    let end = child.wait4()?;
    let wall = start.elapsed();
    if !end.status.success() {
        bail!("{} ended with {}", shown(command), end.status);
    }
    let cpu = end.rusage.utime + end.rusage.stime;
    Ok(Sample { wall, cpu, peak_bytes: end.rusage.maxrss })
}

/// The program's name and first arguments: enough to recognise it in a message.
fn shown(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let words: Vec<_> = words.take(4).map(OsStr::to_string_lossy).collect();
    format!("`{} …`", words.join(" "))
}
