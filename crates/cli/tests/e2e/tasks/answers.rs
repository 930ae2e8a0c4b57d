//! What a person or a program gets of a task.

use insta::assert_snapshot;
use metier_testkit::{Terminal, TestEnv};
use serde_json::{Value, json};

use super::bench::{call, run_scripted, script, steady, with_skill};
use crate::{at_terminal, compact, run, wait_until};

/// Loads the skill, counts the lines of a file, answers.
fn counting(env: &TestEnv) {
    env.write("project/notes.txt", "one\ntwo\n");
    let command = "sh scripts/count.sh $WORK_DIR/inputs/notes.txt | tee $OUTPUT_DIR/count.txt";
    script(
        env,
        &[
            json!({ "text": "Let me look.", "calls": [call("skill_load", &json!({ "skill": "counter" }))] }),
            json!({ "calls": [call("skill_run", &json!({ "skill": "counter", "command": command }))] }),
            json!({ "text": "It has 2 lines; see out/count.txt." }),
        ],
    );
}

#[test]
fn without_a_model_the_offline_planner_runs_what_a_skill_shows() {
    let env = with_skill();
    env.write("project/notes.txt", "one\ntwo\n");
    let fixed = ["run", "--skills-dir", "skills", "--no-default-sources", "--session", "one"];
    let words = ["how long is this text?", "notes.txt"];
    let told = steady(&env.run(fixed.iter().chain(&words)));
    assert_snapshot!(told, @"
    exit 0
    ----- stdout
    I am the offline planner, not a language model: I choose a skill by its description and run an example of it.

    `counter` fits this task. I took this command from its examples:

    ```text
    sh scripts/count.sh work/inputs/notes.txt
    ```

    It ended with exit code 0 and printed:

    ```text
    2
    ```

    It made no files.

    For an answer to the task itself, choose a model with `--model PROVIDER/NAME`.
    ----- stderr
    loaded counter
    ran counter: sh scripts/count.sh work/inputs/notes.txt · exit 0 · [TIME]
    answered · [TIME] · offline · session one
    ");
}

#[test]
fn a_task_is_answered_and_what_happened_is_told_apart_from_it() {
    let env = with_skill();
    counting(&env);
    let words = ["how long is it?", "notes.txt", "--session", "one"];
    assert_snapshot!(steady(&run_scripted(&env, &words)), @"
    exit 0
    ----- stdout
    It has 2 lines; see out/count.txt.
    ----- stderr
    │ Let me look.
    loaded counter
    ran counter: sh scripts/count.sh $WORK_DIR/inputs/notes.txt | tee $OUTPUT_DIR/count.txt · exit 0 · [TIME]
    FILE                       SIZE  TYPE
    workspace://out/count.txt   2 B  text
    in [HOME]/.metier/workspaces/metier/local/one-1
    answered · [TIME] · scripted/replies.jsonl · session one
    ");
    let quiet = run_scripted(&env, &["how long is it?", "notes.txt", "--quiet"]);
    assert_snapshot!(quiet, @"
    exit 0
    ----- stdout
    It has 2 lines; see out/count.txt.
    ----- stderr
    ");
}

#[test]
fn with_json_the_events_of_the_session_come_one_a_line() {
    let env = with_skill();
    counting(&env);
    let outcome = run_scripted(&env, &["how long is it?", "notes.txt", "--json"]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    let events = outcome
        .stdout
        .lines()
        .map(|line| -> Value { serde_json::from_str(line).expect("an event a line") });
    let told = events.map(|event| {
        let content = &event["content"];
        let words = ["text", "tool", "parts", "loaded"].map(|name| match &content[name] {
            Value::Null => String::new(),
            // What a run answers differs from run to run.
            Value::String(text) if text.starts_with('{') => String::new(),
            value => format!(" {value}"),
        });
        format!("{} {}{}", event["seq"], event["kind"], words.concat())
    });
    let told = told.collect::<Vec<_>>().join("\n");
    let digest = told.split("\"digest\":\"").nth(1).and_then(|rest| rest.split('"').next());
    assert_snapshot!(told.replace(digest.expect("a digest"), "[DIGEST]"), @r#"
    1 "user" "how long is it?"
    2 "assistant" [{"type":"text","text":"Let me look."},{"type":"call","id":"call_1_0","name":"skill_load","arguments":"{\"skill\":\"counter\"}"}]
    3 "tool.response" "loaded: counter" "skill_load" {"skill":"counter","digest":"[DIGEST]","body":true}
    4 "assistant" [{"type":"call","id":"call_3_0","name":"skill_run","arguments":"{\"skill\":\"counter\",\"command\":\"sh scripts/count.sh $WORK_DIR/inputs/notes.txt | tee $OUTPUT_DIR/count.txt\"}"}]
    5 "tool.response" "skill_run"
    6 "assistant" [{"type":"text","text":"It has 2 lines; see out/count.txt."}]
    "#);
}

#[test]
fn a_session_goes_on_with_its_files_whoever_used_it_before() {
    let env = with_skill();
    let rest = "--session one --skills-dir skills --no-default-sources";
    run(&env, &format!("exec counter {rest} -- touch out/by-exec"));
    let list = json!({ "skill": "counter", "command": "ls $OUTPUT_DIR; touch $OUTPUT_DIR/by-run" });
    let load = call("skill_load", &json!({ "skill": "counter" }));
    script(
        &env,
        &[json!({ "calls": [load, call("skill_run", &list)] }), json!({ "text": "Listed." })],
    );
    let outcome = run_scripted(&env, &["list", "--session", "one", "--json"]);
    assert!(outcome.stdout.contains(r#""stdout":"by-exec\n""#), "{outcome}");
    let seen = run(&env, &format!("exec counter {rest} -- ls out"));
    assert_eq!(seen.stdout, "by-exec\nby-run\n");
    assert_eq!(compact(&run(&env, "read workspace://out/by-run --session one")), "0 |  |");
    script(&env, &[json!({ "when": { "turn": 2 }, "text": "I remember." })]);
    assert_eq!(run_scripted(&env, &["again", "--session", "one"]).stdout, "I remember.\n");
}

#[test]
fn a_turn_that_is_no_answer_ends_with_one() {
    let env = with_skill();
    let again = json!({ "when": { "turn": 0 }, "calls": [call("frob", &json!({}))] });
    let more =
        |turn: usize| json!({ "when": { "turn": turn }, "calls": [call("frob", &json!({}))] });
    script(&env, &[again, more(1), more(2)]);
    assert_snapshot!(steady(&run_scripted(&env, &["try", "--session", "one"])), @"
    exit 1
    ----- stdout

    ----- stderr
    refused frob: there is no tool `frob`; the tools are: skill_load, skill_select_docs, skill_list_docs, skill_search, skill_run, read_file
    refused frob: there is no tool `frob`; the tools are: skill_load, skill_select_docs, skill_list_docs, skill_search, skill_run, read_file
    refused frob: there is no tool `frob`; the tools are: skill_load, skill_select_docs, skill_list_docs, skill_search, skill_run, read_file
    the model called only tools that do not exist · [TIME] · scripted/replies.jsonl · session one
    hint: ask again with `--session one`, or name another model with `--model`
    ");
    script(&env, &[json!({ "text": "I will not.", "stop": "refusal" })]);
    assert_snapshot!(steady(&run_scripted(&env, &["try", "--session", "two"])), @"
    exit 1
    ----- stdout
    I will not.
    ----- stderr
    the model refused · [TIME] · scripted/replies.jsonl · session two
    hint: put the task in other words with `--session two`, or name another model with `--model`
    ");
}

#[test]
fn ctrl_c_stops_the_turn_and_the_session_goes_on() {
    let env = with_skill().with_variable("TERM", "xterm-256color");
    let wait = json!({ "skill": "counter", "command": "echo ready > $OUTPUT_DIR/a.txt; sleep 60" });
    let load = call("skill_load", &json!({ "skill": "counter" }));
    script(&env, &[json!({ "calls": [load, call("skill_run", &wait)] })]);
    let mut command = at_terminal(&env);
    command.args(["run", "wait", "--session", "one", "--skills-dir", "skills"]);
    command.args(["--no-default-sources", "--model", "scripted/replies.jsonl"]);
    let mut terminal = Terminal::start(command, 80);
    terminal.wait_for("running counter");
    let made = env.home().join(".metier/workspaces/metier/local/one-1/out/a.txt");
    wait_until("the command to begin", || made.exists());
    terminal.write("\u{3}");
    let (code, _, seen) = terminal.finish();
    assert_eq!(code, 130, "{seen}");
    assert!(seen.contains("cancelled · ") && seen.contains("stopped · "), "{seen}");
    assert!(!seen.contains("Ctrl-C ends it"), "{seen}");
    script(&env, &[json!({ "text": "Where were we?" })]);
    let outcome = run_scripted(&env, &["go on", "--session", "one"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "Where were we?\n"));
}

#[test]
fn what_a_model_says_cannot_drive_the_terminal() {
    let env = with_skill();
    let text = "fine\u{1b}[2J\u{1b}]0;title\u{7}\nanswered \u{202e}x";
    script(
        &env,
        &[
            json!({ "text": text, "calls": [call("skill_load", &json!({ "skill": "\u{1b}[2Jx\nloaded y" }))] }),
            json!({ "text": text }),
        ],
    );
    let outcome = run_scripted(&env, &["try", "--session", "one", "--color", "never"]);
    assert_snapshot!(steady(&outcome), @r"
    exit 0
    ----- stdout
    fine\u{1b}[2J\u{1b}]0;title\u{7}
    answered \u{202e}x
    ----- stderr
    │ fine\u{1b}[2J\u{1b}]0;title\u{7}
    │ answered \u{202e}x
    refused skill_load: there is no skill `\u{1b}[2Jx
    answered · [TIME] · scripted/replies.jsonl · session one
    ");
}

#[test]
fn what_a_session_began_with_stays_and_is_told() {
    let env = with_skill();
    script(&env, &[json!({ "text": "Said." })]);
    let say = |words: &[&str]| {
        let fixed = ["look", "--session", "one"];
        steady(&run_scripted(&env, &fixed.iter().chain(words).copied().collect::<Vec<_>>()))
    };
    let first = say(&["--tools", "knowledge"]);
    assert!(!first.contains("note:"), "{first}");
    assert_snapshot!(say(&["--tools", "files", "--placement", "system"]), @"
    exit 0
    ----- stdout
    Said.
    ----- stderr
    note: the session began with `--tools knowledge` and keeps it; a new one can have `files`
    note: the session began with `--placement tool_result` and keeps it; a new one can have `system`
    answered · [TIME] · scripted/replies.jsonl · session one
    ");
    // Those it has anyway are no news, and neither is saying nothing.
    for words in [&["--tools", "knowledge", "--placement", "tool_result"][..], &[]] {
        assert!(!say(words).contains("note:"));
    }
}

#[test]
fn code_in_a_reply_is_run_only_if_the_user_wants_that() {
    let env = with_skill();
    let code = "Let me see.\n\n```bash\necho 2 | tee $OUTPUT_DIR/count.txt\n```";
    script(&env, &[json!({ "text": code }), json!({ "text": "Two." })]);
    let off = run_scripted(&env, &["count", "--session", "off"]);
    assert!(off.stdout.contains("```bash"), "{off}");
    // A project cannot want it.
    env.write("project/.metier/config.toml", "[agent]\ncode_execution = true\n");
    let project = run_scripted(&env, &["count", "--session", "project", "--trust-project"]);
    assert!(project.stdout.contains("```bash"), "{project}");
    std::fs::remove_file(env.project().join(".metier/config.toml")).expect("it was there");
    env.write("home/.metier/config.toml", "[agent]\ncode_execution = true\n");
    assert_snapshot!(steady(&run_scripted(&env, &["count", "--session", "on"])), @"
    exit 0
    ----- stdout
    Two.
    ----- stderr
    ran echo 2 | tee $OUTPUT_DIR/count.txt · exit 0 · [TIME]
    FILE                       SIZE  TYPE
    workspace://out/count.txt   2 B  text
    in [HOME]/.metier/workspaces/metier/local/on-3
    answered · [TIME] · scripted/replies.jsonl · session on
    ");
}

#[test]
fn details_are_shown_on_demand_while_a_task_is_done_and_afterwards() {
    let env = with_skill();
    counting(&env);
    let words = ["how long is it?", "notes.txt", "--session", "one", "--details"];
    let told = steady(&run_scripted(&env, &words));
    assert!(told.contains("\n│ loaded: counter\nran counter"), "{told}");
    assert!(told.contains("[TIME]\n│ 2\nFILE"), "{told}");
    assert_snapshot!(steady(&run(&env, "sessions show one")), @"
    exit 0
    ----- stdout
    you
      how long is it?
      with notes.txt (workspace://work/inputs/notes.txt)
    model
      Let me look.
      loaded counter
      ran counter: sh scripts/count.sh $WORK_DIR/inputs/notes.txt | tee $OUTPUT_DIR/count.txt · exit 0 · [TIME]
    model
      It has 2 lines; see out/count.txt.
    ----- stderr
    ");
    assert_snapshot!(steady(&run(&env, "sessions show one --details")), @r#"
    exit 0
    ----- stdout
    you
      how long is it?
      with notes.txt (workspace://work/inputs/notes.txt)
    model
      Let me look.
        call
        │ skill_load {"skill":"counter"}
      loaded counter
        result
        │ loaded: counter
        call
        │ skill_run {"skill":"counter","command":"sh scripts/count.sh $WORK_DIR/inputs/notes.txt | tee $OUTPUT_DIR/count.txt"}
      ran counter: sh scripts/count.sh $WORK_DIR/inputs/notes.txt | tee $OUTPUT_DIR/count.txt · exit 0 · [TIME]
        result
        │ 2
    model
      It has 2 lines; see out/count.txt.
    ----- stderr
    "#);
}
