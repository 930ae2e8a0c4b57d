//! `metier exec` in containers, and what is left of it when metier is killed.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use metier_testkit::{Outcome, TestEnv};

use crate::{json, write_skill};

/// Where tests are told that an engine listens.
const ENGINES: [&str; 2] = ["METIER_TEST_DOCKER", "METIER_TEST_PODMAN"];

/// Does something with every engine there is, in an environment whose binary starts others.
fn with_each_engine(test: &str, act: fn(&TestEnv)) {
    for variable in ENGINES {
        #[expect(clippy::disallowed_methods, reason = "the test command says it in a variable")]
        let Ok(socket) = std::env::var(variable) else {
            metier_testkit::skip(test, &format!("{variable} names no engine"));
            continue;
        };
        let env = TestEnv::new("/usr/bin/env");
        write_skill(&env, "demo", "name: demo\ndescription: Demo. Use when testing.");
        let settings = format!(
            "[exec]\nexecutor = \"container\"\n\
             [exec.container]\nimage = \"metier-test/bash:latest\"\nsocket = \"{socket}\"\n"
        );
        env.write("home/.metier/config.toml", settings);
        act(&env);
    }
}

/// Runs metier by way of another program.
fn metier(env: &TestEnv, before: &[&str], arguments: &[&str]) -> Outcome {
    let binary = [env!("CARGO_BIN_EXE_metier")];
    env.run(before.iter().chain(&binary).chain(arguments))
}

fn exec(env: &TestEnv, before: &[&str], command: &str) -> Outcome {
    let skills = ["--skills-dir", "skills", "--no-default-sources"];
    let run = ["exec", "demo", "--session", "one", "--", command];
    metier(env, before, &[&run[..4], &skills, &run[4..]].concat())
}

/// How many containers `gc` removes.
fn collected(env: &TestEnv) -> u64 {
    let answer = json(&metier(env, &[], &["gc", "--json"]));
    answer["containers"].as_u64().expect("a number")
}

/// Bytes of all files below a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let each = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    each.sum()
}

/// Whether something is being written to a workspace.
fn is_written(env: &TestEnv) -> bool {
    let workspaces = env.home().join(".metier/workspaces");
    let before = size(&workspaces);
    thread::sleep(Duration::from_millis(700));
    size(&workspaces) > before
}

#[test]
fn a_command_runs_in_a_container_that_gc_removes() {
    with_each_engine("containers of metier exec", |env| {
        let outcome = exec(env, &[], "echo $SKILL_NAME; exit 3");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (3, "demo\n"), "{outcome}");
        assert!(outcome.stderr.contains("container · session one"), "{outcome}");
        assert_eq!([collected(env), collected(env)], [1, 0]);
    });
}

#[test]
fn when_metier_was_killed_gc_ends_what_it_ran() {
    with_each_engine("a container of a metier that was killed", |env| {
        exec(env, &[], "true");
        let command = "while :; do echo on >> work/on; sleep 0.1; done";
        exec(env, &["/usr/bin/timeout", "--signal", "KILL", "5"], command);
        assert!(is_written(env), "nobody ended it yet");
        assert_eq!(collected(env), 1);
        assert!(!is_written(env), "it was ended");
        assert_eq!(collected(env), 0);
    });
}
