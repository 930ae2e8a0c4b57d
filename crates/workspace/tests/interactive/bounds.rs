//! What sessions may take, and that nothing of them stays.

use std::fs;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use metier_workspace::interactive::{
    Entry, InteractiveError, InteractiveOptions, SessionStatus, StartOptions, Waiting,
};
use serde_json::json;

use crate::Promise;
use crate::bench::{Bench, Who};

pub(crate) const PROMISES: &[Promise] = &[
    ("all_polls_together_are_the_output", polled_while_it_prints),
    ("characters_are_not_split", split_characters),
    ("large_output_comes_in_parts", large_output),
    ("what_nobody_takes_is_dropped_and_said", dropped),
    ("time_is_limited", time_limit),
    ("sessions_are_limited", limited),
    ("ended_sessions_are_forgotten", forgotten),
    ("input_that_is_not_read_is_limited", unread_input),
    ("a_workspace_ends_its_sessions", end_all),
    ("a_start_that_nobody_waits_for_leaves_nothing", unawaited),
    ("a_runtime_that_goes_first_waits_for_nobody", runtime_first),
];

/// These count what the process has and run alone.
pub(crate) const COUNTED: &[Promise] = &[("nothing_is_left", nothing_is_left)];

fn polled_while_it_prints(bench: &Bench) -> Result<(), Failed> {
    let script = "import sys, time\nfor i in range(2000):\n  sys.stdout.write(f'{i} é😀' + ('\\n' if i % 3 else ' ')); sys.stdout.flush()\n  if i % 10 == 0: time.sleep(0.001)";
    let mut all = bench.start(&format!("python3 -c \"{script}\""));
    let brief = Waiting { time: Duration::from_millis(1), lines: 7 };
    for _ in 0..200 {
        let next = bench.wait(bench.interactive.poll(&all.session_id, brief))?;
        assert_eq!(next.offset, all.next_offset);
        let before = std::mem::replace(&mut all, next).output;
        all.output.insert_str(0, &before);
    }
    let all = bench.to_the_end(all);
    let expected: String =
        (0..2000).map(|i| format!("{i} é😀{}", if i % 3 == 0 { ' ' } else { '\n' })).collect();
    assert!(all.output == expected, "{}", all.output);
    assert_eq!(all.next_offset, expected.len() as u64);
    Ok(())
}

fn split_characters(bench: &Bench) -> Result<(), Failed> {
    let script = "import os, time\nfor b in 'é😀漢\\n'.encode():\n  os.write(1, bytes([b])); time.sleep(0.03)";
    let mut all = bench.start(&format!("python3 -c \"{script}\""));
    let brief = Waiting { time: Duration::from_millis(5), lines: 40 };
    while all.status == SessionStatus::Running {
        let mut next = bench.wait(bench.interactive.poll(&all.session_id, brief))?;
        next.output.insert_str(0, &all.output);
        all = next;
    }
    assert_eq!(all.output, "é😀漢\n");
    Ok(())
}

fn large_output(bench: &Bench) -> Result<(), Failed> {
    let ends = bench.start("seq 1 19000");
    assert_eq!((ends.output.lines().count(), ends.more), (40, true));
    let mut ends = bench.until(ends, |it| it.status == SessionStatus::Exited);
    let whole = Waiting { time: Duration::from_millis(400), lines: usize::MAX };
    while ends.more {
        let mut next = bench.wait(bench.interactive.poll(&ends.session_id, whole))?;
        assert!(next.output.len() <= 32 << 10);
        next.output.insert_str(0, &ends.output);
        ends = next;
    }
    let expected: String = (1..=19000).map(|i| format!("{i}\n")).collect();
    assert!(ends.output == expected);
    Ok(())
}

fn dropped(bench: &Bench) -> Result<(), Failed> {
    let options = InteractiveOptions { max_lines: 100, ..InteractiveOptions::default() };
    let bench = Bench::with(bench.who, options);
    let runs =
        bench.start("read x; seq 1 1000; head -c 6000000 /dev/zero | tr '\\0' x; echo; echo last");
    let id = runs.session_id;
    bench.submit(&id, "");
    while bench.interactive.list()[0].status == SessionStatus::Running {
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut last = bench.poll(&id);
    assert!(last.dropped_lines > 0, "{last:?}");
    let (first, next) = (last.offset, last.next_offset);
    assert!(first > 1000 && next > first, "{first} {next}");
    let mut taken = 0;
    while last.more {
        last = bench.poll(&id);
        taken += last.output.len();
    }
    assert!(taken < 5 << 20, "{taken}");
    assert!(last.output.ends_with("x\nlast\n"));
    let result = last.result.ok_or("a result")?;
    assert!(result.stdout_ref.is_some(), "{result:?}");
    Ok(())
}

fn time_limit(bench: &Bench) -> Result<(), Failed> {
    let request = json!({"skill": "demo", "command": "read -p 'Name: ' x", "timeout": 1.0});
    let asks = bench.to_the_prompt(bench.try_start(request, StartOptions::default())?);
    let ends = bench.to_the_end(asks);
    let result = ends.result.ok_or("a result")?;
    assert!(result.timed_out && !result.cancelled, "{result:?}");
    assert!((1000..4000).contains(&result.duration_ms), "{result:?}");
    assert_eq!(result.denials[0].what, "time");
    Ok(())
}

fn limited(bench: &Bench) -> Result<(), Failed> {
    let options = InteractiveOptions { max_sessions: 2, ..InteractiveOptions::default() };
    let bench = Bench::with(bench.who, options);
    let request = json!({"skill": "demo", "command": "read x"});
    let hurry = Waiting { time: Duration::ZERO, lines: 1 };
    let hurried = StartOptions { waiting: hurry, ..StartOptions::default() };
    let first = bench.try_start(request.clone(), hurried)?;
    bench.try_start(request.clone(), hurried)?;
    let error = bench.try_start(request.clone(), hurried).expect_err("it is refused");
    assert!(matches!(error, InteractiveError::TooMany(2)), "{error}");
    bench.to_the_end(bench.submit(&first.session_id, ""));
    let third = bench.try_start(request, hurried)?;
    let ids: Vec<String> = bench.interactive.list().into_iter().map(|it| it.session_id).collect();
    assert!(ids.len() == 2 && ids.contains(&third.session_id) && !ids.contains(&first.session_id));
    Ok(())
}

fn forgotten(bench: &Bench) -> Result<(), Failed> {
    let retention = Duration::from_millis(300);
    let bench = Bench::with(bench.who, InteractiveOptions { retention, ..Default::default() });
    let ends = bench.to_the_end(bench.start("echo hi"));
    assert_eq!(bench.interactive.list().len(), 1);
    std::thread::sleep(retention * 3);
    assert_eq!(bench.interactive.list().len(), 0);
    let gone = bench.wait(bench.interactive.poll(&ends.session_id, Waiting::NEXT));
    assert!(matches!(gone, Err(InteractiveError::Unknown(_))));
    Ok(())
}

fn unread_input(bench: &Bench) -> Result<(), Failed> {
    let runs = bench.start_on_pipes("echo on; sleep 60");
    let entry = Entry { chars: &"x".repeat(600 << 10), submit: true };
    let hurry = Waiting { time: Duration::ZERO, lines: 1 };
    bench.wait(bench.interactive.write(&runs.session_id, entry, hurry))?;
    let error = bench
        .wait(bench.interactive.write(&runs.session_id, entry, hurry))
        .expect_err("it is refused");
    assert!(error.to_string().contains("does not read its input"), "{error}");
    Ok(())
}

fn end_all(bench: &Bench) -> Result<(), Failed> {
    let mark = mark(bench);
    let runs =
        bench.start(&format!("trap '' TERM HUP; sleep {mark} & echo on; wait; sleep {mark}"));
    assert_eq!(runs.output, "on\n");
    assert!(is_running(&mark));
    let mut other = Bench::key();
    other.session = "other".to_owned();
    bench.interactive.end_all(&other);
    assert_eq!(bench.interactive.list().len(), 1);
    bench.interactive.end_all(&Bench::key());
    assert_eq!(bench.interactive.list().len(), 0);
    assert_gone(&mark);
    Ok(())
}

fn unawaited(bench: &Bench) -> Result<(), Failed> {
    let mark = mark(bench);
    let request = json!({"skill": "demo", "command": format!("sleep {mark}")});
    let starting =
        bench.interactive.start(&bench.runner, bench.order(request), StartOptions::default());
    let given_up =
        bench.wait(async { tokio::time::timeout(Duration::from_millis(300), starting).await });
    assert!(given_up.is_err());
    assert_eq!(bench.interactive.list().len(), 0);
    assert_gone(&mark);
    Ok(())
}

fn runtime_first(bench: &Bench) -> Result<(), Failed> {
    let bench = Bench::new(bench.who);
    let mark = mark(&bench);
    bench.start(&format!("trap '' TERM HUP; echo on:; sleep {mark}; sleep {mark}"));
    assert!(is_running(&mark));
    let Bench { interactive, runtime, .. } = bench;
    let began = Instant::now();
    drop(runtime);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert!(!is_running(&mark));
    drop(interactive);
    Ok(())
}

fn nothing_is_left(bench: &Bench) -> Result<(), Failed> {
    // Whatever is made once is made now.
    let Bench { who, .. } = *bench;
    hold_sessions(who)?;
    let before = counted()?;
    for _ in 0..3 {
        hold_sessions(who)?;
    }
    let deadline = Instant::now() + Duration::from_secs(5);
    while counted()? != before && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(counted()?, before);
    Ok(())
}

/// Sessions that end by themselves, are killed, and run when the registry goes.
fn hold_sessions(who: Who) -> Result<(), Failed> {
    let bench = Bench::new(who);
    let mark = mark(&bench);
    for _ in 0..2 {
        bench.to_the_end(bench.start("echo hi"));
        let killed = bench.start("read -p 'Name: ' x");
        bench.wait(bench.interactive.kill(&killed.session_id))?;
        bench.start(&format!("trap '' TERM HUP; echo on:; sleep {mark}; sleep {mark}"));
        bench.start_on_pipes(&format!("echo on:; sleep {mark}"));
    }
    assert!(is_running(&mark));
    let Bench { root, interactive, runtime, .. } = bench;
    let began = Instant::now();
    drop(interactive);
    assert_gone(&mark);
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    drop((runtime, root));
    Ok(())
}

/// Open files, threads and children of this process.
fn counted() -> Result<(usize, usize, usize), Failed> {
    let files = fs::read_dir("/proc/self/fd")?.count();
    let mut children = 0;
    for thread in fs::read_dir("/proc/self/task")? {
        let list = thread?.path().join("children");
        children += fs::read_to_string(list).unwrap_or_default().split_whitespace().count();
    }
    Ok((files, fs::read_dir("/proc/self/task")?.count(), children))
}

/// A number of seconds that nobody else sleeps.
fn mark(bench: &Bench) -> String {
    let name = bench.root.path().as_os_str().as_encoded_bytes();
    let sum = name.iter().fold(0_u64, |sum, byte| (sum * 31 + u64::from(*byte)) % 1_000_000_007);
    format!("1000.{sum:010}")
}

fn is_running(mark: &str) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut lines = processes.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    let wanted = format!("sleep\0{mark}");
    lines.any(|line| line.windows(wanted.len()).any(|part| part == wanted.as_bytes()))
}

fn assert_gone(mark: &str) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while is_running(mark) {
        assert!(Instant::now() < deadline, "it still runs");
        std::thread::sleep(Duration::from_millis(10));
    }
}
