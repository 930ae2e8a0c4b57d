//! What a provider is sent, as a server that records it sees it.

use insta::assert_snapshot;
use metier_testkit::server::Server;
use serde_json::{Value, json};

use super::bench::{asking, calling, run_with, streamed};

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
