//! A database that cannot be used, and a state folder that cannot: one line, nothing lost.

use insta::assert_snapshot;
use metier_testkit::TestEnv;
use rusqlite::Connection;
use serde_json::json;

use super::bench::{run_scripted, script, with_skill};
use crate::{compact, run};

/// An environment with a session of one turn.
fn with_session() -> TestEnv {
    let env = with_skill();
    script(&env, &[json!({ "text": "Said." })]);
    assert_eq!(run_scripted(&env, &["first", "--session", "one"]).code, 0);
    env
}

fn database(env: &TestEnv) -> Connection {
    Connection::open(env.home().join(".metier/metier.db")).expect("it is a database")
}

/// The session has what was said before, and goes on.
fn assert_goes_on(env: &TestEnv) {
    let outcome = run_scripted(env, &["again", "--session", "one"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "Said.\n"), "{outcome}");
    let shown = run(env, "sessions show one").stdout;
    assert!(shown.contains("first") && shown.contains("again"), "{shown}");
}

#[test]
fn a_database_that_another_process_holds_is_told_after_a_while() {
    let env = with_session();
    let other = database(&env);
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    assert_snapshot!(compact(&run_scripted(&env, &["second", "--session", "one"])), @"1 |  | session one / error: the database `[HOME]/.metier/metier.db` was locked by another process for 10 seconds: try again, or end what holds it");
    // Reading needs no lock.
    assert_eq!(run(&env, "sessions show one").code, 0);
    other.execute_batch("ROLLBACK").expect("it was held");
    assert_goes_on(&env);
}

#[test]
fn a_database_of_a_newer_version_is_not_touched() {
    let env = with_session();
    let version: i64 = database(&env)
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .expect("its version");
    database(&env).pragma_update(None, "user_version", 99).expect("its version");
    let lines = [
        compact(&run_scripted(&env, &["second", "--session", "one"])),
        compact(&run(&env, "sessions list")),
        compact(&run(&env, "usage")),
    ];
    assert_snapshot!(lines.join("\n"), @"
    1 |  | error: the database `[HOME]/.metier/metier.db` has version 99, and this program knows only up to 2 / hint: install a newer metier, or set METIER_HOME to another state directory
    1 |  | error: the database `[HOME]/.metier/metier.db` has version 99, and this program knows only up to 2 / hint: install a newer metier, or set METIER_HOME to another state directory
    1 |  | error: the database `[HOME]/.metier/metier.db` has version 99, and this program knows only up to 2 / hint: install a newer metier, or set METIER_HOME to another state directory
    ");
    database(&env).pragma_update(None, "user_version", version).expect("its version");
    assert_goes_on(&env);
}

#[test]
fn a_database_of_another_program_is_not_touched() {
    let env = with_skill();
    script(&env, &[json!({ "text": "Said." })]);
    env.write("home/.metier/metier.db", "");
    database(&env).execute_batch("CREATE TABLE notes (text)").expect("a table");
    assert_snapshot!(compact(&run_scripted(&env, &["first"])), @"1 |  | error: `[HOME]/.metier/metier.db` is a database of another program / hint: move it away, or set METIER_HOME to another state directory");
    let tables =
        database(&env).query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0));
    assert_eq!(tables, Ok(1));
}

#[test]
fn a_database_damaged_in_the_middle_is_named() {
    let env = with_session();
    let file = env.home().join(".metier/metier.db");
    database(&env).execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("all in one file");
    let mut bytes = std::fs::read(&file).expect("the file");
    let whole = bytes.clone();
    bytes[4096..].fill(0xa5);
    std::fs::write(&file, &bytes).expect("damage");
    let lines = ["run", "show", "usage"].map(|what| match what {
        "run" => compact(&run_scripted(&env, &["second", "--session", "one"])),
        "show" => compact(&run(&env, "sessions show one")),
        _ => compact(&run(&env, "usage")),
    });
    assert_snapshot!(lines.join("\n"), @"
    1 |  | session one / error: the database `[HOME]/.metier/metier.db` is damaged: database disk image is malformed; move it away and start again, or restore a copy
    1 |  | error: the database `[HOME]/.metier/metier.db` is damaged: database disk image is malformed; move it away and start again, or restore a copy
    1 |  | error: the database `[HOME]/.metier/metier.db` is damaged: database disk image is malformed; move it away and start again, or restore a copy
    ");
    std::fs::write(&file, &whole).expect("a copy");
    assert_goes_on(&env);
}

#[test]
fn names_of_sessions_and_models_that_cannot_be_are_mistakes() {
    let env = with_session();
    let long = "x".repeat(1025);
    let sessions = ["", &long];
    let models = ["openai", "openai/", "/gpt", "none/x", "scripted"];
    let mut lines: Vec<String> = Vec::new();
    for session in sessions {
        lines.push(compact(&run_scripted(&env, &["second", "--session", session])));
    }
    for model in models {
        let words = ["run", "ask", "--model", model, "--session", "one", "--no-skills"];
        lines.push(compact(&env.run(words)));
    }
    assert_snapshot!(lines.join("\n"), @"
    2 |  | error: the id of the session cannot be used: it is empty / hint: name another session
    2 |  | error: the id of the session cannot be used: it is longer than 1024 bytes / hint: name another session
    2 |  | error: `openai` does not name a model: write it as `provider/name` / hint: for example `openai/gpt-5`; `offline` needs no model, and says what it is
    2 |  | error: `openai/` does not name a model: write it as `provider/name` / hint: for example `openai/gpt-5`; `offline` needs no model, and says what it is
    2 |  | error: `/gpt` does not name a model: write it as `provider/name` / hint: for example `openai/gpt-5`; `offline` needs no model, and says what it is
    2 |  | error: there is no provider `none`; there are `anthropic`, `openai`, `offline` / hint: to add it, set `models.providers.none.base_url` to the address of its interface; settings go into `[HOME]/.metier/config.toml`
    2 |  | error: `scripted` does not name a model: write it as `provider/name` / hint: for example `openai/gpt-5`; `offline` needs no model, and says what it is
    ");
    assert_goes_on(&env);
}
