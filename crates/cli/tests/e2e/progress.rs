//! Whatever takes its time shows that on a terminal, and nowhere else.

use std::time::Duration;

use metier_testkit::server::{Reply, Server};
use metier_testkit::{Terminal, TestEnv};

use crate::{at_terminal, environment, run};

/// What is slow here.
const SLOW: Duration = Duration::from_millis(1500);

/// A root on a server that takes its time to say that it has nothing.
fn with_slow_root() -> (TestEnv, Server) {
    let server = Server::start();
    server.reply("/skills.zip", Reply::status(404).delay(SLOW));
    let env = environment()
        .with_variable("SKILLS_ROOT", &server.url("/skills.zip"))
        .with_variable("TERM", "xterm-256color");
    (env, server)
}

/// Waits for a line while a command runs, and for it to be gone in the end.
fn comes_and_goes(env: &TestEnv, arguments: &[&str], line: &str) -> i32 {
    let mut command = at_terminal(env);
    command.args(arguments);
    let mut terminal = Terminal::start(command, 100);
    terminal.wait_for(line);
    terminal.wait_for("Ctrl-C ends it");
    let (code, _, seen) = terminal.finish();
    assert!(!seen.contains("Ctrl-C ends it"), "{seen}");
    code
}

#[test]
fn a_slow_download_is_told_and_then_forgotten() {
    for arguments in [&["skills", "list"][..], &["skills", "lint"], &["skills", "search", "tables"]]
    {
        let (env, _server) = with_slow_root();
        comes_and_goes(&env, arguments, "fetching http://127.0.0.1");
    }
}

#[test]
fn what_goes_on_within_something_is_told_as_long_as_it_does() {
    let (env, _server) = with_slow_root();
    comes_and_goes(&env, &["bench", "token-report"], "fetching http://127.0.0.1");
}

#[test]
fn a_server_that_takes_its_time_is_waited_for_with_a_line() {
    let server = Server::start();
    server.reply("/mcp", Reply::status(404).delay(SLOW));
    let env = environment().with_variable("TERM", "xterm-256color");
    let flag = format!("--mcp={}", server.url("/mcp"));
    comes_and_goes(&env, &["skills", "list", &flag], "asking for the skills of ");
    let settings = format!("[mcp.servers.far]\nurl = \"{}\"\n", server.url("/mcp"));
    env.write("home/.metier/config.toml", settings);
    comes_and_goes(&env, &["mcp", "servers"], "asking servers for their tools");
}

#[test]
fn the_line_is_silent_in_a_pipe_with_quiet_and_on_a_terminal_that_cannot_erase() {
    let (env, _server) = with_slow_root();
    let outcome = run(&env, "skills list");
    assert!(!outcome.stderr.contains("fetching"), "{outcome}");
    let quiet = |env: &TestEnv, arguments: &[&str]| {
        let mut command = at_terminal(env);
        command.args(arguments);
        let (_, written, _) = Terminal::start(command, 100).finish();
        assert!(!written.contains("Ctrl-C"), "{written}");
    };
    quiet(&env, &["--quiet", "skills", "list"]);
    quiet(&env.with_variable("TERM", "dumb"), &["skills", "list"]);
}

#[test]
fn quiet_leaves_the_answer_and_errors() {
    let env = environment();
    env.skill("project/.metier/skills", "ours", "Ours. Use when asked.");
    for line in [
        "skills list",
        "skills tokens",
        "skills lint",
        "skills explain csv-stats",
        "skills docs csv-stats",
        "sessions list",
        "usage",
        "config show",
        "approvals list",
        "trust --list",
        "trust",
        "gc",
        "mcp servers",
        "skills new fresh",
        "demo load-modes",
        "run --model offline --session one hello",
        "artifacts list --session one",
        "sessions rm one",
    ] {
        let outcome = run(&env, &format!("--quiet {line}"));
        assert_eq!(outcome.stderr, "", "{line}: {outcome}");
    }
    let outcome = run(&env, "--quiet skills info nothing");
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.starts_with("error: there is no skill `nothing`"), "{outcome}");
}
