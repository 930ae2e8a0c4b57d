//! A skill, scripts of models, and servers that speak like providers.

use metier_testkit::server::Reply;
use metier_testkit::{Outcome, TestEnv};
use serde_json::{Value, json};

use crate::{environment, without_times};

/// An environment with a skill that has a doc and a script.
pub(super) fn with_skill() -> TestEnv {
    let env = environment();
    env.write(
        "project/skills/counter/SKILL.md",
        "---\nname: counter\ndescription: Counts lines. Use when asked how long a text is.\n---\n\n\
        # Counter\n\nRun `sh scripts/count.sh FILE`. For formats see `formats.md`.\n",
    );
    env.write("project/skills/counter/formats.md", "Numbers are written to `out/count.txt`.\n");
    env.write("project/skills/counter/scripts/count.sh", "wc -l < \"$1\"\n");
    env
}

/// Writes a script of replies.
pub(super) fn script(env: &TestEnv, replies: &[Value]) {
    let lines: Vec<String> = replies.iter().map(Value::to_string).collect();
    env.write("project/replies.jsonl", lines.join("\n"));
}

/// A call in a script.
pub(super) fn call(name: &str, arguments: &Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

/// Does a task with the skills of the project and the script.
pub(super) fn run_scripted(env: &TestEnv, words: &[&str]) -> Outcome {
    run_with(env, "scripted/replies.jsonl", words)
}

/// The same with another model.
pub(super) fn run_with(env: &TestEnv, model: &str, words: &[&str]) -> Outcome {
    let fixed = ["run", "--model", model, "--skills-dir", "skills", "--no-default-sources"];
    env.run(fixed.iter().chain(words))
}

/// Says lines in a chat with the skills of the project and the script.
pub(super) fn chat(env: &TestEnv, words: &[&str], input: &str) -> Outcome {
    let fixed = ["chat", "--skills-dir", "skills", "--no-default-sources"];
    let model = ["--model", "scripted/replies.jsonl"];
    env.run_in(&env.project(), fixed.iter().chain(&model).chain(words), input)
}

/// The outcome without what differs from run to run.
pub(super) fn steady(outcome: &Outcome) -> String {
    without_times(&outcome.to_string())
}

/// A reply that streams these pieces of a message, as chat completions do.
pub(super) fn streamed(deltas: &[Value], finish: &str) -> Reply {
    let mut body = String::new();
    for delta in deltas {
        let chunk = json!({ "choices": [{ "index": 0, "delta": delta }] });
        body.push_str(&format!("data: {chunk}\n\n"));
    }
    let last = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": finish }] });
    let usage = json!({ "prompt_tokens": 700, "completion_tokens": 20,
        "prompt_tokens_details": { "cached_tokens": 512 } });
    let usage = json!({ "choices": [], "usage": usage });
    body.push_str(&format!("data: {last}\n\ndata: {usage}\n\ndata: [DONE]\n\n"));
    Reply::ok(body)
        .header("Content-Type", "text/event-stream")
        .trickle(64, std::time::Duration::ZERO)
}

/// An environment whose OpenAI is at this address.
pub(super) fn asking(env: TestEnv, address: &str) -> TestEnv {
    env.with_variable("OPENAI_BASE_URL", address)
        .with_variable("OPENAI_API_KEY", "sk-test-0123456789")
}
