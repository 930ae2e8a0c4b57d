//! What can go wrong between metier and a model: one clear line each, and what to do.

use insta::assert_snapshot;
use metier_testkit::server::{Reply, Server};
use serde_json::json;

use super::bench::{asking, run_scripted, run_with, script, with_skill};
use crate::compact;

/// The failure alone, the address of the server replaced.
fn told(server: &Server) -> String {
    let outcome = run_with(
        &asking(with_skill(), &server.url("/v1")),
        "openai/test",
        &["ask", "--session", "one"],
    );
    let address = server.url("");
    let host = address.trim_start_matches("http://");
    let port = host.rsplit(':').next().unwrap_or_default();
    compact(&outcome).replace(host, "[SERVER]").replace(port, "[PORT]")
}

fn answering(reply: Reply) -> Server {
    let server = Server::start();
    server.reply("/v1/chat/completions", reply);
    server
}

fn refusing(status: u16, code: &str, message: &str) -> Server {
    let error = json!({ "error": { "message": message, "code": code } });
    answering(Reply::ok(error.to_string()).code(status).header("Content-Type", "application/json"))
}

#[test]
fn every_way_a_provider_refuses_says_what_to_do() {
    let cases = [
        refusing(401, "invalid_api_key", "Incorrect API key provided: sk-test-0123456789."),
        refusing(403, "", "Your organization may not use this model"),
        refusing(404, "model_not_found", "The model `test` does not exist"),
        refusing(429, "insufficient_quota", "You exceeded your current quota"),
        refusing(400, "context_length_exceeded", "This model's maximum context length is 10"),
        answering(Reply::ok("<html>Welcome to nginx</html>").header("Content-Type", "text/html")),
    ];
    assert_snapshot!(cases.iter().map(told).collect::<Vec<_>>().join("\n"), @"
    1 |  | session one / error: `[SERVER]` does not accept the key: Incorrect API key provided: ****. / hint: check the key: it may be of another provider, mistyped or revoked
    1 |  | session one / error: `[SERVER]` does not allow this with the key: Your organization may not use this model / hint: ask for access to the model, or name another with `--model`
    1 |  | session one / error: `[SERVER]` does not know the model `test`, or the base URL is wrong: The model `test` does not exist / hint: name another with `--model provider/name`
    1 |  | session one / error: the account at `[SERVER]` has no quota left: You exceeded your current quota / hint: add credit, or name another model with `--model`
    1 |  | session one / error: the conversation does not fit into the model, not even summarised / hint: start a new session
    1 |  | session one / error: `[SERVER]` did not answer in the expected format; the answer begins with `<html>Welcome to nginx</html>` / hint: check the base URL: it must lead to an interface of models
    ");
}

#[test]
fn a_server_that_nobody_runs_is_told_after_some_tries() {
    let env = with_skill().with_variable("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
    let outcome = run_with(&env, "openai/test", &["ask", "--session", "one", "--quiet"]);
    assert_snapshot!(outcome, @"
    exit 1
    ----- stdout

    ----- stderr
    error: cannot reach `127.0.0.1:9`: Connection refused (os error 111)
    hint: check that the server runs, and its address and your network
    ");
}

#[test]
fn a_model_that_cannot_be_opened_leaves_no_session() {
    let env = with_skill();
    let cases = ["gpt", "nobody/x", "openai/gpt-5", "scripted/none.jsonl"];
    let told = cases.map(|model| compact(&run_with(&env, model, &["ask"]))).join("\n");
    assert_snapshot!(told, @"
    2 |  | error: `gpt` does not name a model: write it as `provider/name` / hint: for example `openai/gpt-5`; `offline` needs no model, and says what it is
    2 |  | error: there is no provider `nobody`; there are `anthropic`, `openai`, `offline` / hint: to add it, set `models.providers.nobody.base_url` to the address of its interface; settings go into `[HOME]/.metier/config.toml`
    1 |  | error: no key for `openai`: set `OPENAI_API_KEY` / hint: `--model offline` needs no key; or set `models.providers.openai.key`; settings go into `[HOME]/.metier/config.toml`
    2 |  | error: cannot read the script `none.jsonl`: No such file or directory (os error 2) / hint: check its name
    ");
    assert!(!env.home().join(".metier/metier.db").exists());
}

#[test]
fn files_and_words_that_cannot_be_used_are_mistakes() {
    let env = with_skill();
    script(&env, &[json!({ "text": "Never said." })]);
    let missing = run_scripted(&env, &["how", "long", "is", "it"]);
    let folder = run_scripted(&env, &["look", "skills"]);
    let session = run_scripted(&env, &["look", "--session", ""]);
    env.write("home/.metier/config.toml", "[skills]\nload_mode = \"always\"\n");
    let word = run_scripted(&env, &["look"]);
    env.write("home/.metier/config.toml", "[models.providers.mine]\nformat = \"responses\"\n");
    let provider = run_scripted(&env, &["look"]);
    let told = [missing, folder, session, word, provider];
    assert_snapshot!(told.iter().map(compact).collect::<Vec<_>>().join("\n"), @"
    2 |  | error: `long` cannot be read: No such file or directory (os error 2) / hint: the task is one argument in quotes; the files come after it
    2 |  | error: `skills` cannot be read: it is not a file
    2 |  | error: the id of the session cannot be used: it is empty / hint: name another session
    2 |  | error: [HOME]/.metier/config.toml:2: `skills.load_mode` is not `turn`, `once` or `session`
    2 |  | error: `models.providers.mine.base_url` is not set / hint: set it to where the provider is asked, such as `http://127.0.0.1:8080/v1`; settings go into `[HOME]/.metier/config.toml`
    ");
}

#[test]
fn a_damaged_database_is_named_and_left_as_it_is() {
    let env = with_skill();
    script(&env, &[json!({ "text": "Never said." })]);
    let database =
        env.write("home/.metier/metier.db", "not a database, but long enough to be read as one");
    assert_snapshot!(compact(&run_scripted(&env, &["look"])), @"1 |  | error: the database `[HOME]/.metier/metier.db` is damaged: file is not a database; move it away and start again, or restore a copy");
    let text = std::fs::read_to_string(database).expect("it is still there");
    assert!(text.starts_with("not a database"));
}
