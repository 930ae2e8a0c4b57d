//! What a person sees while something is installed, and Ctrl-C.

use std::time::Duration;

use insta::assert_snapshot;
use metier_testkit::server::{Reply, Server};
use metier_testkit::{Terminal, TestEnv};

use super::{bring, install, manager, with_options};
use crate::{at_terminal, write_skill};

fn start(env: &TestEnv) -> Terminal {
    let mut command = at_terminal(env);
    command.args(["skills", "install-deps", "ship", "--no-default-sources"]);
    command.args(["--skills-dir", "skills", "--yes"]);
    Terminal::start(command, 100)
}

#[test]
fn a_silent_manager_is_waited_for_with_a_line() {
    let env = with_options("{kind: uv, package: tool, bins: [tool]}");
    let env = env.with_variable("TERM", "xterm-256color");
    manager(&env, "uv", &format!("sleep 1.5; {}", bring("$UV_TOOL_BIN_DIR")));
    let mut terminal = start(&env);
    terminal.wait_for("running uv · ");
    let (code, _, seen) = terminal.finish();
    assert_eq!(code, 0, "{seen}");
    assert!(!seen.contains("Ctrl-C"), "{seen}");
}

#[test]
fn a_download_says_how_much_has_come_and_ctrl_c_ends_it_after_a_manager_ran() {
    let server = Server::start();
    let slow = Reply::ok(vec![0; 3 << 20]).trickle(64 << 10, Duration::from_millis(200));
    server.reply("/other", slow);
    let env = with_options("").with_variable("TERM", "xterm-256color");
    let header = format!(
        "name: ship\ndescription: Ships. Use when asked.\nmetadata: {{metier: {{requires: {{bins: [tool, other]}}, \
         install: [{{kind: uv, package: tool, bins: [tool]}}, \
         {{kind: download, url: '{}', sha256: {}, bins: [other]}}]}}}}",
        server.url("/other"),
        "0".repeat(64)
    );
    write_skill(&env, "ship", &header);
    manager(&env, "uv", &bring("$UV_TOOL_BIN_DIR"));
    let mut terminal = start(&env);
    terminal.wait_for("downloading, ");
    terminal.write("\u{3}");
    let (code, _, seen) = terminal.finish();
    assert_eq!(code, 130, "{seen}");
    assert!(!seen.contains("digest"), "{seen}");
}

#[test]
fn what_a_manager_said_before_it_failed_is_shown_quiet_or_not() {
    let env = with_options("{kind: uv, package: tool, bins: [tool]}");
    manager(&env, "uv", "for i in $(seq 30); do echo \"line $i\" >&2; done; exit 3");
    let outcome = install(&env, &["--yes", "--quiet"]);
    assert_snapshot!(outcome.stderr.replace("│ line ", ""), @"
    11
    12
    13
    14
    15
    16
    17
    18
    19
    20
    21
    22
    23
    24
    25
    26
    27
    28
    29
    30
    error: `uv` failed with exit code 3
    hint: what it said stands above
    ");
}
