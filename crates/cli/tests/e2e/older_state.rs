//! A state directory that an older version wrote is used as it is.
//!
//! `fixtures/state-0.1` was written by the version before `metier-app`: sessions of `run` and `exec`, a trusted
//! project, two approvals and an artifact. `@HOME@` stands for the home directory.

use std::fs;
use std::path::Path;

use metier_testkit::TestEnv;
use rusqlite::Connection;

use crate::{environment, run};

/// An environment with the state directory and the project that it trusts.
fn with_older_state() -> TestEnv {
    let env = environment();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/fixtures/state-0.1");
    let home = env.home().canonicalize().expect("a home");
    let read = |name: &str| {
        let text = fs::read_to_string(fixture.join(name)).expect("a part of the fixture");
        text.replace("@HOME@", home.to_str().expect("a path of text"))
    };
    env.write("home/.metier/trust.json", read("trust.json"));
    let database = Connection::open(env.home().join(".metier/metier.db")).expect("a new database");
    database.execute_batch(&read("database.sql")).expect("its tables");
    let note = "home/.metier/artifacts/sessions/metier/local/monday/out%2fnote.txt/0";
    for part in ["content", "record.json"] {
        let content = fs::read(fixture.join("note").join(part)).expect("a part of the artifact");
        env.write(format!("{note}/{part}"), content);
    }
    let header = "---\nname: ship\ndescription: Ships parcels. Use when the user wants a parcel shipped.\n---\n";
    let body = "\n# Ship\n\n```sh\necho shipped\n```\n";
    env.write("home/project/.agents/skills/ship/SKILL.md", format!("{header}{body}"));
    fs::create_dir(home.join("project/.git")).expect("a repository");
    env
}

fn in_project(env: &TestEnv, arguments: &str) -> String {
    let outcome = env.run_in(&env.home().join("project"), arguments.split(' '), "");
    assert_eq!(outcome.code, 0, "{outcome}");
    outcome.stdout
}

#[test]
fn sessions_of_an_older_version_are_shown_and_go_on() {
    let env = with_older_state();
    let listed = run(&env, "sessions list");
    assert!(listed.stdout.contains("which column of this csv has gaps?"), "{listed}");
    let shown = run(&env, "sessions show monday");
    assert_eq!(shown.code, 0, "{shown}");
    assert!(shown.stdout.contains("loaded csv-stats"), "{shown}");
    assert!(shown.stdout.contains("exit 0"), "{shown}");
    let gone_on = run(&env, "run --session tuesday hum-another-tune");
    assert!(gone_on.stdout.contains("No skill"), "{gone_on}");
    let listed = run(&env, "sessions list");
    let row = listed.stdout.lines().find(|line| line.starts_with("tuesday")).expect("the session");
    assert_eq!(row.split_whitespace().nth(1), Some("2"), "{listed}");
}

#[test]
fn trust_of_an_older_version_holds_and_ends_with_a_change() {
    let env = with_older_state();
    assert_eq!(in_project(&env, "exec ship --quiet -- true"), "");
    let file = env.home().join("project/.agents/skills/ship/SKILL.md");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("shipped\n", "sunk\n")).unwrap();
    let project = env.home().join("project");
    let outcome = env.run_in(&project, ["exec", "ship", "--", "echo hi"], "");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""), "{outcome}");
}

#[test]
fn approvals_and_artifacts_of_an_older_version_hold() {
    let env = with_older_state();
    let listed = run(&env, "approvals list");
    for id in ["7783a347", "f088a7ea"] {
        assert!(listed.stdout.contains(id), "{listed}");
    }
    assert_eq!(run(&env, "approvals check -- ls -l").code, 0);
    assert_eq!(run(&env, "approvals revoke 7783a347").code, 0);
    let got = run(&env, "artifacts get out/note.txt --session monday");
    assert_eq!((got.code, got.stdout.as_str()), (0, "kept"), "{got}");
}
