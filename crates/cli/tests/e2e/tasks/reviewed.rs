//! What `run`, `chat` and their relatives say when something is not as it was meant.

use insta::assert_snapshot;
use metier_testkit::{Outcome, Terminal};
use serde_json::json;

use super::bench::{call, chat, run_scripted, script, with_skill};
use crate::{compact, run};

/// A chat with the script, a line of input a message.
#[test]
fn numbers_that_make_no_sense_are_refused_and_not_bent() {
    let env = with_skill();
    script(&env, &[json!({ "text": "Never said." })]);
    let lines = ["context.compact_at = 0", "context.compact_at = 101", "agent.max_requests = 0"];
    let told = lines.map(|line| {
        env.write("home/.metier/config.toml", format!("{line}\n"));
        compact(&run_scripted(&env, &["look"]))
    });
    assert_snapshot!(told.join("\n"), @"
    2 |  | error: `context.compact_at` cannot be 0 / hint: set it to a number from 1 to 100; settings go into `[HOME]/.metier/config.toml`
    2 |  | error: `context.compact_at` cannot be 101 / hint: set it to a number from 1 to 100; settings go into `[HOME]/.metier/config.toml`
    2 |  | error: `agent.max_requests` cannot be 0 / hint: set it to 1 or more; settings go into `[HOME]/.metier/config.toml`
    ");
    for line in ["context.compact_at = 1", "context.compact_at = 100", "agent.max_requests = 1"] {
        env.write("home/.metier/config.toml", format!("{line}\n"));
        assert_eq!(run_scripted(&env, &["look"]).code, 0, "{line}");
    }
}

#[test]
fn what_a_project_may_not_switch_on_is_said_not_to_be_taken() {
    let env = with_skill();
    let told = |home: &str, project: &str| {
        env.write("home/.metier/config.toml", home);
        env.write("project/.metier/config.toml", project);
        run(&env, "config show").stderr
    };
    let on = "agent.code_execution = true\n";
    assert_snapshot!(told("", on), @"
    warning: [PROJECT]/.metier/config.toml:1:1: `agent.code_execution` is not taken from a project, which may only switch it off [M090]
      hint: such a configuration can narrow what is allowed, never widen it
    ");
    // What is so anyway takes nothing.
    assert_eq!(told(on, on), "");
    assert_eq!(told("", "skills.enabled = true\n"), "");
}

#[test]
fn an_address_without_a_model_is_said_not_to_be_asked() {
    let env = with_skill().with_variable("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
    let sources = "--skills-dir skills --no-default-sources";
    let outcome = run(&env, &format!("run count --session one {sources}"));
    let first = outcome.stderr.lines().next().unwrap_or_default();
    assert_snapshot!(first, @"note: OPENAI_BASE_URL names no model, so the offline planner answers; `--model openai/NAME` asks that server");
    assert!(outcome.stderr.contains("· offline ·"), "{outcome}");
    let outcome = run(&env, &format!("run count --model offline {sources}"));
    assert!(!outcome.stderr.contains("OPENAI_BASE_URL"), "{outcome}");
}

#[test]
fn the_line_at_the_bottom_fits_the_terminal_it_is_on() {
    let env = with_skill().with_variable("NO_COLOR", "1").with_variable("TERM", "xterm");
    let slow = format!("sleep 1.5; : {}", "long ".repeat(20));
    let load = call("skill_load", &json!({ "skill": "counter" }));
    let run = call("skill_run", &json!({ "skill": "counter", "command": slow }));
    script(&env, &[json!({ "calls": [load] }), json!({ "calls": [run] }), json!({ "text": "A." })]);
    let mut command = env.command("/bin/sh");
    let line = "\"$0\" run x --session one --skills-dir skills --no-default-sources --model scripted/replies.jsonl > /dev/null";
    command.args(["-c", line]).arg(env.binary());
    let (code, written, seen) = Terminal::start(command, 50).finish();
    assert_eq!(code, 0, "{seen}");
    assert!(written.contains("Ctrl-C ends it"), "{written}");
    assert!(!seen.contains("Ctrl-C ends it") && !seen.contains("running"), "{seen}");
}

#[test]
fn what_is_wrong_with_the_skills_is_said_by_whoever_uses_them() {
    let env = with_skill();
    script(&env, &[json!({ "text": "Yes." })]);
    env.write("project/broken/two/SKILL.md", "no header\n");
    let model = "--model scripted/replies.jsonl";
    let commands = [
        ("run hello", model),
        ("chat", model),
        ("exec counter", "-- true"),
        ("bench token-report", ""),
    ];
    let told = commands.map(|(command, rest)| {
        let with = |more: &str| {
            let sources = format!("--no-default-sources --skills-dir skills {more}");
            let outcome = run(&env, &format!("{command} {sources} {rest}"));
            let is_problem = |line: &&str| line.starts_with("warning") || line.starts_with("error");
            outcome.stderr.lines().filter(is_problem).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(with(""), "", "{command}");
        with("--skills-dir nowhere --skills-dir broken")
    });
    assert_snapshot!(told[0], @"
    warning: [PROJECT]/broken/two/SKILL.md:1:1: there is no header; the folder and the first paragraph stand in for it [M013]
    error: [PROJECT]/nowhere: there is no such folder [M080]
    ");
    assert!(told.iter().all(|it| *it == told[0]), "{told:#?}");
    // JSON comes alone.
    for (command, rest) in [("exec counter", "-- true"), ("bench token-report", "")] {
        let sources = "--no-default-sources --skills-dir skills --skills-dir broken";
        assert_eq!(run(&env, &format!("{command} --json {sources} {rest}")).stderr, "");
    }
    let none = run(&env, "bench token-report --no-default-sources --skills-dir nowhere");
    assert_snapshot!(none.stderr, @"
    error: [PROJECT]/nowhere: there is no such folder [M080]
    error: there are no skills to measure with
    hint: `metier skills list` says why
    ");
}

#[test]
fn a_turn_without_an_answer_says_why_however_little_is_wanted() {
    let env = with_skill();
    script(&env, &[json!({ "text": "", "stop": "refusal" }), json!({ "text": "Yes." })]);
    let told = |outcome: &Outcome| format!("{} | {}", outcome.code, outcome.stderr);
    assert_snapshot!(told(&run_scripted(&env, &["try", "--json"])), @"1 | the model refused");
    assert_snapshot!(told(&run_scripted(&env, &["try", "--quiet", "--session", "one"])), @"
    1 | the model refused
    hint: put the task in other words with `--session one`, or name another model with `--model`
    ");
    let outcome = chat(&env, &["--quiet"], "try\nagain\n");
    assert_eq!(outcome.stdout, "Yes.\n");
    assert_snapshot!(told(&outcome), @"1 | the model refused");
}

#[test]
fn files_of_a_message_that_failed_come_with_the_next() {
    let env = with_skill();
    env.write("project/my notes.txt", "one\n");
    let wrong = json!({ "kind": "refused", "message": "not now" });
    let yes = json!({ "text": "Yes." });
    script(&env, &[json!({ "error": wrong }), yes.clone(), yes]);
    let input = "/attach \"my notes.txt\"\nfirst\nsecond\nthird\n";
    assert_snapshot!(chat(&env, &["--session", "one"], input).stderr, @"
    attached my notes.txt, to your next message
    error: `script` refuses the content of the request: not now
    hint: put the task in other words, or name another model with `--model`
    still attached 1 file, to your next message
    session one · 3 messages
    ");
    assert_snapshot!(run(&env, "sessions show one").stdout, @"
    you
      first
      with my notes.txt (workspace://work/inputs/my notes.txt)
    you
      second
      with my notes.txt (workspace://work/inputs/my notes.txt)
    model
      Yes.
    you
      third
    model
      Yes.
    ");
}

#[test]
fn an_empty_task_is_a_mistake() {
    let env = with_skill();
    script(&env, &[json!({ "text": "Never said." })]);
    for task in ["", " \n\t"] {
        let told = compact(&run_scripted(&env, &[task]));
        assert!(told.starts_with("2 |  | error: the task is empty / hint: write it in quotes"));
    }
}

#[test]
fn a_line_that_is_not_text_is_named() {
    let env = with_skill();
    script(&env, &[json!({ "text": "One." })]);
    let mut command = env.command("/bin/sh");
    let line = "printf 'a\\n\\377\\n' | \"$0\" chat --quiet --skills-dir skills --no-default-sources --model scripted/replies.jsonl";
    let output = command.args(["-c", line]).arg(env.binary()).output().expect("it runs");
    let [stdout, stderr] = [output.stdout, output.stderr].map(String::from_utf8);
    assert_eq!(stdout.as_deref(), Ok("One.\n"));
    assert_eq!(stderr.as_deref(), Ok("error: line 2 of standard input is not UTF-8\n"));
}

#[test]
fn a_chat_says_once_what_a_session_began_with_and_keeps() {
    let env = with_skill();
    let yes = json!({ "when": {}, "text": "Yes." });
    script(&env, &[yes]);
    assert_eq!(chat(&env, &["--session", "one"], "hello\n").code, 0);
    let outcome = chat(&env, &["--session", "one", "--tools", "single"], "a\nb\n/new\nc\n");
    let notes: Vec<&str> =
        outcome.stderr.lines().filter(|line| line.starts_with("note:")).collect();
    assert_snapshot!(notes.join("\n"), @"note: the session began with `--tools full` and keeps it; a new one can have `single`");
}
