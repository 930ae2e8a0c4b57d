//! What `run`, `chat` and their relatives say when something is not as it was meant.

use insta::assert_snapshot;
use metier_testkit::Terminal;
use serde_json::json;

use super::bench::{call, run_scripted, script, with_skill};
use crate::{compact, run};

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
    2 |  | error: `context.compact_at` cannot be 0 / hint: set it to a number from 1 to 100
    2 |  | error: `context.compact_at` cannot be 101 / hint: set it to a number from 1 to 100
    2 |  | error: `agent.max_requests` cannot be 0 / hint: set it to 1 or more
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
    assert_snapshot!(told("", on), @"warning: [PROJECT]/.metier/config.toml:1:1: `agent.code_execution` is not taken from a project [M090]");
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
fn who_runs_commands_of_a_model_is_offered_without_the_host() {
    let env = with_skill();
    for command in ["run", "chat"] {
        let help = run(&env, &format!("{command} -h")).stdout;
        let line = help.lines().find(|line| line.contains("--executor")).unwrap_or_default();
        assert!(line.contains("sandbox or container") && !help.contains("host"), "{help}");
    }
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
