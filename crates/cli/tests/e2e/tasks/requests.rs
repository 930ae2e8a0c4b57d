//! What a provider is sent, as a server that records it sees it.

use insta::assert_snapshot;
use metier_testkit::provider::{Said, Wire};
use metier_testkit::server::Server;
use serde_json::{Value, json};

use super::bench::{asking, calling, run_with, streamed};
use super::talk::Talk;
use crate::compact;

const PATH: &str = "/v1/chat/completions";

/// The messages of every request for the eye: only what was added to the one before.
fn grown(server: &Server) -> String {
    let mut shown = String::new();
    let mut before: Vec<Value> = Vec::new();
    for (number, request) in server.requests().iter().enumerate() {
        let body: Value = serde_json::from_slice(&request.body).expect("a request is JSON");
        let messages = body["messages"].as_array().expect("messages").clone();
        assert!(messages.starts_with(&before), "a request begins with the one before");
        shown.push_str(&format!("== request {}\n", number + 1));
        for message in &messages[before.len()..] {
            let text = message["content"].as_str().unwrap_or_default();
            // What a run answers differs from run to run.
            let text = if text.starts_with("{\"run\"") { "[RUN]" } else { text };
            shown.push_str(&format!("{}: {text}\n", message["role"].as_str().unwrap_or_default()));
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let function = &call["function"];
                shown.push_str(&format!("  {} {}\n", function["name"], function["arguments"]));
            }
        }
        before = messages;
    }
    shown
}

#[test]
fn a_skill_is_loaded_then_a_doc_then_it_runs_and_every_request_only_grows() {
    let server = Server::start();
    let command = "sh scripts/count.sh formats.md";
    server.replies(
        PATH,
        [
            streamed(&[calling("a", "skill_load", &json!({ "skill": "counter" }))], "tool_calls"),
            streamed(
                &[calling(
                    "b",
                    "skill_select_docs",
                    &json!({ "skill": "counter", "docs": ["formats.md"] }),
                )],
                "tool_calls",
            ),
            streamed(
                &[calling("c", "skill_run", &json!({ "skill": "counter", "command": command }))],
                "tool_calls",
            ),
            streamed(&[json!({ "content": "One" }), json!({ "content": " line." })], "stop"),
        ],
    );
    let env = asking(&server);
    let outcome = run_with(&env, "openai/test", &["how long are the formats?", "--session", "one"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "One line.\n"), "{outcome}");
    assert_snapshot!(grown(&server));
    let first = &server.requests()[0];
    assert_eq!(first.header("authorization"), Some("Bearer sk-test-0123456789"));
    let body: Value = serde_json::from_slice(&first.body).expect("JSON");
    assert_eq!((&body["model"], &body["stream"]), (&json!("test"), &json!(true)));
}

#[test]
fn the_model_is_the_one_named_then_that_of_the_settings_then_that_of_a_key() {
    let server = Server::start();
    server.reply(PATH, streamed(&[json!({ "content": "Yes." })], "stop"));
    let env = asking(&server);
    let fixed = ["run", "ask", "--no-skills"];
    let ask = |words: &[&str]| {
        let outcome = env.run(fixed.iter().chain(words));
        assert_eq!(outcome.stdout, "Yes.\n", "{outcome}");
        let requests = server.requests();
        let last = requests.last().expect("a request");
        let body: Value = serde_json::from_slice(&last.body).expect("JSON");
        let key = last.header("authorization").unwrap_or_default().to_owned();
        format!("{} {key}", body["model"].as_str().unwrap_or_default())
    };
    let by_key = ask(&[]);
    let address = server.url("/v1");
    let own = format!(
        "[agent]\nmodel = \"local/small\"\n\n[models.providers.local]\nbase_url = \"{address}\"\nkey = \"k-local-1\"\n"
    );
    env.write("home/.metier/config.toml", own);
    let by_settings = ask(&[]);
    let named = ask(&["--model", "openai/other"]);
    assert_snapshot!([by_key, by_settings, named].join("\n"), @"
    gpt-5 Bearer sk-test-0123456789
    small Bearer k-local-1
    other Bearer sk-test-0123456789
    ");
    // A project says neither who is asked nor with which key.
    env.write("project/.metier/config.toml", "[agent]\nmodel = \"openai/evil\"\n");
    assert_eq!(ask(&[]), "small Bearer k-local-1");
}

#[test]
fn the_whole_first_request_without_skills_costs_at_most_900_tokens() {
    for set in ["full", "knowledge", "single", "files"] {
        let server = Server::start();
        server.reply(PATH, streamed(&[json!({ "content": "Three." })], "stop"));
        let task = "How many pages does report.pdf have?";
        let fixed = ["run", task, "--no-skills", "--model", "openai/test", "--tools", set];
        let outcome = asking(&server).run(fixed);
        assert_eq!(outcome.stdout, "Three.\n", "{outcome}");
        let body = String::from_utf8(server.requests()[0].body.clone()).expect("a request is text");
        assert!(body.contains(task), "{body}");
        let count = metier_skill::tokens::count(&body);
        assert!(count <= 900, "{set}: {count} tokens: {body}");
    }
}

#[test]
fn a_server_that_can_enforce_it_makes_the_model_choose_a_skill_first() {
    let talk = Talk::new(Wire::ChatCompletions);
    let set = |word: &str| talk.set(&format!("tool_choice = \"{word}\"\n"));
    set("constrained");
    // What is enforced comes back as text, not as a call.
    let chosen = Said::text(r#"{"name": "skill_load", "arguments": {"skill": "counter"}}"#);
    talk.say(&["How long?"], [chosen, Said::text("Two lines.")]);
    let none = Said::text(r#"{"name": "skill_load", "arguments": {"skill": "none"}}"#);
    talk.say(&["Thank you."], [none, Said::text("You are welcome.")]);
    let asked = talk.provider.bodies().into_iter().map(|body| {
        let body: Value = serde_json::from_str(&body).expect("JSON");
        let names = &body["response_format"]["json_schema"]["schema"]["anyOf"][0]["properties"];
        format!("{} {}", body["tool_choice"], names["arguments"]["properties"])
    });
    assert_snapshot!(asked.collect::<Vec<_>>().join("\n"), @r#"
    "none" {"skill":{"enum":["charts","counter","none"]}}
    null null
    "none" {"skill":{"enum":["charts","counter","none"]}}
    null null
    "#);
    assert_snapshot!(talk.story(), @r#"
    == request 1
    user: How long?
    == request 2
    call: skill_load {"skill": "counter"}
    tool: [Loaded] counter

    # Counter

    Run `sh scripts/count.sh FILE`. For formats see `formats.md`.

    Docs loaded: none
    == request 3
    assistant: Two lines.
    user: Thank you.
    == request 4
    call: skill_load {"skill": "none"}
    tool: no skill was loaded: go on without one
    "#);
    assert_eq!(talk.state(), "");
    set("sometimes");
    assert_snapshot!(compact(&talk.try_saying(&["Well?"])), @"2 |  | error: `models.providers.test.tool_choice` cannot be `sometimes` / hint: set it to `auto` or `constrained`");
}
