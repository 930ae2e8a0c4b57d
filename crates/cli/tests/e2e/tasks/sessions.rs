//! `metier sessions` and `metier usage`: what is left of tasks.

use std::fs::File;
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use metier_testkit::TestEnv;
use serde_json::{Value, json};

use super::bench::{call, run_scripted, script, steady, with_skill};
use crate::{compact, environment, json, run};

/// An environment with two sessions, of which one used the skill and kept a file.
fn with_sessions() -> TestEnv {
    let env = with_skill();
    let make = json!({ "skill": "counter", "command": "echo 2 > $OUTPUT_DIR/count.txt",
        "outputs": { "globs": ["out/*.txt"], "save": true } });
    let load = call("skill_load", &json!({ "skill": "counter" }));
    let usage = json!({ "input": 900, "cached_input": 300, "output": 12 });
    script(
        &env,
        &[
            json!({ "text": "Let me look.", "calls": [load], "usage": usage }),
            json!({ "calls": [call("skill_run", &make)], "usage": usage }),
            json!({ "text": "Two.", "usage": usage }),
        ],
    );
    assert_eq!(run_scripted(&env, &["how long is it?", "--session", "first"]).code, 0);
    script(&env, &[json!({ "text": "Hello.\nYou?", "usage": { "input": 100, "output": 3 } })]);
    assert_eq!(run_scripted(&env, &["hello", "--session", "second"]).code, 0);
    env
}

#[test]
fn sessions_are_listed_and_shown() {
    let env = with_sessions();
    assert_snapshot!(run(&env, "sessions list"), @"
    exit 0
    ----- stdout
    SESSION  TASKS      USED  BEGAN WITH
    second       1  just now  hello
    first        1  just now  how long is it?
    ----- stderr
    2 sessions
    ");
    assert_snapshot!(steady(&run(&env, "sessions show first")), @"
    exit 0
    ----- stdout
    you
      how long is it?
    model
      Let me look.
      loaded counter
      ran counter: echo 2 > $OUTPUT_DIR/count.txt · exit 0 · [TIME]
      kept artifact://out/count.txt@0
    model
      Two.
    ----- stderr
    ");
    let listed = json(&run(&env, "sessions list --json"));
    assert_eq!(listed[1]["title"], "how long is it?");
    assert_eq!(json(&run(&env, "sessions show second --json")).as_array().map(Vec::len), Some(2));
}

#[test]
fn results_are_shown_with_the_calls_of_their_reply_though_ids_repeat() {
    let env = with_skill();
    let named = |id: &str, mut call: Value| {
        call["id"] = id.into();
        call
    };
    let load = || named("a", call("skill_load", &json!({ "skill": "counter" })));
    let run_it = |command: &str| {
        named("b", call("skill_run", &json!({ "skill": "counter", "command": command })))
    };
    for (task, command) in [("first", "echo one"), ("second", "false")] {
        let calls = json!({ "calls": [load(), run_it(command)] });
        script(&env, &[calls, json!({ "text": "Done." })]);
        assert_eq!(run_scripted(&env, &[task, "--session", "one"]).code, 0);
    }
    let events = run(&env, "sessions show one --json").stdout;
    assert_eq!(events.matches(r#""id":"b""#).count(), 2, "{events}");
    assert_snapshot!(steady(&run(&env, "sessions show one")), @"
    exit 0
    ----- stdout
    you
      first
      loaded counter
      ran counter: echo one · exit 0 · [TIME]
    model
      Done.
    you
      second
      loaded counter
      ran counter: false · exit 1 · [TIME]
    model
      Done.
    ----- stderr
    ");
}

#[test]
fn code_of_a_reply_is_shown_with_what_came_of_it() {
    let env = with_skill();
    env.write("home/.metier/config.toml", "agent.code_execution = true\n");
    let code = |code: &str| json!({ "text": format!("Look.\n\n```bash\n{code}\n```") });
    script(&env, &[code("echo 2"), code("false"), json!({ "text": "Two." })]);
    assert_eq!(run_scripted(&env, &["count", "--session", "one"]).code, 0);
    assert_snapshot!(steady(&run(&env, "sessions show one")), @"
    exit 0
    ----- stdout
    you
      count
    model
      Look.
      
      ```bash
      echo 2
      ```
      ran echo 2 · exit 0 · [TIME]
    model
      Look.
      
      ```bash
      false
      ```
      ran false · exit 1 · [TIME]
    model
      Two.
    ----- stderr
    ");
}

#[test]
fn what_is_remarkable_about_a_run_is_told_while_it_is_done_and_afterwards() {
    let env = with_skill();
    let command = "echo 2 > $OUTPUT_DIR/count.txt; echo 3 > \"$OUTPUT_DIR/a\u{1b}[2J\"";
    let make = json!({ "skill": "counter", "command": command,
        "outputs": { "globs": ["out/*"], "save": true } });
    let load = call("skill_load", &json!({ "skill": "counter" }));
    let calls = json!({ "calls": [load, call("skill_run", &make)] });
    script(&env, &[calls, json!({ "text": "Done." })]);
    assert_snapshot!(steady(&run_scripted(&env, &["count", "--session", "one"])), @r#"
    exit 0
    ----- stdout
    Done.
    ----- stderr
    loaded counter
    ran counter: echo 2 > $OUTPUT_DIR/count.txt; echo 3 > "$OUTPUT_DIR/a\u{1b}[2J" · exit 0, but not everything was kept · [TIME]
    kept artifact://out/count.txt@0
    warning: `out/a\u{1b}[2J` was not kept: `out/a\u{1b}[2J` cannot name an artifact: it has a control character
    FILE                        SIZE  TYPE
    workspace://out/a\u{1b}[2J   2 B  text
    workspace://out/count.txt    2 B  text
    in [HOME]/.metier/workspaces/metier/local/one-1
    answered · [TIME] · scripted/replies.jsonl · session one
    "#);
    assert_snapshot!(steady(&run(&env, "sessions show one")), @r#"
    exit 0
    ----- stdout
    you
      count
      loaded counter
      ran counter: echo 2 > $OUTPUT_DIR/count.txt; echo 3 > "$OUTPUT_DIR/a\u{1b}[2J" · exit 0, but not everything was kept · [TIME]
      kept artifact://out/count.txt@0
      warning: `out/a\u{1b}[2J` was not kept: `out/a\u{1b}[2J` cannot name an artifact: it has a control character
    model
      Done.
    ----- stderr
    "#);
}

#[test]
fn a_session_of_exec_alone_is_one_in_which_nothing_was_said() {
    let env = with_skill();
    let rest = "--session one --skills-dir skills --no-default-sources";
    assert_eq!(run(&env, &format!("exec counter {rest} -- true")).code, 0);
    let lines = ["sessions show one", "sessions show one --json", "usage --session one"];
    assert_snapshot!(lines.map(|line| compact(&run(&env, line))).join("\n"), @"
    0 |  | nothing was said in session one
    0 | [] |
    0 |  | no model has replied yet
    ");
}

#[test]
fn the_tokens_of_a_session_that_is_not_there_are_not_told() {
    let env = with_sessions();
    assert_snapshot!(compact(&run(&env, "usage --session frist")), @"1 |  | error: there is no session `frist` / hint: `metier sessions list` shows those of `run` and `chat`; `metier exec` says which one it used");
    assert_eq!(run(&env, "usage --session frist --json").code, 1);
    // A chat that has not begun has none yet.
    let words = ["chat", "--session", "third", "--model", "offline"];
    let outcome = env.run_in(&env.project(), words, "/usage\n");
    assert_snapshot!(compact(&outcome), @"0 |  | no model has replied yet");
}

#[test]
fn an_export_has_the_opening_and_every_event() {
    let env = with_sessions();
    let outcome = run(&env, "sessions export second");
    let lines: Vec<Value> = outcome
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is JSON"))
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["key"]["session"], "second");
    let system = lines[0]["opening"]["system"].as_str().expect("the opening");
    assert!(system.contains("- counter: Counts lines."), "{system}");
    assert_eq!(lines[2]["content"]["parts"][0]["text"], "Hello.\nYou?");
}

#[test]
fn what_models_were_paid_is_told_by_model_and_skill() {
    let env = with_sessions();
    assert_snapshot!(run(&env, "usage"), @"
    exit 0
    ----- stdout
    FOR                           REPLIES  READ  CACHED  WRITTEN
    model scripted/replies.jsonl        4  2800    32 %       39
    skill counter                       3  2700    33 %       36
    all                                 4  2800    32 %       39
    ----- stderr
    ");
    assert_eq!(json(&run(&env, "usage --session second --json"))["total"]["input"], 100);
}

#[test]
fn removing_a_session_removes_its_workspace_and_artifacts_and_nothing_else() {
    let env = with_sessions();
    assert_eq!(run(&env, "artifacts list --session first").stdout.lines().count(), 2);
    assert_snapshot!(compact(&run(&env, "sessions rm first")), @"0 |  | removed first, its workspace and 1 artifact");
    let folders = std::fs::read_dir(env.home().join(".metier/workspaces/metier/local"));
    let names = folders.expect("the folder").map(|it| it.expect("an entry").file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["second-2"]);
    let cases = [
        "sessions show first",
        "sessions rm first",
        "artifacts list --session first",
        "read workspace://out/count.txt --session first",
    ];
    let told = cases.map(|line| compact(&run(&env, line))).join("\n");
    assert_snapshot!(told, @"
    1 |  | error: there is no session `first` / hint: `metier sessions list` shows those of `run` and `chat`; `metier exec` says which one it used
    1 |  | error: there is no session `first` / hint: `metier sessions list` shows those of `run` and `chat`; `metier exec` says which one it used
    1 |  | error: there is no session `first` / hint: `metier sessions list` shows those of `run` and `chat`; `metier exec` says which one it used
    1 |  | error: there is no session `first` / hint: `metier sessions list` shows those of `run` and `chat`; `metier exec` says which one it used
    ");
    // One that is begun again under the name shares nothing with it.
    script(&env, &[json!({ "when": { "turn": 0 }, "text": "New." })]);
    assert_eq!(run_scripted(&env, &["again", "--session", "first"]).stdout, "New.\n");
}

#[test]
fn a_session_of_exec_alone_is_removed_too() {
    let env = with_skill();
    let rest = "--session one --skills-dir skills --no-default-sources";
    run(&env, &format!("exec counter {rest} --save -- touch out/a"));
    assert_snapshot!(compact(&run(&env, "sessions rm one")), @"0 |  | removed one, its workspace and 1 artifact");
    assert_eq!(run(&env, "read workspace://out/a --session one").code, 1);
}

#[test]
fn only_what_was_removed_with_a_session_is_said_to_be() {
    let env = with_sessions();
    let folder = env.home().join(".metier/workspaces/metier/local");
    assert_snapshot!(compact(&run(&env, "sessions rm second")), @"0 |  | removed second and its workspace");
    std::fs::remove_dir_all(folder.join("first-1")).expect("the workspace");
    assert_snapshot!(compact(&run(&env, "sessions rm first")), @"0 |  | removed first and 1 artifact");
    script(&env, &[json!({ "text": "Hello." })]);
    assert_eq!(run_scripted(&env, &["hello", "--session", "third"]).code, 0);
    for workspace in std::fs::read_dir(folder).expect("workspaces") {
        std::fs::remove_dir_all(workspace.expect("an entry").path()).expect("the workspace");
    }
    assert_snapshot!(compact(&run(&env, "sessions rm third")), @"0 |  | removed third");
}

#[test]
fn without_sessions_there_is_nothing_to_tell_and_nothing_is_made() {
    let env = environment();
    let cases = ["sessions list", "sessions list --json", "usage", "sessions export x"];
    let told = cases.map(|line| compact(&run(&env, line))).join("\n");
    assert_snapshot!(told, @"
    0 |  | 0 sessions
    0 | [] |
    0 |  | no model has replied yet
    1 |  | error: there is no session `x` / hint: `metier sessions list` shows those of `run` and `chat`; `metier exec` says which one it used
    ");
    assert!(!env.home().join(".metier/metier.db").exists());
}

#[test]
fn gc_keeps_the_skills_that_a_session_refers_to() {
    let env = with_sessions();
    let content = env.home().join(".metier/content");
    let long_ago = SystemTime::now() - Duration::from_hours(60 * 24);
    for tree in std::fs::read_dir(&content).expect("staged skills") {
        let folder = File::open(tree.expect("an entry").path()).expect("a folder");
        folder.set_modified(long_ago).expect("its time");
    }
    assert_eq!(json(&run(&env, "gc --json"))["skills"], 0);
    assert_eq!(run(&env, "sessions rm first").code, 0);
    assert_eq!(json(&run(&env, "gc --json"))["skills"], 1);
}
