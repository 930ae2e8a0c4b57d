//! What was approved is what runs: others change it in between, and do not get away with it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use metier_sandbox::{Level, Walk, WritePin};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, openat};

use crate::bench::{Bench, Tried};
use crate::processes::{is_gone, is_there, mark};
use crate::{ALL, Promise};

pub(crate) const PROMISES: &[Promise] = &[
    ("what_is_as_it_was_runs", unchanged, ALL),
    ("an_executable_that_was_replaced_does_not_run", replaced, ALL),
    ("an_executable_that_was_rewritten_does_not_run", rewritten, ALL),
    ("a_script_that_an_earlier_step_changed_does_not_run", changed_by_a_step, ALL),
    ("a_link_to_the_executable_does_not_do", linked, ALL),
    ("a_folder_that_became_a_link_is_not_entered", folder_became_a_link, ALL),
    ("a_folder_that_was_replaced_is_not_entered", folder_replaced, ALL),
    ("a_redirection_follows_no_link", redirected, ALL),
    ("a_folder_that_is_written_to_is_pinned", written_folder, ALL),
    ("a_pin_is_looked_at_again_right_before_the_program", looked_at_again, ALL),
    ("a_pipe_in_the_file_system_holds_nobody_for_ever", no_one_reads, ALL),
];

/// A bench with a program in a folder, and a plan that runs it among others, pinned.
fn pinned(level: Level, text: &str) -> (Bench, Walk) {
    let bench = Bench::new(level);
    fs::create_dir(bench.path("work/folder")).expect("a folder");
    bench.script("folder/tool", "#!/bin/sh\necho approved\n");
    let mut walk = bench.plan(text);
    let programs = walk.steps.iter_mut().flat_map(|step| &mut step.programs);
    for program in programs.filter(|it| it.executable.ends_with("tool")) {
        program.directory = bench.work().join("folder");
        program.pins = vec![bench.pin("folder/tool"), bench.pin("folder")];
    }
    (bench, walk)
}

fn refuses(bench: &Bench, walk: Walk, changed: &str, output: &str) -> Tried {
    let tried = bench.try_walk(walk).expect("it starts");
    let path = bench.work().join(changed);
    let ended = &tried.outcome.ended;
    assert_eq!((ended.code, ended.changed.as_ref()), (Some(126), Some(&path)), "{tried:?}");
    assert_eq!(tried.output, output, "{tried:?}");
    let line = format!("metier: `{}` changed since it was approved\n", path.display());
    assert!(tried.error.contains(&line), "{tried:?}");
    tried
}

const PLANS: [&str; 4] = [
    "./folder/tool",
    "./folder/tool ; echo after",
    "echo x | ./folder/tool | cat",
    "./folder/tool 2>/dev/null >/dev/null || echo after",
];

fn unchanged(level: Level) -> Result<(), Failed> {
    for (text, output) in
        PLANS.into_iter().zip(["approved\n", "approved\nafter\n", "approved\n", ""])
    {
        let (bench, walk) = pinned(level, text);
        fs::write(bench.path("work/folder/other"), "a folder may change inside")?;
        let tried = bench.try_walk(walk).map_err(|error| error.to_string())?;
        assert_eq!((tried.output.as_str(), tried.outcome.ended.code), (output, Some(0)));
        assert_eq!(tried.outcome.ended.changed, None);
    }
    let (bench, walk) = pinned(level, "./folder/tool");
    bench.script("folder/tool", "#!/bin/sh\nexit 126\n");
    let mut walk = walk;
    walk.steps[0].programs[0].pins = vec![bench.pin("folder/tool")];
    let ended = bench.try_walk(walk).map_err(|error| error.to_string())?.outcome.ended;
    assert_eq!((ended.code, ended.changed), (Some(126), None), "a code is no refusal");
    Ok(())
}

fn replaced(level: Level) -> Result<(), Failed> {
    for text in PLANS {
        let (bench, walk) = pinned(level, text);
        bench.script("evil", "#!/bin/sh\necho approved\n");
        fs::rename(bench.path("work/evil"), bench.path("work/folder/tool"))?;
        refuses(&bench, walk, "folder/tool", "");
        let (bench, walk) = pinned(level, text);
        fs::remove_file(bench.path("work/folder/tool"))?;
        refuses(&bench, walk, "folder/tool", "");
    }
    Ok(())
}

fn rewritten(level: Level) -> Result<(), Failed> {
    let (bench, walk) = pinned(level, "./folder/tool");
    let path = bench.path("work/folder/tool");
    let before = fs::metadata(&path)?.modified()?;
    // The clock of files goes on in steps of some milliseconds.
    thread::sleep(Duration::from_millis(20));
    fs::write(&path, "#!/bin/sh\necho evil!!!!\n")?;
    fs::File::options().write(true).open(&path)?.set_modified(before)?;
    refuses(&bench, walk, "folder/tool", "");
    Ok(())
}

fn changed_by_a_step(level: Level) -> Result<(), Failed> {
    let (bench, mut walk) = pinned(level, "echo begun ; cp evil folder/tool && ./folder/tool");
    fs::set_permissions(bench.path("work/folder/tool"), fs::Permissions::from_mode(0o777))?;
    bench.script("evil", "#!/bin/sh\necho evil!!!!\n");
    walk.steps[2].programs[0].pins = vec![bench.pin("folder/tool")];
    refuses(&bench, walk, "folder/tool", "begun\n");
    Ok(())
}

fn linked(level: Level) -> Result<(), Failed> {
    let (bench, mut walk) = pinned(level, "./folder/tool");
    fs::rename(bench.path("work/folder"), bench.path("work/other"))?;
    symlink("other", bench.path("work/folder"))?;
    let program = &mut walk.steps[0].programs[0];
    program.directory = bench.work();
    program.pins = Vec::new();
    refuses(&bench, walk, "folder/tool", "");
    Ok(())
}

fn folder_became_a_link(level: Level) -> Result<(), Failed> {
    for text in ["pwd", "pwd ; echo after", "pwd | cat"] {
        for pins in [true, false] {
            let (bench, mut walk) = pinned(level, text);
            let program = &mut walk.steps[0].programs[0];
            program.directory = bench.work().join("folder");
            program.pins = pins.then(|| bench.pin("folder")).into_iter().collect();
            fs::rename(bench.path("work/folder"), bench.path("work/other"))?;
            symlink("other", bench.path("work/folder"))?;
            refuses(&bench, walk, "folder", "");
        }
    }
    Ok(())
}

fn folder_replaced(level: Level) -> Result<(), Failed> {
    let (bench, mut walk) = pinned(level, "pwd ; echo after");
    let program = &mut walk.steps[0].programs[0];
    program.directory = bench.work().join("folder");
    program.pins = vec![bench.pin("folder")];
    fs::rename(bench.path("work/folder"), bench.path("work/other"))?;
    fs::create_dir(bench.path("work/folder"))?;
    refuses(&bench, walk, "folder", "");
    Ok(())
}

fn redirected(level: Level) -> Result<(), Failed> {
    for text in ["echo evil >file", "echo evil >>file ; echo after", "cat <file", "cat <file | cat"]
    {
        let bench = Bench::new(level);
        fs::write(bench.path("work/secret"), "secret")?;
        fs::set_permissions(bench.path("work/secret"), fs::Permissions::from_mode(0o666))?;
        symlink("secret", bench.path("work/file"))?;
        refuses(&bench, bench.plan(text), "file", "");
        assert_eq!(fs::read_to_string(bench.path("work/secret"))?, "secret");
        // Nor is one on the way.
        fs::create_dir(bench.path("work/real"))?;
        symlink("real", bench.path("work/folder"))?;
        let behind = bench.plan(&text.replace("file", "folder/new"));
        refuses(&bench, behind, "folder/new", "");
        assert!(!bench.path("work/real/new").exists());
    }
    Ok(())
}

/// A folder to write to, another with a link in it that leads to a third, and a plan whose last program writes.
fn writing(level: Level, text: &str, is_folder: bool) -> (Bench, Walk) {
    let bench = Bench::new(level);
    for folder in ["secret", "folder", "folder/q", "other"] {
        let path = bench.path("work").join(folder);
        fs::create_dir(&path).expect("a folder");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).expect("a mode");
    }
    symlink("../secret", bench.path("work/other/q")).expect("a link");
    fs::write(bench.path("work/payload"), "payload").expect("a file");
    let mut walk = bench.plan(text);
    let place = bench.work().join(if is_folder { "folder/q" } else { "folder/q/new" });
    let last = walk.steps.last_mut().and_then(|step| step.programs.last_mut());
    last.expect("a program").places =
        vec![WritePin { path: place.clone(), real: vec![place], is_folder }];
    (bench, walk)
}

fn written_folder(level: Level) -> Result<(), Failed> {
    for text in [
        "mv folder old ; mv other folder ; cp payload folder/q/new",
        "mv folder/q old ; mv other/q folder ; cp payload folder/q/new",
        "mv folder old ; mv other folder ; echo x | tee folder/q/new",
    ] {
        let (bench, walk) = writing(level, text, false);
        refuses(&bench, walk, "folder/q/new", "");
        assert!(!bench.path("work/secret/new").exists(), "{text}");
        let (bench, walk) = writing(level, &text.replace("q/new", "q"), true);
        refuses(&bench, walk, "folder/q", "");
    }
    let (bench, walk) = writing(level, "rmdir folder/q ; cp payload folder/q", true);
    refuses(&bench, walk, "folder/q", "");
    // A folder in its place is the same place, and so is none.
    for text in [
        "rmdir folder/q folder ; mkdir -p folder/q ; cp payload folder/q/new",
        "mv folder old ; mkdir folder ; mv old/q folder ; cp payload folder/q/new",
    ] {
        let (bench, walk) = writing(level, text, false);
        let tried = bench.try_walk(walk).map_err(|error| error.to_string())?;
        assert_eq!(tried.outcome.ended.changed, None, "{tried:?}");
        assert!(bench.path("work/folder/q/new").exists(), "{tried:?}");
    }
    Ok(())
}

/// Makes a pipe in the file system.
fn make_pipe(path: &Path) -> Result<(), Failed> {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o666), 0)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o666))?;
    Ok(())
}

/// The second program has been looked at with the others and waits for its input, while somebody puts
/// another in its place.
fn looked_at_again(level: Level) -> Result<(), Failed> {
    let (bench, mut walk) = pinned(level, "sleep 300 | ./folder/tool <pipe ; echo after");
    let mark = mark(level, "first");
    walk.steps[0].programs[0].arguments[0] = mark.as_str().into();
    make_pipe(&bench.path("work/pipe"))?;
    bench.script("evil", "#!/bin/sh\necho evil\n");
    let started = Instant::now();
    thread::scope(|scope| {
        let swapping = scope.spawn(|| swap_while_it_waits(&bench, &mark));
        refuses(&bench, walk, "folder/tool", "");
        swapping.join()
    })
    .map_err(|_panic| "the swap failed")??;
    assert!(started.elapsed() < Duration::from_secs(15), "the rest of the pipeline went on");
    assert!(is_gone(&mark));
    Ok(())
}

fn swap_while_it_waits(bench: &Bench, first: &str) -> std::io::Result<()> {
    assert!(is_there(first), "it was never started");
    thread::sleep(Duration::from_millis(200));
    fs::rename(bench.path("work/evil"), bench.path("work/folder/tool"))?;
    // There is somebody at the other end, so this does not wait.
    let flags = OFlags::WRONLY | OFlags::NONBLOCK;
    openat(CWD, bench.path("work/pipe"), flags, Mode::empty())?;
    Ok(())
}

fn no_one_reads(level: Level) -> Result<(), Failed> {
    for text in ["echo x >pipe", "cat <pipe ; echo after", "echo x | tee >pipe | cat"] {
        let mut bench = Bench::new(level);
        bench.limits.wall = Duration::from_millis(400);
        make_pipe(&bench.path("work/pipe"))?;
        let tried = bench.walk(text);
        assert!(tried.outcome.timed_out, "{tried:?}");
        assert_eq!(tried.output, "");
        assert!(tried.outcome.duration < Duration::from_secs(5), "{tried:?}");
    }
    Ok(())
}
