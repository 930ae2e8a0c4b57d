//! Commands of a model on this machine: who is asked, what runs, and what is kept of it.

use insta::assert_snapshot;
use metier_testkit::{Outcome, Terminal, TestEnv};
use serde_json::{Value, json};

use super::bench::{call, run_scripted, script, steady, with_skill};
use crate::{at_terminal, run};

const ON_HOST: [&str; 4] = ["--tools", "files", "--executor", "host"];

/// Replies that run commands one after the other.
fn running(env: &TestEnv, commands: &[&str]) {
    let exec = |command: &&str| json!({ "calls": [call("exec", &json!({ "command": command }))] });
    let mut replies: Vec<Value> = commands.iter().map(exec).collect();
    replies.push(json!({ "text": "Done." }));
    script(env, &replies);
}

/// Does a task on the host, without a terminal.
fn on_host(env: &TestEnv, words: &[&str]) -> Outcome {
    run_scripted(env, &[&["go", "--session", "one"], &ON_HOST[..], words].concat())
}

/// Does a task on the host at a terminal, where these answers are typed when asked.
fn at_a_terminal(env: &TestEnv, session: &str, answers: &[&str]) -> String {
    let mut command = at_terminal(env);
    command.args(["run", "go", "--session", session, "--model", "scripted/replies.jsonl"]);
    command.args(["--skills-dir", "skills", "--no-default-sources"]).args(ON_HOST);
    command.env("TERM", "xterm");
    let mut terminal = Terminal::start(command, 120);
    for answer in answers {
        terminal.wait_for_next("[d]eny? ");
        terminal.write(&format!("{answer}\n"));
    }
    let (code, _, stderr) = terminal.finish();
    let stderr: Vec<&str> = stderr.lines().filter(|line| !line.contains("Ctrl-C ends")).collect();
    let told = format!("{}\nexit {code}", stderr.join("\n"));
    crate::without_times(&told.replace(&env.home().display().to_string(), "[HOME]"))
}

#[test]
fn without_a_terminal_only_what_was_allowed_runs() {
    let env = with_skill();
    running(&env, &["uname -s", "printf one | tr o O", "echo $HOME", "uname -s | head -1"]);
    assert_snapshot!(steady(&on_host(&env, &["--yes-to", "printf"])), @"");
    running(&env, &["uname -s", "uname -r"]);
    assert_snapshot!(steady(&on_host(&env, &["--yes-to", "uname -s"])), @"");
    let allowed = run(&env, "approvals add uname --args=-r");
    assert_eq!(allowed.code, 0, "{allowed}");
    running(&env, &["uname -r"]);
    assert_eq!(on_host(&env, &["--quiet"]).stderr, "");
    let wrong = on_host(&env, &["--yes-to", "uname ("]);
    assert_snapshot!(format!("{} | {}", wrong.code, wrong.stderr), @"");
}

#[test]
fn a_person_is_asked_and_what_is_allowed_for_good_is_not_asked_again() {
    let env = with_skill();
    running(&env, &["uname -s | head -1", "touch made", "echo $HOME"]);
    assert_snapshot!(at_a_terminal(&env, "one", &["a", "what?", "d", "once"]), @"");
    running(&env, &["uname -s | head -1"]);
    assert_snapshot!(at_a_terminal(&env, "two", &[]), @"");
    assert_snapshot!(run(&env, "sessions show one").stdout, @"");
    assert!(!env.home().join(".metier/workspace/made").exists());
}

#[test]
fn what_cannot_be_seen_and_secrets_are_shown_safely() {
    let env = with_skill();
    let long = format!("echo {}", "x".repeat(20_000));
    running(
        &env,
        &[
            "echo a\u{202e}b\u{200b}c\u{1b}[2J",
            "curl -u me:hunter2secret --header 'Authorization: Bearer abcdefghijklmnopqrstuv'",
            "'ls ' x",
            &long,
        ],
    );
    assert_snapshot!(at_a_terminal(&env, "one", &["d", "d", "d"]), @"");
}

#[test]
fn a_broken_setting_or_database_lets_nothing_run() {
    let env = with_skill();
    running(&env, &["uname -s"]);
    env.write("home/.metier/config.toml", "[approvals]\nmode = \"everything\"\n");
    let told =
        |outcome: &Outcome| format!("{} | {} | {}", outcome.code, outcome.stdout, outcome.stderr);
    assert_snapshot!(told(&on_host(&env, &["--yes-to", "uname"])), @"");
    env.write("home/.metier/config.toml", "");
    env.write("home/.metier/metier.db", "this is no database, and long enough to be looked at");
    assert_snapshot!(told(&on_host(&env, &["--yes-to", "uname"])), @"");
}

#[test]
fn lists_of_commands_leave_one_plain_command_without_a_shell() {
    let env = with_skill();
    let run_in =
        |command: &str| call("skill_run", &json!({ "skill": "counter", "command": command }));
    let load = call("skill_load", &json!({ "skill": "counter" }));
    let commands =
        ["echo 'a  b'", "echo a; touch made", "touch made", "env touch made", "./echo a"];
    let mut replies = vec![json!({ "calls": [load] })];
    replies.extend(commands.map(|command| json!({ "calls": [run_in(command)] })));
    replies.push(json!({ "text": "Done." }));
    script(&env, &replies);
    let env = env.with_variable("METIER_SKILL_RUN_ALLOWED_COMMANDS", "echo,env");
    assert_snapshot!(steady(&run_scripted(&env, &["go", "--session", "one"])), @"");
    let env = env
        .with_variable("METIER_SKILL_RUN_ALLOWED_COMMANDS", "")
        .with_variable("METIER_SKILL_RUN_DENIED_COMMANDS", "touch");
    assert_snapshot!(steady(&run_scripted(&env, &["go", "--session", "two"])), @"");
}
