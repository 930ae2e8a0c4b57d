//! Programs that take what they can get: processes, memory, disk, output, time.

use std::fs;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use metier_workspace::RunOutput;
use metier_workspace::request::DenialKind;
use serde_json::json;

use crate::bench::Bench;

/// What a run may take beyond its time when everything in it ignores being asked to end: two seconds of
/// grace, and what it takes to kill.
const SLACK: Duration = Duration::from_secs(5);

/// Whether a run says that it met a limit.
fn met(output: &RunOutput, limit: &str) -> bool {
    output.denials.iter().any(|denial| denial.kind == DenialKind::Limit && denial.what == limit)
}

/// Whether a run met no limit. Refused system calls do not count: at level `landlock` every shell looks for a socket.
fn met_nothing(output: &RunOutput) -> bool {
    output.denials.iter().all(|denial| denial.kind != DenialKind::Limit)
}

/// Whether some process of this machine has a mark in its command line.
fn is_running(mark: &str) -> bool {
    fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok).any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.starts_with(mark.as_bytes())
    })
}

pub(super) fn fork_bomb(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    bench.settings.limits.processes = 40;
    bench.sh("true");
    let mark = format!("metier-bomb-{}-{}", bench.who, std::process::id());
    // Forks within bounds even if nobody stops it.
    let bomb = format!(
        "import os, time\nn = 0\nfor i in range(200):\n  try:\n    pid = os.fork()\n  \
         except OSError: break\n  if pid == 0:\n    os.setsid()\n    os.execv('/bin/bash', ['{mark}', '-c', 'sleep 60'])\n  \
         n += 1\nprint(n, flush=True)\ntime.sleep(60)"
    );
    let started = Instant::now();
    let output = bench.run(json!({
        "skill": "demo", "command": "python3 -c \"$BOMB\"", "env": {"BOMB": bomb}, "timeout": 2
    }))?;
    let forked: u32 = output.stdout.trim().parse()?;
    // Without a control group the kernel counts all processes of the user, and those of others may end meanwhile.
    let others = if met(&output, "processes") { 0 } else { 60 };
    assert!(forked < 40 + others, "{forked} were started");
    assert!(started.elapsed() < Duration::from_secs(2) + SLACK, "{:?}", started.elapsed());
    assert!(!is_running(&mark), "a process was left");
    assert!(output.timed_out, "{output:?}");
    // Where there is no control group, the program is refused processes, which nobody else sees.
    assert!(met(&output, "processes") || !bench.who.is_engine(), "{output:?}");
    let after = bench.sh("echo fine");
    assert_eq!((after.stdout.as_str(), met_nothing(&after)), ("fine\n", true), "{after:?}");
    Ok(())
}

pub(super) fn memory_bomb(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    bench.settings.limits.memory = 128 << 20;
    let one = "echo so far; python3 -c 'x = bytearray(600 << 20); print(len(x))'";
    let growing =
        "echo so far; awk 'BEGIN { s = \"0123456789abcdef\"; while (1) s = s s }'; exit $?";
    for bomb in [one, growing, growing] {
        let output = bench.sh(bomb);
        assert_eq!(output.stdout, "so far\n", "{output:?}");
        assert!(output.exit_code != Some(0), "{output:?}");
        // Without a control group the program is refused memory, which nobody else sees.
        let was_refused = met_nothing(&output) && output.stderr.to_lowercase().contains("memory");
        assert!(met(&output, "memory") || was_refused, "{output:?}");
        // One that is merely killed met no limit.
        let killed = bench.sh("sh -c 'kill -9 $$'; exit $?");
        assert_eq!((killed.exit_code, met_nothing(&killed)), (Some(137), true), "{killed:?}");
    }
    Ok(())
}

/// A folder in memory is memory.
pub(super) fn memory_bomb_in_a_folder(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    bench.settings.limits.memory = 96 << 20;
    let output = bench.sh("echo so far; head -c 629145600 /dev/zero > /dev/shm/x && echo filled");
    let told = met(&output, "memory");
    // Without a control group the folder itself is bounded, at its own size.
    assert!(output.stdout == "so far\n" || !told, "{output:?}");
    assert_eq!(bench.sh("ls -A /dev/shm").stdout, "", "it is gone with the run");
    Ok(())
}

pub(super) fn disk_filling(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    bench.settings.limits.file_bytes = 1 << 20;
    let output = bench.sh(
        "head -c 9000000 /dev/zero > out/big; truncate -s 1000000000000 work/sparse; stat -c %s out/big",
    );
    assert_eq!(output.stdout, "1048576\n", "{output:?}");
    assert!(bench.workspace().join("out/big").metadata()?.len() <= 1 << 20);
    assert!(bench.workspace().join("work/sparse").metadata()?.len() <= 1 << 20);
    Ok(())
}

pub(super) fn disk_filling_with_many_files(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    bench.settings.limits.disk_bytes = 8 << 20;
    let output = bench.sh(
        "i=0; while [ $i -lt 600 ]; do i=$((i+1)); head -c 1000000 /dev/zero > out/$i; sleep 0.02; done; echo all",
    );
    assert!(!output.stdout.contains("all") && !output.timed_out, "{output:?}");
    assert!(output.denials.iter().any(|it| it.what.contains("disk")), "{output:?}");
    Ok(())
}

pub(super) fn filling_temporary_files(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    bench.settings.limits.temporary_bytes = 1 << 20;
    let output =
        bench.sh("for i in 1 2 3; do head -c 1000000 /dev/zero > /tmp/$i; done; du -sk /tmp");
    let used: u32 = output.stdout.split('\t').next().unwrap_or_default().parse()?;
    assert!((1..=1024).contains(&used), "{output:?}");
    Ok(())
}

/// The most memory this process has had, in KiB.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("it is there");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|it| it.trim().split(' ').next()?.parse().ok()).expect("a number")
}

pub(super) fn gigabyte_of_output(bench: &Bench) -> Result<(), Failed> {
    let before = peak_memory();
    let output = bench.sh("head -c 1000000000 /dev/zero | tr '\\0' x; echo; echo last");
    assert!(output.stdout.len() < 20 << 10, "{}", output.stdout.len());
    assert!(output.stdout.starts_with("xxx") && output.stdout.ends_with("\nlast\n"));
    assert!(output.stdout.contains("bytes left out"));
    assert!(output.warnings.iter().any(|it| it.contains("1000000006 bytes")), "{output:?}");
    let kept = bench.workspace().join("runs").join(&output.run).join("stdout").metadata()?.len();
    assert!(kept <= 64 << 20, "{kept}");
    let grown = peak_memory() - before;
    assert!(grown < 64 << 10, "{grown} KiB more");
    Ok(())
}

pub(super) fn child_that_ignores_the_end(bench: &Bench) -> Result<(), Failed> {
    bench.sh("true");
    for command in [
        "trap '' TERM INT HUP; echo so far; while :; do sleep 1; done",
        "echo so far; kill -STOP $$",
        "echo so far; exec 1>&- 2>&-; while :; do sleep 1; done",
        "echo so far; yes > /dev/null",
    ] {
        let started = Instant::now();
        let output = bench.run(json!({"skill": "demo", "command": command, "timeout": 0.4}))?;
        let elapsed = started.elapsed();
        assert!(elapsed < Duration::from_millis(400) + SLACK, "{command}: {elapsed:?}");
        assert!(output.timed_out && output.exit_code.is_none(), "{command}: {output:?}");
        assert_eq!(output.stdout, "so far\n", "{command}");
        assert!(output.duration_ms >= 400, "{command}: {}", output.duration_ms);
        assert!(met(&output, "time"), "{command}");
    }
    Ok(())
}

pub(super) fn child_that_forks_twice(bench: &Bench) -> Result<(), Failed> {
    bench.sh("true");
    let mark = format!("metier-grandchild-{}-{}", bench.who, std::process::id());
    let linger = format!("(setsid bash -c \"trap '' TERM; exec -a {mark} sleep 300\" &)");
    let started = Instant::now();
    let output = bench.sh(&format!("{linger}; sleep 0.2; echo done"));
    assert_eq!((output.stdout.as_str(), output.exit_code), ("done\n", Some(0)), "{output:?}");
    assert!(started.elapsed() < SLACK, "{:?}", started.elapsed());
    assert!(!is_running(&mark), "a process was left");
    let command = format!("{linger}; echo so far; sleep 300");
    let started = Instant::now();
    let output = bench.run(json!({"skill": "demo", "command": command, "timeout": 0.5}))?;
    assert!(started.elapsed() < Duration::from_millis(500) + SLACK, "{:?}", started.elapsed());
    assert_eq!((output.stdout.as_str(), output.timed_out), ("so far\n", true));
    assert!(!is_running(&mark), "a process was left");
    Ok(())
}
