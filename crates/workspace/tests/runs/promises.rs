//! What every executor does for those who mean well.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use metier_sandbox::Cancel;
use serde_json::json;

use crate::Promise;
use crate::bench::Bench;

pub(crate) const PROMISES: &[Promise] = &[
    ("exit_codes_and_signals_are_told", exit_codes_and_signals),
    ("a_run_ends_in_time_though_a_grandchild_holds_the_pipe", lingering_grandchild),
    ("a_program_that_ignores_the_end_is_killed", ignored_end),
    ("a_program_can_say_goodbye", goodbye),
    ("a_cancelled_run_ends_at_once", cancelled),
    ("what_a_command_left_running_is_ended", left_running),
    ("input_is_given_whole_and_ends", input),
    ("a_program_that_closed_its_output_is_waited_for", closed_output),
    ("large_output_is_cut_and_kept", large_output),
    ("a_directory_is_where_it_was_said_to_be", directory),
    ("variables_are_as_given", variables),
    ("files_of_the_run_are_brought_in_and_collected", run_files),
    ("a_thousand_files_are_collected", thousand_files),
    ("a_skill_is_staged_once", staged_once),
    ("runs_of_a_session_can_overlap", overlapping),
];

/// What a run may take beyond its time.
const SLACK: Duration = Duration::from_secs(3);

fn exit_codes_and_signals(bench: &Bench) -> Result<(), Failed> {
    assert_eq!(bench.sh("exit 7").exit_code, Some(7));
    assert_eq!(bench.sh("no-such-program").exit_code, Some(127));
    let killed = bench.sh("kill -9 $$");
    let seen = (killed.exit_code, killed.signal);
    let expected = if bench.who.is_engine() { (Some(137), None) } else { (None, Some(9)) };
    assert_eq!(seen, expected, "{killed:?}");
    assert!(killed.denials.is_empty(), "{killed:?}");
    Ok(())
}

fn lingering_grandchild(bench: &Bench) -> Result<(), Failed> {
    bench.sh("true");
    let command = "sleep 100 & (sleep 100 &) ; echo started; sleep 100";
    let start = Instant::now();
    let output = bench.run(json!({"skill": "demo", "command": command, "timeout": 1}))?;
    assert!(start.elapsed() < Duration::from_secs(1) + SLACK, "{:?}", start.elapsed());
    assert!(output.timed_out, "{output:?}");
    assert_eq!(output.stdout, "started\n");
    assert_eq!(output.exit_code, None, "{output:?}");
    assert!((1000..4000).contains(&output.duration_ms), "{output:?}");
    assert_eq!(output.denials.iter().map(|it| it.what.as_str()).collect::<Vec<_>>(), ["time"]);
    Ok(())
}

fn ignored_end(bench: &Bench) -> Result<(), Failed> {
    bench.sh("true");
    let command = "trap '' TERM; echo on; while :; do sleep 0.2; done";
    let start = Instant::now();
    let output = bench.run(json!({"skill": "demo", "command": command, "timeout": 0.5}))?;
    assert!(start.elapsed() < Duration::from_millis(500) + SLACK, "{:?}", start.elapsed());
    assert_eq!((output.timed_out, output.stdout.as_str()), (true, "on\n"));
    assert_eq!((output.exit_code, output.signal), (None, Some(9)), "{output:?}");
    Ok(())
}

fn goodbye(bench: &Bench) -> Result<(), Failed> {
    let command = "trap 'echo bye; exit 3' TERM; echo on; while :; do sleep 0.1; done";
    let output = bench.run(json!({"skill": "demo", "command": command, "timeout": 1}))?;
    assert_eq!((output.timed_out, output.stdout.as_str()), (true, "on\nbye\n"));
    assert_eq!(output.exit_code, Some(3), "{output:?}");
    Ok(())
}

fn cancelled(bench: &Bench) -> Result<(), Failed> {
    bench.sh("true");
    let cancel = Cancel::new()?;
    let other = cancel.clone();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(700));
        other.cancel();
    });
    let start = Instant::now();
    let command = "echo on; sleep 7654.25 & sleep 100";
    let output = bench.run_until(json!({"skill": "demo", "command": command}), cancel)?;
    assert!(start.elapsed() < Duration::from_millis(700) + SLACK, "{:?}", start.elapsed());
    canceller.join().expect("it only cancels");
    assert_eq!((output.cancelled, output.timed_out), (true, false), "{output:?}");
    assert_eq!(output.stdout, "on\n");
    assert_eq!(running(bench, "7654.25"), 0);
    Ok(())
}

fn left_running(bench: &Bench) -> Result<(), Failed> {
    bench.sh("true");
    let start = Instant::now();
    let output = bench.sh("sleep 7654.75 & (setsid sleep 7654.75 &); echo done");
    assert!(start.elapsed() < SLACK, "{:?}", start.elapsed());
    assert_eq!((output.exit_code, output.stdout.as_str()), (Some(0), "done\n"), "{output:?}");
    assert!(!output.timed_out, "{output:?}");
    assert_eq!(running(bench, "7654.75"), 0);
    Ok(())
}

/// How many processes with an argument a run can see.
fn running(bench: &Bench, argument: &str) -> usize {
    let seen = bench.sh("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'; true");
    seen.stdout.lines().filter(|line| *line == argument).count()
}

fn input(bench: &Bench) -> Result<(), Failed> {
    let text = "one ' \" \\ two\n\tthree é\r\n$(exit)";
    let request =
        |command: &str, stdin: &str| json!({"skill": "demo", "command": command, "stdin": stdin});
    assert_eq!(bench.run(request("cat", text))?.stdout, text);
    let large = "0123456789abcdef\n".repeat(100_000);
    assert_eq!(bench.run(request("wc -c", &large))?.stdout.trim(), "1700000");
    // Not to want it is no error.
    assert_eq!(bench.run(request("exit 4", &large))?.exit_code, Some(4));
    let start = Instant::now();
    assert_eq!(bench.sh("cat; echo end").stdout, "end\n");
    assert!(start.elapsed() < Duration::from_secs(5));
    Ok(())
}

fn closed_output(bench: &Bench) -> Result<(), Failed> {
    let output = bench.sh("exec >/dev/null 2>&1; sleep 1; echo late > out/late; exit 5");
    assert_eq!(output.exit_code, Some(5), "{output:?}");
    assert!(output.duration_ms >= 1000, "{output:?}");
    assert_eq!(output.output_files[0].content.as_deref(), Some("late\n"));
    Ok(())
}

fn large_output(bench: &Bench) -> Result<(), Failed> {
    let output = bench.sh("head -c 50000000 /dev/zero | tr '\\0' x; echo end; echo error >&2");
    assert_eq!((output.exit_code, output.stderr.as_str()), (Some(0), "error\n"));
    assert!(output.stdout.len() < 20_000 && output.stdout.ends_with("xend\n"));
    let place = output.stdout_ref.as_deref().and_then(|it| it.strip_prefix("workspace://"));
    let kept = fs::metadata(bench.workspace().join(place.expect("a reference")))?;
    assert_eq!(kept.len(), 50_000_004);
    Ok(())
}

fn directory(bench: &Bench) -> Result<(), Failed> {
    bench.sh("mkdir -p \"work/it's a \\\"place\\\"\"");
    let inside = |cwd: &str| json!({"skill": "demo", "command": "pwd", "cwd": cwd});
    let place = "it's a \"place\"";
    let output = bench.run(inside(&format!("$WORK_DIR/{place}")))?;
    assert!(output.stdout.ends_with(&format!("/work/{place}\n")), "{output:?}");
    let output = bench.run(inside("scripts"))?;
    assert!(output.stdout.ends_with("/skills/demo/scripts\n"), "{output:?}");
    let output = bench.run(inside("$RUN_DIR"))?;
    assert!(output.stdout.trim_end().ends_with(&format!("/runs/{}/files", output.run)));
    for absent in ["nowhere", "$WORK_DIR/nowhere", "$SKILLS_DIR/nowhere"] {
        let error = bench.run(inside(absent)).expect_err("it is not there").to_string();
        assert!(error.contains("nowhere"), "{error}");
    }
    Ok(())
}

fn variables(bench: &Bench) -> Result<(), Failed> {
    let value = "a 'b' \"c\" $d `e` \\ \n f=g;é";
    let output = bench.run(json!({
        "skill": "demo",
        "env": {"GIVEN": value, "EMPTY": ""},
        "command": "printf '%s|%s|%s' \"$GIVEN\" \"${EMPTY-unset}\" \"$SKILL_NAME\""
    }))?;
    assert_eq!(output.stdout, format!("{value}||demo"));
    let all = bench.sh("env").stdout;
    let pairs = all.lines().filter_map(|line| line.split_once('='));
    let mut names: Vec<&str> = pairs.clone().map(|(name, _)| name).collect();
    // A shell sets these; engines say the next to all their containers, and images what they like, of which what may
    // not be set is empty.
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    if bench.who.is_engine() {
        assert!(pairs.clone().any(|pair| pair == ("IMAGE_SAYS", "hello")), "{all}");
        let from_elsewhere = ["HOSTNAME", "TERM", "container", "IMAGE_SAYS"];
        let emptied = ["BASH_ENV", "HTTPS_PROXY", "LD_PRELOAD"];
        assert!(emptied.iter().all(|name| pairs.clone().any(|pair| pair == (*name, ""))), "{all}");
        names.retain(|name| !from_elsewhere.contains(name) && !emptied.contains(name));
    }
    names.sort_unstable();
    let expected =
        "HOME LANG OUTPUT_DIR PATH RUN_DIR SKILLS_DIR SKILL_NAME TMPDIR WORKSPACE_DIR WORK_DIR";
    assert_eq!(names.join(" "), expected);
    // Whatever an image says about them.
    assert!(!all.contains("/nowhere"), "{all}");
    Ok(())
}

fn run_files(bench: &Bench) -> Result<(), Failed> {
    bench.sh("echo given > work/given.txt");
    for _ in 0..2 {
        let output = bench.run(json!({
            "skill": "demo",
            "inputs": [{"from": "workspace://work/given.txt", "to": "work/in.txt"}],
            "command": "cat work/in.txt > $RUN_DIR/made.txt; touch $TMPDIR/x && ls $RUN_DIR/..",
            "outputs": {"globs": ["$RUN_DIR/made.txt"], "inline": true}
        }))?;
        assert_eq!((output.exit_code, output.stderr.as_str()), (Some(0), ""));
        assert_eq!(output.output_files[0].content.as_deref(), Some("given\n"), "{output:?}");
        assert!(!bench.who.confines() || output.stdout == "files\n", "{output:?}");
    }
    Ok(())
}

fn thousand_files(bench: &Bench) -> Result<(), Failed> {
    let output = bench.run(json!({
        "skill": "demo",
        "command": "i=0; while [ $i -lt 1000 ]; do echo $i > out/$i; i=$((i+1)); done",
        "outputs": {"globs": ["out/**"], "inline": true, "max_files": 1000}
    }))?;
    assert_eq!((output.exit_code, output.output_files.len()), (Some(0), 1000));
    let right = |file: &metier_workspace::request::OutputFile| {
        let number = file.name.trim_start_matches("out/");
        file.content.as_deref() == Some(&format!("{number}\n"))
    };
    assert!(output.output_files.iter().all(right));
    Ok(())
}

fn staged_once(bench: &Bench) -> Result<(), Failed> {
    let staged = || {
        let entries = fs::read_dir(bench.path("state/content")).expect("a folder");
        let entries = entries.map(|entry| entry.expect("an entry"));
        let folders = entries.filter(|entry| entry.path().is_dir());
        let seen = folders.map(|entry| {
            let metadata = entry.path().join("SKILL.md").metadata().expect("a file");
            (entry.file_name(), metadata.ino(), metadata.ctime_nsec())
        });
        seen.collect::<Vec<_>>()
    };
    bench.sh("true");
    let first = staged();
    assert_eq!(first.len(), 1);
    assert_eq!(bench.sh("true").exit_code, Some(0));
    assert_eq!(staged(), first);
    bench.write("skills/demo/new.txt", "new\n");
    assert_eq!(bench.sh("cat new.txt").stdout, "new\n");
    Ok(())
}

fn overlapping(bench: &Bench) -> Result<(), Failed> {
    let outputs = std::thread::scope(|scope| {
        let run = |number: u32| bench.sh(&format!("sleep 0.3; echo {number}"));
        let threads = [0, 1, 2].map(|number| scope.spawn(move || run(number)));
        threads.map(|thread| thread.join().expect("a run"))
    });
    for (number, output) in outputs.iter().enumerate() {
        assert_eq!((output.exit_code, output.stdout.clone()), (Some(0), format!("{number}\n")));
    }
    Ok(())
}
