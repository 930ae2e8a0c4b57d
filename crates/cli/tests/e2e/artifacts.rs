//! `metier artifacts get`: what a skill made, on a terminal, in a pipe and in a file.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use metier_testkit::{Terminal, TestEnv};

use crate::{at_terminal, environment, run, write_skill};

/// An environment whose session has an artifact that a command made.
fn with_artifact(command: &str) -> TestEnv {
    let env = environment().with_variable("TERM", "xterm-256color");
    write_skill(&env, "demo", "name: demo\ndescription: Demo. Use when testing.");
    let run = ["exec", "demo", "--session", "one", "--skills-dir", "skills", "--save", "--"];
    let outcome = env.run(run.iter().chain(&[command]));
    assert_eq!(outcome.code, 0, "{outcome}");
    env
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry").path());
    entries.flat_map(|it| if it.is_dir() { files(&it) } else { vec![it] }).collect()
}

#[test]
fn what_a_skill_made_cannot_drive_the_terminal() {
    let env = with_artifact(r"printf 'one\033]0;title\007\n\033[2Jtwo' > out/a");
    let mut command = at_terminal(&env);
    command.args(["artifacts", "get", "out/a"]);
    let (code, written, seen) = Terminal::start(command, 80).finish();
    assert_eq!(code, 0, "{seen}");
    assert_snapshot!(seen, @r"
    one\u{1b}]0;title\u{7}
    \u{1b}[2Jtwo
    ");
    assert!(!written.contains('\u{1b}'), "{written:?}");
    assert_eq!(run(&env, "artifacts get out/a").stdout, "one\u{1b}]0;title\u{7}\n\u{1b}[2Jtwo");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let env = with_artifact("head -c 3000000 /dev/zero > out/big");
    let mut command = env.command("/bin/sh");
    command
        .args(["-c", "{ \"$METIER\" artifacts get out/big; echo \"code $?\" >&2; } | head -c 1"]);
    command.env("METIER", env.binary()).env("PATH", "/usr/bin:/bin");
    assert_eq!(env.finish(command, "").stderr, "code 0\n");
}

#[test]
fn a_file_is_there_whole_or_stays_what_it_was() {
    let env = with_artifact("printf made > out/a");
    env.write("project/here.txt", "before");
    assert_snapshot!(run(&env, "artifacts get out/a -o here.txt"), @"
    exit 0
    ----- stdout

    ----- stderr
    4 B written to here.txt
    ");
    assert_eq!(fs::read_to_string(env.project().join("here.txt")).expect("it is there"), "made");
    assert_eq!(run(&env, "artifacts get out/a -o /dev/null").code, 0);
    assert_snapshot!(run(&env, "artifacts get out/a -o nowhere/here.txt"), @"
    exit 1
    ----- stdout

    ----- stderr
    error: cannot write to `nowhere/here.txt`: No such file or directory (os error 2)
    hint: name a file in a folder that is there and that you can write to
    ");
    env.write("project/here.txt", "before");
    for file in files(&env.home().join(".metier/artifacts")) {
        if fs::read(&file).is_ok_and(|bytes| bytes == b"made") {
            fs::remove_file(&file).and_then(|()| fs::write(&file, "mode")).expect("it is ours");
        }
    }
    let outcome = run(&env, "artifacts get out/a -o here.txt");
    assert_eq!(outcome.code, 1, "{outcome}");
    assert_eq!(fs::read_to_string(env.project().join("here.txt")).expect("it is there"), "before");
    assert_eq!(fs::read_dir(env.project()).expect("a folder").count(), 2, "nothing is left beside");
}
