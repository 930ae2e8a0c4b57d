//! Limits: time, memory, processes, files.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use metier_sandbox::{Level, Limit};

use crate::bench::Bench;
use crate::keeper::shut_out;
use crate::{ALL, FULL, Promise};

pub(crate) const PROMISES: &[Promise] = &[
    ("time_is_bounded_whatever_a_program_ignores", time_is_bounded, ALL),
    ("processes_are_bounded", processes_are_bounded, ALL),
    ("a_file_is_bounded", a_file_is_bounded, ALL),
    ("the_temporary_folder_is_bounded", the_temporary_folder_is_bounded, FULL),
    ("processor_time_is_bounded", processor_time_is_bounded, ALL),
    ("a_group_that_cannot_be_joined_bounds_nothing", |level| shut_out("unjoined", level), ALL),
    ("processes_of_others_do_not_count", processes_of_others_do_not_count, ALL),
    ("the_disk_is_bounded", the_disk_is_bounded, ALL),
    ("files_in_closed_folders_count", what_is_hidden_counts, ALL),
    ("something_of_the_disk_is_left", something_of_the_disk_is_left, ALL),
    ("what_is_not_kept_does_not_count", what_is_not_kept_does_not_count, ALL),
];

/// A program that ignores requests to end, with a grandchild that holds its output open.
const STUBBORN: &str = "trap '' TERM; echo so far; (trap '' TERM; setsid sleep 60) & \
                        while :; do sleep 1; done";

fn time_is_bounded(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    bench.limits.wall = Duration::from_millis(300);
    let started = Instant::now();
    let tried = bench.sh(STUBBORN);
    assert!(started.elapsed() < Duration::from_millis(3300), "{:?}", started.elapsed());
    assert!(tried.outcome.timed_out && !tried.outcome.cancelled);
    assert!(tried.outcome.ended.limits.contains(&Limit::Wall));
    assert_eq!(tried.output, "so far\n");
    assert_eq!(tried.outcome.ended.signal, Some(9));
    Ok(())
}

fn processes_are_bounded(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    bench.limits.processes = 24;
    let count = "import subprocess, itertools
done = []
try:
    for _ in range(200): done.append(subprocess.Popen(['sleep', '30']))
except (BlockingIOError, OSError): pass
print(len(done), flush=True)";
    let job = bench.job(&format!("exec python3 -c \"{count}\""));
    let tried = bench.try_job(&job).map_err(|error| error.to_string())?;
    let started: u32 = tried.output.trim().parse()?;
    // Where the kernel counts by user, processes of other tests that end meanwhile make room.
    let most = if level == Level::Full { 24 } else { 100 };
    assert!(started < most, "{started} were started");
    Ok(())
}

fn a_file_is_bounded(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    bench.limits.file_bytes = 1 << 20;
    let tried = bench.sh("exec dd if=/dev/zero of=big bs=1M count=50 status=none");
    assert_eq!(bench.path("work/big").metadata()?.len(), 1 << 20);
    assert_eq!(tried.outcome.ended.limits, [Limit::FileSize]);
    Ok(())
}

fn the_temporary_folder_is_bounded(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    bench.limits.temporary_bytes = 1 << 20;
    let tried = bench.sh("dd if=/dev/zero of=/tmp/big bs=1M count=50 status=none; du -k /tmp/big");
    assert!(tried.output.starts_with("1024\t"), "{tried:?}");
    Ok(())
}

fn processor_time_is_bounded(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    bench.limits.cpu_seconds = 1;
    let tried = bench.sh("while :; do :; done");
    assert!(tried.outcome.duration < Duration::from_secs(10));
    assert!(tried.outcome.ended.signal.is_some(), "{tried:?}");
    assert!(!tried.outcome.timed_out);
    Ok(())
}

/// There is a group, and it does not let the program in.
pub(crate) fn an_unjoined_group_bounds_nothing(level: Level) {
    let mut bench = Bench::new(level);
    bench.limits.memory = 64 << 20;
    let tried = bench.sh("exec python3 -c 'x = bytearray(400 << 20)'");
    assert_eq!(tried.outcome.ended.limits, []);
    assert!(tried.error.contains("MemoryError"), "a process is bounded all the same: {tried:?}");
    let lacks = tried.outcome.not_promised;
    assert!(lacks.contains(&"an exact bound on memory"), "{lacks:?}");
}

fn processes_of_others_do_not_count(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    bench.limits.processes = 24;
    let mut others = Vec::new();
    for _ in 0..40 {
        #[expect(clippy::disallowed_methods, reason = "somebody else's program")]
        others.push(std::process::Command::new("sleep").arg("60").spawn()?);
    }
    let tried = bench.sh("true | cat; /bin/true && echo started");
    for mut other in others {
        other.kill()?;
        other.wait()?;
    }
    assert_eq!(tried.output, "started\n", "{tried:?}");
    Ok(())
}

/// Ends a program that writes until somebody does; gives what it left, in mebibytes.
fn fill_disk(bench: &mut Bench, script: &str) -> Result<u64, Failed> {
    let tried = bench.sh(script);
    assert_eq!(tried.outcome.ended.limits, [Limit::Disk], "{tried:?}");
    assert!(!tried.outcome.timed_out && !tried.outcome.cancelled, "{tried:?}");
    assert_eq!(tried.outcome.ended.signal, Some(9));
    let folder = bench.path("work");
    #[expect(clippy::disallowed_methods, reason = "somebody else's program")]
    let left = std::process::Command::new("du").arg("-sm").arg(folder).output()?.stdout;
    let left = String::from_utf8(left)?;
    Ok(left.split_whitespace().next().ok_or("a number")?.parse()?)
}

fn the_disk_is_bounded(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    bench.limits.disk_bytes = 8 << 20;
    let left = fill_disk(
        &mut bench,
        "trap '' TERM; mkdir -p a/b; i=0; while :; do i=$((i+1)); \
         head -c 200000 /dev/zero > a/b/$i; sleep 0.01; done",
    )?;
    assert!((8..200).contains(&left), "{left} MiB");
    Ok(())
}

/// Nobody can look into a folder that is closed, so what the disk says counts.
fn what_is_hidden_counts(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    bench.limits.disk_bytes = 8 << 20;
    let tried = bench.python(
        "import os, time\n\
         os.mkdir('closed'); folder = os.open('closed', 0); os.chmod('closed', 0)\n\
         for number in range(10000):\n\
         \x20   try:\n\
         \x20       os.chmod('closed', 0o700)\n\
         \x20       with open(f'closed/{number}', 'wb') as file:\n\
         \x20           os.chmod('closed', 0)\n\
         \x20           file.write(bytes(200000))\n\
         \x20   except OSError: pass\n\
         \x20   time.sleep(0.01)",
    );
    assert_eq!(tried.outcome.ended.limits, [Limit::Disk], "{tried:?}");
    Ok(())
}

/// Files that were removed cannot be counted; the last of the disk stays free all the same.
fn something_of_the_disk_is_left(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    let state = rustix::fs::statvfs(bench.path("work"))?;
    bench.limits.disk_left = (state.f_bavail * state.f_frsize).saturating_sub(64 << 20);
    let tried = bench.python(
        "import os, time\n\
         while True:\n\
         \x20   file = os.open('file', os.O_CREAT | os.O_WRONLY); os.unlink('file')\n\
         \x20   for _ in range(500): os.write(file, bytes(1 << 20)); time.sleep(0.005)",
    );
    assert_eq!(tried.outcome.ended.limits, [Limit::Disk], "{tried:?}");
    Ok(())
}

/// What was there before, and what is written and removed again, is not too much.
fn what_is_not_kept_does_not_count(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    bench.limits.disk_bytes = 8 << 20;
    fs::write(bench.path("work/old"), vec![1; 16 << 20])?;
    thread::sleep(Duration::from_millis(50));
    let tried = bench.sh("for i in 1 2 3 4 5 6 7 8 9 10; do \
         head -c 3000000 /dev/zero > new; sleep 0.1; rm new; done; echo done");
    assert_eq!((tried.output.as_str(), &*tried.outcome.ended.limits), ("done\n", &[][..]));
    Ok(())
}
