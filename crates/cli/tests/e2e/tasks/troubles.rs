//! What goes wrong in the middle of a session: a clear line with what to do, and the session goes on
//! when it is over.

use std::process::Stdio;
use std::time::Duration;

use insta::assert_snapshot;
use metier_testkit::provider::{Said, Wire};
use metier_testkit::server::Reply;
use rusqlite::Connection;
use serde_json::json;

use super::bench::steady;
use super::talk::{Talk, load};
use crate::{compact, wait_until};

/// Says something to a provider that answers like this, whatever is asked; then goes on.
fn told(wire: Wire, reply: &Reply) -> String {
    let talk = Talk::new(wire);
    talk.say(&["first"], [load("a", "counter"), Said::text("1")]);
    talk.provider.server.reply(wire.path(), reply.clone());
    let outcome = talk.try_saying(&["second", "--quiet"]);
    let told =
        compact(&outcome).replace(&talk.provider.server.url("")["http://".len()..], "[SERVER]");
    talk.say(&["third"], [Said::text("3")]);
    let last = talk.sent().pop().expect("a request").messages.concat();
    for text in ["user: first\n", "user: second\n", "user: third\n"] {
        assert_eq!(last.matches(text).count(), 1, "{text:?}: {last}");
    }
    assert_eq!(talk.broken(), [0; 0]);
    told
}

fn refused(status: u16, error: &serde_json::Value) -> Reply {
    let body = json!({ "error": error }).to_string();
    Reply::ok(body).code(status).header("Content-Type", "application/json")
}

fn page(status: u16) -> Reply {
    let page = "<!DOCTYPE html>\n<html><head><title>Sorry</title></head><body>x</body></html>";
    Reply::ok(page).code(status).header("Content-Type", "text/html")
}

#[test]
fn what_a_provider_refuses_leaves_the_session_as_it_was() {
    let replies = [
        refused(401, &json!({ "message": "invalid x-api-key", "type": "authentication_error" })),
        refused(404, &json!({ "message": "model: small", "type": "not_found_error" })),
        Reply::status(404),
        refused(400, &json!({ "message": "temperature is out of range" })),
        Reply::ok("pong"),
        page(200),
        page(404),
        page(403),
        Reply::ok("{\"answer\": 42}").header("Content-Type", "application/json"),
    ];
    for wire in [Wire::ChatCompletions, Wire::Messages] {
        let lines: Vec<String> = replies.iter().map(|reply| told(wire, reply)).collect();
        insta::with_settings!({ snapshot_suffix => wire.word() }, {
            assert_snapshot!(lines.join("\n"));
        });
    }
}

#[test]
fn a_conversation_that_does_not_fit_leaves_the_session_as_it_was() {
    let error = json!({ "message": "prompt is too long", "code": "context_length_exceeded" });
    assert_snapshot!(told(Wire::ChatCompletions, &refused(400, &error)), @"1 |  | error: the conversation is too long for the model: prompt is too long / hint: start a new session, or attach less");
}

#[test]
fn a_reply_without_a_word_is_told() {
    let wire = Wire::ChatCompletions;
    let talk = Talk::new(wire);
    talk.provider.says([Said::text("")]);
    assert_snapshot!(steady(&talk.try_saying(&["first"])), @"
    exit 1
    ----- stdout

    ----- stderr
    the model said nothing · [TIME] · test/small · session one
    hint: ask again with `--session one`, or name another model with `--model`
    ");
    talk.provider.says([Said::text("")]);
    assert_snapshot!(compact(&talk.try_saying(&["second", "--quiet"])), @"1 |  | the model said nothing / hint: ask again with `--session one`, or name another model with `--model`");
    talk.say(&["third"], [Said::text("3")]);
    assert_eq!(talk.broken(), [0; 0]);
    let empty = Reply::ok("").header("Content-Type", "text/event-stream");
    assert_snapshot!(told(wire, &empty), @"1 |  | error: the reply broke off before its end / hint: try again later, or name another model with `--model`");
}

#[test]
fn a_server_that_cannot_be_reached_for_a_while_leaves_the_session_as_it_was() {
    let talk = Talk::new(Wire::ChatCompletions);
    talk.say(&["first"], [Said::text("1")]);
    talk.env.write(
        "home/.metier/config.toml",
        "[models.providers.test]\nbase_url = \"http://127.0.0.1:9/v1\"\n",
    );
    assert_snapshot!(compact(&talk.try_saying(&["second", "--quiet"])), @"1 |  | error: cannot reach `127.0.0.1:9`: Connection refused (os error 111) / hint: check that the server runs, and its address and your network");
    talk.set("");
    talk.say(&["third"], [Said::text("3")]);
    talk.assert_only_grew(2);
}

#[test]
fn a_database_that_is_locked_when_the_reply_comes_leaves_the_session_as_it_was() {
    let talk = Talk::new(Wire::ChatCompletions);
    talk.say(&["first"], [Said::text("1")]);
    let slow = talk.provider.wire.stream(&Said::text("2")).delay(Duration::from_secs(4));
    talk.provider.answers([slow]);
    let mut command = talk.env.command(talk.env.binary());
    command.args(Talk::words(&["second", "--quiet"])).stdin(Stdio::null());
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    wait_until("the question", || talk.provider.bodies().len() == 2);
    let other = Connection::open(talk.env.home().join(".metier/metier.db")).expect("a database");
    other.execute_batch("BEGIN IMMEDIATE").expect("the lock");
    let output = child.wait_with_output().expect("it ends");
    other.execute_batch("ROLLBACK").expect("it was held");
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(talk.env.without_paths(&output.stderr), @"error: the database `[HOME]/.metier/metier.db` was locked by another process for 10 seconds: try again, or end what holds it");
    talk.say(&["third"], [Said::text("3")]);
    talk.assert_only_grew(3);
}

#[test]
fn a_stream_that_stops_in_the_middle_is_asked_for_again_and_then_told() {
    // At the same time, because each waits between its tries.
    let trials = Wire::ALL.map(|wire| {
        let half = wire.stream(&Said::text("a reply that is cut off")).cut_after(120);
        std::thread::spawn(move || told(wire, &half))
    });
    let lines = trials.map(|trial| trial.join().expect("a line"));
    assert_snapshot!(lines.join("\n"), @"
    1 |  | error: the reply broke off before its end: unexpected EOF during chunk size line / hint: try again later, or name another model with `--model`
    1 |  | error: the reply broke off before its end: unexpected EOF during chunk size line / hint: try again later, or name another model with `--model`
    1 |  | error: the reply broke off before its end: unexpected EOF during chunk size line / hint: try again later, or name another model with `--model`
    ");
}

#[test]
fn a_server_that_fails_with_a_page_is_asked_again_and_then_told() {
    assert_snapshot!(told(Wire::ChatCompletions, &page(502)), @"1 |  | error: `[SERVER]` failed (status 502): Sorry x / hint: try again later, or name another model with `--model`");
}

#[test]
fn a_tool_that_does_not_exist_is_an_answer_to_the_model() {
    let talk = Talk::new(Wire::ChatCompletions);
    talk.say(&["first"], [Said::call("a", "frob", json!({})), Said::text("I see.")]);
    let last = talk.sent().pop().expect("a request").messages.concat();
    assert!(last.contains("tool: there is no tool `frob`; the tools are: skill_load"), "{last}");
}
