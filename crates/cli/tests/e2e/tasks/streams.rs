//! Answers of `metier run` at a terminal, while they come.

use std::time::Duration;

use insta::assert_snapshot;
use metier_testkit::server::{Reply, Server};
use metier_testkit::{Terminal, TestEnv};
use serde_json::{Value, json};

use super::bench::{asking, streamed, with_skill};
use crate::{at_terminal, seen};

const PATH: &str = "/v1/chat/completions";

/// A terminal without colours, and a model that is this server.
fn plain(server: &Server) -> TestEnv {
    asking(with_skill(), &server.url("/v1")).with_variable("NO_COLOR", "1")
}

fn start(env: &TestEnv) -> Terminal {
    let mut command = at_terminal(env);
    command.args(["run", "tell me", "--session", "one", "--skills-dir", "skills"]);
    command.args(["--no-default-sources", "--model", "openai/test"]).env("TERM", "xterm-256color");
    Terminal::start(command, 60)
}

fn words(text: &str) -> Vec<Value> {
    text.split_inclusive(' ').map(|word| json!({ "content": word })).collect()
}

#[test]
fn an_answer_is_there_before_it_is_whole_and_ctrl_c_keeps_what_came() {
    let server = Server::start();
    let text = format!("First paragraph.\n\nSecond {}", "and more ".repeat(2000));
    // It would take minutes.
    server.reply(PATH, streamed(&words(&text), "stop").trickle(512, Duration::from_millis(500)));
    let env = plain(&server);
    let mut terminal = start(&env);
    terminal.wait_for_next("First paragraph.\r\n");
    terminal.wait_for_next("and more");
    terminal.write("\u{3}");
    let seen = seen(terminal);
    assert!(seen.starts_with("First paragraph.\n\nSecond and more"), "{seen}");
    assert!(seen.ends_with("stopped · [TIME] · openai/test · session one\ncode 130"), "{seen}");
}

#[test]
fn what_was_said_before_a_retry_is_said_to_be_void() {
    let server = Server::start();
    let broken = streamed(&words("Wrong from the start.\n\nAnd on"), "stop");
    let good = streamed(&words("## Right\n\nThis *counts*."), "stop");
    server.replies(PATH, [broken.cut_after(300), good]);
    let env = plain(&server);
    assert_snapshot!(seen(start(&env)), @"
    Wrong from the start.
    again: the reply broke off before its end; what was said
      above is void

    ## Right

    This *counts*.
    answered · [TIME] · openai/test · session one
    code 0
    ");
}

#[test]
fn a_call_in_writing_is_not_shown_as_an_answer() {
    let server = Server::start();
    let written =
        "```json\n{\"name\": \"skill_load\", \"arguments\": {\"skill\": \"counter\"}}\n```";
    server.replies(PATH, [streamed(&words(written), "stop"), streamed(&words("Loaded."), "stop")]);
    let env = plain(&server);
    assert_snapshot!(seen(start(&env)), @"
    loaded counter

    Loaded.
    answered · [TIME] · openai/test · session one
    code 0
    ");
}

#[test]
fn a_summary_for_the_model_is_not_shown_as_an_answer() {
    let server = Server::start();
    let env = plain(&server);
    env.write("home/.metier/config.toml", "[context]\ntokens = 1000\ncompact_at = 50\n");
    server.reply(PATH, streamed(&words("Hello."), "stop"));
    let first = start(&env);
    assert!(seen(first).contains("Hello."));
    let summary = streamed(&words("Summary one.\n\nSummary two.\n\nThree"), "stop");
    server.replies(PATH, [summary, streamed(&words("The answer."), "stop")]);
    let told = seen(start(&env));
    assert!(told.contains("The answer.") && told.contains("summarised older turns"), "{told}");
    assert!(!told.contains("Summary"), "{told}");
}

#[test]
fn a_reply_that_never_comes_is_an_error_and_no_answer() {
    let server = Server::start();
    server.reply(PATH, Reply::status(401));
    let env = plain(&server);
    let told = seen(start(&env));
    assert!(told.starts_with("session one\nerror: "), "{told}");
    assert!(told.ends_with("code 1"), "{told}");
}
