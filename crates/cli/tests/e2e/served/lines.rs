//! The same over standard input: lines that nobody should write.

use metier_testkit::{Outcome, TestEnv};
use serde_json::{Value, json};

use super::{initialize, request, run_sleeping};
use crate::environment;

/// The largest message that is taken.
const MAX_MESSAGE: usize = 4 << 20;

/// Writes lines and closes the input; what came back.
fn outcome(env: &TestEnv, lines: &[&[u8]]) -> Outcome {
    let mut input = lines.join(&b'\n');
    input.extend((!lines.is_empty()).then_some(b'\n'));
    said(env, &input)
}

/// Writes all at once and closes the input; what came back.
fn said(env: &TestEnv, input: &[u8]) -> Outcome {
    let mut command = env.command(env.binary());
    command.args(["mcp", "--no-default-sources", "--skills-dir", "skills"]);
    env.finish(command, input)
}

/// Lines between an `initialize` and a `ping`: what was said to them, one answer in a line.
fn answers(lines: &[&[u8]]) -> String {
    let env = environment();
    env.skill("project/skills", "greet", "Says hello.");
    let (first, last) = (initialize().to_string(), request("last", "ping", &json!({})).to_string());
    let mut all = vec![first.as_bytes()];
    all.extend(lines);
    all.push(last.as_bytes());
    let outcome = outcome(&env, &all);
    assert_eq!(outcome.code, 0, "{outcome}");
    let answers = outcome.stdout.lines().map(|line| {
        let message: Value = serde_json::from_str(line).expect("JSON");
        let id = message.get("id").map_or_else(|| "none".to_owned(), Value::to_string);
        match message.get("error") {
            Some(error) => format!("{id}: {}", error["code"]),
            None => format!("{id}: answered"),
        }
    });
    answers.collect::<Vec<_>>().join("\n")
}

#[test]
fn lines_that_are_no_message_are_refused() {
    let batch = json!([request(1, "ping", &json!({}))]).to_string();
    insta::assert_snapshot!(answers(&[
        b"",
        b"   \r",
        b"hello",
        br#"{"jsonrpc":"2.0","id":1,"method":"pi"#,
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\xfe\"}",
        b"\0\x01\x02\x03",
        b"null",
        br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        batch.as_bytes(),
        "[".repeat(10_000).as_bytes(),
        br#"{"jsonrpc":"2.0","id":"unknown","method":"skills/destroy"}"#,
        br#"{"jsonrpc":"2.0","method":"notifications/unheard-of"}"#,
        br#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
    ]), @r#"
    0: answered
    none: -32700
    none: -32700
    none: -32700
    none: -32700
    none: -32600
    1: -32600
    none: -32600
    none: -32600
    none: -32700
    "unknown": -32601
    "last": answered
    "#);
}

#[test]
fn a_line_has_a_bound() {
    let fits = request("fits", "ping", &json!({"x": "y".repeat(MAX_MESSAGE - 200)})).to_string();
    let long = request("long", "ping", &json!({"x": "y".repeat(MAX_MESSAGE)})).to_string();
    let huge = vec![b'x'; 64 << 20];
    let values = request("values", "ping", &json!({"x": vec![json!([]); 20_000]})).to_string();
    let answers = answers(&[fits.as_bytes(), long.as_bytes(), &huge, values.as_bytes()]);
    // A refusal need not wait for an answer.
    let mut answers: Vec<&str> = answers.lines().collect();
    answers.sort_unstable();
    let refused = ["none: -32600"; 3];
    let said = ["\"fits\": answered", "\"last\": answered", "0: answered"];
    assert_eq!(answers, [said, refused].concat());
}

#[test]
fn before_initialize_only_that_is_answered() {
    let env = environment();
    let call = request(1, "tools/call", &json!({"name": "skill_search", "arguments": {}}));
    let early = [
        br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_vec(),
        br#"{"jsonrpc":"2.0","id":5,"result":{}}"#.to_vec(),
        call.to_string().into_bytes(),
        initialize().to_string().into_bytes(),
        request(2, "ping", &json!({})).to_string().into_bytes(),
    ];
    let early: Vec<&[u8]> = early.iter().map(Vec::as_slice).collect();
    let outcome = outcome(&env, &early);
    let ids = outcome.stdout.lines().map(|line| {
        let message: Value = serde_json::from_str(line).expect("JSON");
        (message["id"].clone(), message.get("error").is_some())
    });
    let ids: Vec<_> = ids.collect();
    assert_eq!(ids, [(1.into(), true), (0.into(), false), (2.into(), false)]);
}

#[test]
fn the_last_line_need_not_be_ended() {
    let env = environment();
    env.skill("project/skills", "greet", "Says hello.");
    let outcome = said(&env, initialize().to_string().as_bytes());
    let answer: Value = serde_json::from_str(&outcome.stdout).expect("an answer");
    assert_eq!(answer["id"], 0, "{outcome}");
}

#[test]
fn a_call_that_is_one_too_many_is_told_so() {
    let env = environment();
    env.skill("project/skills", "demo", "Sleeps.");
    let mut lines = vec![initialize().to_string()];
    lines.extend((1..=257).map(|id| run_sleeping(id, "one-too-many").to_string()));
    let lines: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
    let outcome = outcome(&env, &lines);
    let refused =
        outcome.stdout.lines().filter(|line| line.contains("calls wait for their answers"));
    let refused: Vec<Value> = refused.filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert!(matches!(&refused[..], [it] if it["id"] == 257), "{outcome}");
}

#[test]
fn an_input_that_ends_at_once_is_no_error() {
    let env = environment();
    insta::assert_snapshot!(outcome(&env, &[]), @"
    exit 0
    ----- stdout

    ----- stderr
    error: [PROJECT]/skills: there is no such folder [M080]
    ");
}
