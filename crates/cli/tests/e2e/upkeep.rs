//! Workspaces that nobody uses go away by themselves, and other things with `metier gc`.

use std::fs::File;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use metier_testkit::TestEnv;

use crate::{environment, run, write_skill};

const DAY: Duration = Duration::from_hours(24);

/// Runs a command in a session; gives its workspace.
fn use_session(env: &TestEnv, session: &str) -> PathBuf {
    let skills = "--no-default-sources --skills-dir skills";
    let outcome = run(env, &format!("exec demo --session {session} {skills} --quiet -- true"));
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome}");
    env.home().join(format!(".metier/workspaces/metier/local/{session}-0"))
}

fn age(path: PathBuf, by: Duration) {
    let file = File::open(path).expect("it is there");
    file.set_modified(SystemTime::now() - by).expect("it is ours");
}

#[test]
fn a_run_removes_what_nobody_used_for_long_once_a_day() {
    let env = environment();
    write_skill(&env, "demo", "name: demo\ndescription: Demo. Use when testing.");
    let (old, recent) = (use_session(&env, "old"), use_session(&env, "recent"));
    age(old.join("metadata.json"), 8 * DAY);
    age(recent.join("metadata.json"), 6 * DAY);
    // It was looked at today.
    use_session(&env, "new");
    assert!(old.is_dir());
    age(env.home().join(".metier/workspaces/.last-look"), 2 * DAY);
    let new = use_session(&env, "new");
    assert_eq!((old.exists(), recent.is_dir(), new.is_dir()), (false, true, true));
}

#[test]
fn a_run_succeeds_though_nothing_can_be_removed() {
    let env = environment();
    write_skill(&env, "demo", "name: demo\ndescription: Demo. Use when testing.");
    // A folder in place of the file that says when it was done.
    env.write("home/.metier/workspaces/.last-look/file", "");
    age(env.home().join(".metier/workspaces/.last-look"), 2 * DAY);
    use_session(&env, "one");
}

#[test]
fn gc_does_its_work_where_the_engine_is_on_another_machine_or_none() {
    let env = environment().with_variable("DOCKER_HOST", "tcp://10.0.0.1:2375");
    let outcome = run(&env, "gc");
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(outcome.stdout.starts_with("removed 0 workspaces, "), "{outcome}");
    assert!(
        outcome.stderr.starts_with("note: containers were not looked at: `tcp://"),
        "{outcome}"
    );
    let outcome = run(&env, "--quiet gc --json");
    assert!(outcome.stdout.contains(r#""containers":null"#), "{outcome}");
    let socket = env.root().join("stranger.sock");
    let _listener = UnixListener::bind(&socket).expect("a socket");
    let env = env.with_variable("DOCKER_HOST", &format!("unix://{}", socket.display()));
    let outcome = run(&env, "--quiet gc");
    assert_eq!(outcome.code, 1, "{outcome}");
    assert!(outcome.stdout.starts_with("removed 0 workspaces, "), "{outcome}");
    assert!(outcome.stderr.starts_with("error: containers were not looked at: "), "{outcome}");
}
