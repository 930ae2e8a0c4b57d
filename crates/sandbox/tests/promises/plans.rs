//! Plans: programs without a shell do what they would do in one.

use std::fs;
use std::thread;
use std::time::Duration;

use libtest_mimic::Failed;
use metier_sandbox::{Cancel, Level, Walk, run};

use crate::bench::{Bench, Text, Tried, arguments};
use crate::processes::{is_gone, is_there, mark};
use crate::{ALL, Promise};

pub(crate) const PROMISES: &[Promise] = &[
    ("a_pipeline_flows_and_ends", a_pipeline, ALL),
    ("two_hundred_programs_make_a_pipeline", two_hundred, ALL),
    ("steps_are_joined_as_in_a_shell", joined, ALL),
    ("a_step_without_programs_succeeds", no_programs, ALL),
    ("redirections_are_done_in_their_order", redirections, ALL),
    ("statuses_are_those_of_a_shell", statuses, ALL),
    ("programs_that_cannot_be_started_are_told", not_started, ALL),
    ("what_the_kernel_does_not_know_is_not_given_to_a_shell", unknown_format, ALL),
    ("names_variables_and_folders_are_as_planned", surroundings, ALL),
    ("input_goes_to_the_first_program_of_each_step", input, ALL),
    ("programs_of_a_plan_inherit_nothing", inherit_nothing, ALL),
    ("a_plan_that_is_none_does_not_begin", no_plan, ALL),
    ("time_ends_every_program_of_a_pipeline", time, ALL),
    ("cancelling_a_plan_leaves_no_process", cancelling, ALL),
    ("a_plan_that_was_asked_to_end_goes_no_further", goodbye, ALL),
    ("the_walker_is_asked_to_end_before_its_programs", asked_first, ALL),
    ("what_a_program_of_a_plan_left_running_is_ended", left_running, ALL),
];

/// What can be compared with a shell.
fn seen(tried: &Tried) -> (Option<i32>, Option<i32>, &str, &str) {
    let ended = &tried.outcome.ended;
    (ended.code, ended.signal, &tried.output, &tried.error)
}

/// Runs a text as a plan and in a shell.
fn alike(bench: &Bench, text: &str) {
    let (walked, mut shell) = (bench.walk(text), bench.bash(text));
    if shell.error.contains("Killed") {
        // It says so, unlike a walker.
        shell.error.clear();
    }
    assert_eq!(seen(&walked), seen(&shell), "{text}");
    assert_eq!(walked.outcome.ended.changed, None, "{text}");
}

fn a_pipeline(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let tried = bench.walk("yes | head -1");
    assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("y\n", Some(0)));
    for text in
        ["echo abc | tr b x | cat | rev", "false | true", "true | false", "seq 9999 | wc -l"]
    {
        alike(&bench, text);
    }
    Ok(())
}

fn two_hundred(level: Level) -> Result<(), Failed> {
    let text = format!("echo through {}", "| cat ".repeat(199));
    let mut bench = Bench::new(level);
    // Where there is no control group, other programs of the user count too.
    bench.limits.processes = 2000;
    let tried = bench.walk(&text);
    assert_eq!(seen(&tried), (Some(0), None, "through\n", ""));
    Ok(())
}

/// Numbers that are the same each time.
struct Dice(u64);

impl Dice {
    fn one_of<'a>(&mut self, things: &[&'a str]) -> &'a str {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        things[usize::try_from(self.0 >> 33).expect("a few bits") % things.len()]
    }
}

fn joined(level: Level) -> Result<(), Failed> {
    const JOINTS: [&str; 3] = [";", "&&", "||"];
    const PROGRAMS: [&str; 8] = [
        "true",
        "false",
        "echo said",
        "grep -c x /dev/null",
        "true | false",
        "false | echo last",
        "expr 1 + 1",
        "expr 1 - 1",
    ];
    let bench = Bench::new(level);
    let mut dice = Dice(5);
    for _ in 0..40 {
        let mut text = dice.one_of(&PROGRAMS).to_owned();
        while text.len() < 100 && dice.one_of(&["on", "on", "on", "enough"]) == "on" {
            text = format!("{text} {} {}", dice.one_of(&JOINTS), dice.one_of(&PROGRAMS));
        }
        alike(&bench, &text);
    }
    Ok(())
}

fn no_programs(level: Level) -> Result<(), Failed> {
    const JOINTS: [&str; 3] = [";", "&&", "||"];
    let bench = Bench::new(level);
    alike(&bench, "cd .");
    for first in ["true", "false", "sh -c 'exit 7'", "cd ."] {
        for joint in JOINTS {
            alike(&bench, &format!("{first} {joint} cd ."));
            for next in JOINTS {
                alike(&bench, &format!("{first} {joint} cd . {next} echo reached"));
            }
        }
    }
    Ok(())
}

fn redirections(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let file = bench.path("work/file");
    let both = "sh -c 'echo out; echo err >&2'";
    for text in [
        format!("{both} 2>&1 >file"),
        format!("{both} >file 2>&1"),
        format!("{both} >file ; {both} >>file 2>>file ; cat <file"),
        format!("{both} 2>/dev/null | tr a-z A-Z"),
        format!("{both} 2>&1 | sort"),
        format!("{both} >&2 2>/dev/null"),
        format!("{both} >file | wc -c"),
        "cat </dev/null ; echo x >file && cat <file".to_owned(),
        "echo shorter >file".to_owned(),
    ] {
        let mut contents = Vec::new();
        for run in [Bench::walk, Bench::bash] {
            fs::write(&file, "before\n")?;
            fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o666))?;
            let tried = run(&bench, &text);
            let ended = tried.outcome.ended;
            contents.push((fs::read_to_string(&file)?, tried.output, tried.error, ended.code));
        }
        assert_eq!(contents[0], contents[1], "{text}");
    }
    let tried = bench.walk("echo lost >folder/file ; echo next");
    assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("next\n", Some(0)));
    let path = bench.work().join("folder/file");
    let expected = format!("metier: `{}` cannot be opened: No such file", path.display());
    assert!(tried.error.starts_with(&expected), "{tried:?}");
    assert_eq!(bench.walk("echo lost >folder/file").outcome.ended.code, Some(1));
    Ok(())
}

fn statuses(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let died = "sh -c 'kill -9 $$'";
    for text in [
        "sh -c 'exit 7'".to_owned(),
        "sh -c 'exit 126'".to_owned(),
        "sh -c 'exit 255' && echo no".to_owned(),
        died.to_owned(),
        format!("{died} >/dev/null"),
        format!("{died} | {died}"),
        format!("true | {died} | true"),
        "sh -c 'kill -INT $$' || sh -c 'exit 9'".to_owned(),
    ] {
        alike(&bench, &text);
    }
    assert_eq!(bench.walk(&format!("true | {died}")).outcome.ended.code, Some(137));
    assert_eq!(bench.walk(died).outcome.ended.signal, Some(9));
    Ok(())
}

fn not_started(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let tried = bench.walk("no-such-program || echo on");
    let line = "metier: `/usr/bin/no-such-program` cannot be started: No such file";
    assert!(tried.error.starts_with(line), "{tried:?}");
    assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("on\n", Some(0)));
    assert_eq!(bench.walk("no-such-program").outcome.ended.code, Some(127));
    assert_eq!(bench.walk("echo x | no-such-program").outcome.ended.code, Some(127));
    let tried = bench.walk("no-such-program | cat");
    assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("", Some(0)));
    fs::write(bench.path("work/plain"), "#!/bin/sh\n")?;
    assert_eq!(bench.walk("./plain ; ./plain").outcome.ended.code, Some(126));
    Ok(())
}

fn unknown_format(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    bench.script("unknown", "echo run by a shell\n");
    for text in ["./unknown", "./unknown ; false | ./unknown"] {
        let tried = bench.walk(text);
        assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("", Some(126)));
        assert!(tried.error.contains("cannot be started: Exec format error"), "{tried:?}");
    }
    Ok(())
}

fn surroundings(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    bench.script("named", "#!/bin/sh\nprintf '%s|%s\\n' \"$0\" \"$*\"\n");
    let tried = bench.walk("./named 'a  b' ; ./named | cat");
    let name = bench.work().join("named").display().to_string();
    assert_eq!(tried.output, format!("{name}|a  b\n{name}|\n"), "{tried:?}");
    fs::create_dir(bench.path("work/folder"))?;
    let mut walk = bench.plan("sh -c 'echo $0 $A $B; pwd' ; sh -c 'echo $0 $A $B; pwd' | cat");
    let first = &mut walk.steps[0].programs[0];
    first.arguments[0] = "odd name".into();
    first.directory = bench.work().join("folder");
    first.environment = [("A", "1"), ("B", "2"), ("A", "3")]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
    let mut job = bench.job_of(walk);
    job.program.environment.push(("A".into(), "0".into()));
    let tried = bench.try_job(&job).map_err(|error| error.to_string())?;
    let (folder, work) = (bench.work().join("folder"), bench.work());
    let expected = format!("odd name 3 2\n{}\nsh 0\n{}\n", folder.display(), work.display());
    assert_eq!(tried.output, expected, "{tried:?}");
    Ok(())
}

fn input(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let lines: String = (0..100_000).map(|number| format!("{number}\n")).collect();
    let tried = bench.walk_with("cat | wc -l", lines.as_bytes());
    assert_eq!(tried.output.trim(), "100000", "{tried:?}");
    let reads = "sh -c 'read line; echo $line'";
    let tried = bench.walk_with(&format!("{reads} ; {reads} | rev ; cat"), b"one\ntwo\nthree\n");
    assert_eq!(tried.output, "one\nowt\nthree\n", "{tried:?}");
    let tried = bench.walk_with("head -c 3 ; true", lines.as_bytes());
    assert_eq!(tried.output, "0\n1", "{tried:?}");
    Ok(())
}

fn inherit_nothing(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let look = "sh -c 'cd /proc/self/fd && echo *'";
    let shell = bench.walk(look).output;
    let tried = bench.walk(&format!("{look} ; true | {look} | cat ; {look} 2>&1"));
    assert_eq!(tried.output, shell.repeat(3), "{tried:?}");
    let look = "cat /proc/self/status";
    let mut job = bench.job("");
    job.program.command = arguments(look.split(' '));
    let directly = bench.try_job(&job).map_err(|error| error.to_string())?.output;
    let tried = bench.walk(&format!("{look} ; true | {look} | cat ; {look}"));
    assert_eq!(signals(&tried.output), signals(&directly).repeat(3), "{tried:?}");
    Ok(())
}

/// Which signals are blocked, ignored and caught.
fn signals(status: &str) -> Vec<&str> {
    let names = ["SigBlk:", "SigIgn:", "SigCgt:"];
    status.lines().filter(|line| names.iter().any(|name| line.starts_with(name))).collect()
}

fn no_plan(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let also = |change: fn(&mut Walk)| {
        let mut walk = bench.plan("touch made ; touch made");
        change(&mut walk);
        walk
    };
    for walk in [
        Walk { steps: Vec::new() },
        also(|walk| walk.steps[1].programs[0].executable = "touch".into()),
        also(|walk| walk.steps[1].programs[0].directory = "work".into()),
        also(|walk| walk.steps[1].programs[0].arguments.clear()),
        also(|walk| walk.steps[1].programs[0].arguments.push("a\0b".into())),
        also(|walk| walk.steps[1].programs[0].environment.push(("A".into(), "\0".into()))),
    ] {
        let error = bench.try_walk(walk).expect_err("it is no plan").to_string();
        assert!(error.contains("cannot be started: Invalid argument"), "{error}");
    }
    assert!(!bench.path("work/made").exists());
    Ok(())
}

/// A pipeline of programs that can be found by their names, and that do not end.
fn lingering(bench: &Bench, marks: &[String]) -> Walk {
    let mut walk = bench.plan("echo so far ; sleep 300 | sleep 300 | sleep 300 ; echo after");
    for (program, mark) in walk.steps[1].programs.iter_mut().zip(marks) {
        program.arguments[0] = mark.into();
    }
    walk
}

fn marks(level: Level, test: &str) -> Vec<String> {
    (0..3).map(|number| mark(level, &format!("{test}{number}"))).collect()
}

fn time(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    bench.limits.wall = Duration::from_millis(700);
    let marks = marks(level, "late");
    let tried = bench.try_walk(lingering(&bench, &marks)).map_err(|error| error.to_string())?;
    assert!(tried.outcome.timed_out, "{tried:?}");
    assert_eq!(tried.output, "so far\n");
    assert!(tried.outcome.duration < Duration::from_secs(5), "{tried:?}");
    assert!(marks.iter().all(|mark| is_gone(mark)), "a program was left");
    Ok(())
}

fn cancelling(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let marks = marks(level, "called-off");
    let cancel = Cancel::new()?;
    let (mut text, job) = (Text::default(), bench.job_of(lingering(&bench, &marks)));
    let outcome = thread::scope(|scope| {
        scope.spawn(|| {
            let are_there = marks.iter().all(|mark| is_there(mark));
            cancel.cancel();
            assert!(are_there, "they were never started");
        });
        run(&job, b"", &mut text, &cancel)
    });
    let outcome = outcome.map_err(|error| error.to_string())?;
    assert!(outcome.cancelled && !outcome.timed_out, "{outcome:?}");
    assert_eq!(text.output, b"so far\n");
    assert!(marks.iter().all(|mark| is_gone(mark)), "a program was left");
    Ok(())
}

fn goodbye(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    bench.limits.wall = Duration::from_secs(1);
    let polite = "sh -c 'trap \"echo bye; exit 3\" TERM; echo on; while :; do sleep 0.1; done'";
    let tried = bench.walk(&format!("{polite} || echo after ; echo later"));
    assert!(tried.outcome.timed_out, "{tried:?}");
    assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("on\nbye\n", Some(3)));
    Ok(())
}

fn asked_first(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    bench.limits.wall = Duration::from_millis(150);
    for _ in 0..8 {
        let tried = bench.walk("sleep 300 ; echo after");
        assert!(tried.outcome.timed_out, "{tried:?}");
        assert_eq!(tried.output, "");
    }
    Ok(())
}

fn left_running(level: Level) -> Result<(), Failed> {
    let mark = mark(level, "planned");
    let text = format!(
        "bash -c 'bash -c \"exec -a {mark} sleep 300\" >/dev/null 2>&1 &' ; echo next | cat ; true"
    );
    let tried = Bench::new(level).walk(&text);
    assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("next\n", Some(0)));
    assert!(tried.outcome.duration < Duration::from_secs(3), "{tried:?}");
    assert!(is_gone(&mark), "a process was left");
    Ok(())
}
