//! What a provider is sent, as a server that records it sees it.

use insta::assert_snapshot;
use metier_testkit::provider::{Said, Wire};
use metier_testkit::server::Server;
use serde_json::{Value, json};

use super::bench::{asking, streamed, with_skill};
use super::talk::{Talk, command, docs, load};
use crate::compact;

const PATH: &str = "/v1/chat/completions";

#[test]
fn a_skill_is_loaded_then_a_doc_then_it_runs_and_every_request_only_grows() {
    let talk = Talk::new(Wire::ChatCompletions);
    let count = command("c", "sh scripts/count.sh formats.md");
    let said = [load("a", "counter"), docs("b", "formats.md"), count, Said::text("One line.")];
    talk.provider.says(said);
    let outcome = talk.try_saying(&["how long are the formats?"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "One line.\n"), "{outcome}");
    talk.assert_only_grew(4);
    assert_snapshot!(talk.story());
    let first = &talk.provider.server.requests()[0];
    assert_eq!(first.header("authorization"), Some("Bearer k-test-1"));
    let body: Value = serde_json::from_slice(&first.body).expect("JSON");
    assert_eq!((&body["model"], &body["stream"]), (&json!("small"), &json!(true)));
}

#[test]
fn the_model_is_the_one_named_then_that_of_the_settings_then_that_of_a_key() {
    let server = Server::start();
    server.reply(PATH, streamed(&[json!({ "content": "Yes." })], "stop"));
    let env = asking(with_skill(), &server.url("/v1"));
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
        let outcome = asking(with_skill(), &server.url("/v1")).run(fixed);
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
    assert_snapshot!(compact(&talk.try_saying(&["Well?"])), @"2 |  | error: [HOME]/.metier/config.toml:6: `models.providers.test.tool_choice` is not `auto` or `constrained`");
}
