//! Trials of the bound on memory: by one process, by several, shared.

use super::attempt::Tried;
use super::error::TrialError;
use super::trial::{Attack, Verdict, broken_if};
use crate::limits::{Limit, Limits};
use crate::spawn::SpawnError;

/// Text that a shell keeps in memory if nobody stops it, in bytes.
const MUCH_TEXT: u64 = 64 << 20;
/// Text that shows that it could keep some.
const SOME_TEXT: u64 = 1 << 20;
/// Text that each of several shells keeps, which is less than one of them may, in bytes.
const LESS_TEXT: u64 = 16 << 20;
/// How many shells that are.
const SHELLS: u64 = 4;
/// Mebibytes of shared memory that a program fills if nobody stops it.
const MUCH_SHARED: u64 = 96;
/// Ends the first thread of a program in Python and leaves the others.
const END_FIRST_THREAD: &str =
    "ctypes.CDLL(None).syscall({\"x86_64\": 60, \"aarch64\": 93}[os.uname().machine], 0)";

impl Attack<'_> {
    /// Runs a script with as much memory as was promised.
    fn with_little_memory(&self, script: &str) -> Result<Tried, SpawnError> {
        let mut attempt = self.attempt();
        attempt.limits = Limits { memory: self.bounds.memory, ..attempt.limits };
        attempt.sh(script)
    }

    pub(super) fn fills_memory(&self) -> Result<Verdict, TrialError> {
        // The shell itself keeps the text.
        let tried = self.with_little_memory(&format!(
            "x=xxxxxxxxxxxxxxxx; while [ ${{#x}} -lt {MUCH_TEXT} ]; do x=$x$x; echo ${{#x}}; done"
        ))?;
        let kept = tried.count();
        if kept < SOME_TEXT || tried.outcome.timed_out {
            let what = "bytes were kept";
            return Err(TrialError::Early { count: kept, what, fault: tried.fault() });
        }
        Ok(broken_if(kept >= MUCH_TEXT, || format!("{kept} bytes were kept")))
    }

    /// Each process uses less than the limit, all of them more.
    pub(super) fn fills_memory_together(&self) -> Result<Verdict, TrialError> {
        let tried = self.with_little_memory(&format!(
            "sleep 0 || exit 1; echo ready; i=0; while [ $i -lt {SHELLS} ]; do i=$((i+1)); \
             (x=xxxxxxxxxxxxxxxx; while [ ${{#x}} -lt {LESS_TEXT} ]; do x=$x$x; done; echo kept; sleep 2) & \
             done; wait"
        ))?;
        let shells = tried.output.lines().filter(|line| *line == "kept").count();
        judge(&tried, shells as u64 >= SHELLS, || {
            format!("{shells} times {LESS_TEXT} bytes were kept")
        })
    }

    /// No process has it for itself, so no limit of a process holds; nor does one whose first thread has ended show what it
    /// has, unless its other threads are looked at.
    pub(super) fn fills_shared_memory(&self) -> Result<Verdict, TrialError> {
        let thread = "import threading; threading.Thread(target=fill).start()";
        for start in ["fill()", &format!("{thread}; {END_FIRST_THREAD}")] {
            let tried = self.with_little_memory(&format!(
                "exec python3 -c 'import ctypes, mmap, os, time\n\
                 def fill():\n\
                 \x20   x = mmap.mmap(-1, {MUCH_SHARED} << 20)\n\
                 \x20   for _ in range({MUCH_SHARED}): x.write(bytes(1 << 20))\n\
                 \x20   time.sleep(1); print(\"kept\", flush=True); os._exit(0)\n\
                 print(\"ready\", flush=True)\n\
                 {start}'"
            ))?;
            let verdict = judge(&tried, tried.says("kept"), || {
                format!("{MUCH_SHARED} MiB of shared memory were kept")
            })?;
            if verdict != Verdict::Kept {
                return Ok(verdict);
            }
        }
        Ok(Verdict::Kept)
    }
}

/// Whether a program that said that it was ready met the limit.
fn judge(
    tried: &Tried,
    has_all: bool,
    what: impl FnOnce() -> String,
) -> Result<Verdict, TrialError> {
    if !tried.says("ready") || tried.outcome.timed_out {
        return Err(tried.fault().into());
    }
    if tried.outcome.ended.limits.contains(&Limit::Memory) {
        return Ok(Verdict::Kept);
    }
    if has_all { Ok(Verdict::Broken(what())) } else { Err(tried.fault().into()) }
}
