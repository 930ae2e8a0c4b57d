//! Scripts that reply, match, wait and fail.

use super::*;
use crate::{ModelSettings, StopReason, ToolSpec, open};

fn asked(text: &str) -> Request {
    let schema = serde_json::json!({"type": "object"});
    let [name, description] = ["skill_load", "loads"].map(str::to_owned);
    let tools = vec![ToolSpec { name, description, schema }];
    Request { messages: vec![Message::user(text)], tools, ..Request::default() }
}

/// All events of the reply to a request, a line each.
async fn shown(model: &Scripted, request: &Request) -> String {
    let mut lines = Vec::new();
    match model.stream(request).await {
        Err(error) => lines.push(format!("error: {error}")),
        Ok(mut replies) => {
            while let Some(event) = replies.next().await {
                lines.push(
                    event.map_or_else(
                        |error| format!("error: {error}"),
                        |event| format!("{event:?}"),
                    ),
                );
            }
        }
    }
    lines.join("\n")
}

async fn text(model: &Scripted, said: &str) -> String {
    let replies = model.stream(&asked(said)).await.unwrap();
    replies.finish().await.unwrap().text()
}

#[tokio::test]
async fn entries_reply_in_order_unless_one_fits() {
    let script = r#"
        # a comment
        {"text": "one"}
        {"when": {"last": "chart"}, "times": 1, "text": "a chart"}
        {"text": "two"}
    "#;
    let model = Scripted::from_text(script).unwrap();
    assert_eq!(text(&model, "hi").await, "one");
    assert_eq!(text(&model, "a chart please").await, "a chart");
    assert_eq!(text(&model, "a chart please").await, "two");
    assert_eq!(shown(&model, &asked("more")).await, "error: the script has no reply for request 4");
    assert_eq!(model.requests().len(), 4);
    assert_eq!(model.requests()[0], asked("hi"));
}

#[tokio::test]
async fn a_reply_arrives_in_pieces_with_ids_that_are_always_the_same() {
    let script = r#"[{"reasoning": "hm", "text": "Let me look.", "usage": {"input": 9, "output": 3},
        "calls": [{"name": "skill_load", "arguments": {"skill": "a"}}]}]"#;
    let model = Scripted::from_text(script).unwrap();
    insta::assert_snapshot!(shown(&model, &asked("hi")).await, @r#"
    Reasoning("hm")
    Text("Let ")
    Text("me ")
    Text("look.")
    CallBegun { index: 0, id: "call_1_0", name: "skill_load" }
    CallArguments { index: 0, text: "{\"skill\": \"a\"}" }
    Usage(Usage { input: 9, cached_input: 0, cache_write: 0, output: 3, reasoning: 0 })
    Done(Reply { parts: [Reasoning { text: "hm", opaque: None }, Text("Let me look."), Call { id: "call_1_0", name: "skill_load", arguments: "{\"skill\": \"a\"}" }], stop: Calls, usage: Usage { input: 9, cached_input: 0, cache_write: 0, output: 3, reasoning: 0 }, request_id: None, model: None })
    "#);
}

#[tokio::test]
async fn an_error_comes_after_what_was_said() {
    let script = r#"{"text": "I", "error": {"kind": "context_overflow", "message": "too long"}}"#;
    let model = Scripted::from_text(script).unwrap();
    assert_eq!(
        shown(&model, &asked("hi")).await,
        "Text(\"I\")\nerror: the conversation is too long for the model: too long"
    );
}

#[tokio::test(start_paused = true)]
async fn a_delay_passes_before_the_first_event() {
    let model = Scripted::from_text(r#"{"text": "late", "delay_ms": 60000}"#).unwrap();
    let started = tokio::time::Instant::now();
    assert_eq!(text(&model, "hi").await, "late");
    assert_eq!(started.elapsed(), Duration::from_secs(60));
}

#[tokio::test]
async fn text_that_is_a_call_is_read_as_one() {
    let entry = serde_json::json!({"text": r#"{"name":"skill_load","arguments":{"skill":"a"}}"#});
    let model = Scripted::from_text(&entry.to_string()).unwrap();
    let reply = model.stream(&asked("hi")).await.unwrap().finish().await.unwrap();
    assert_eq!(reply.stop, StopReason::Calls);
}

#[test]
fn an_entry_that_is_not_valid_is_named() {
    let error = Scripted::from_text("{\"text\": \"a\"}\n{\"txt\": \"b\"}").unwrap_err();
    assert_eq!(error.to_string(), "entry 2 of the script is not valid");
    let error = Scripted::from_file(Path::new("no/such/script")).unwrap_err();
    assert_eq!(error.to_string(), "cannot read the script `no/such/script`");
}

#[test]
fn times_without_a_when_are_refused() {
    let error = Scripted::from_text("{\"text\": \"a\", \"times\": 2}").unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    insta::assert_snapshot!(format!("{error}: {source}"), @"entry 1 of the script is not valid: `times` is for entries with `when`; the others reply once");
}

#[tokio::test]
async fn only_the_latest_requests_are_remembered() {
    let model = Scripted::from_text(r#"{"when": {}, "text": "again"}"#).unwrap();
    for number in 0..MAX_REMEMBERED + 3 {
        model.stream(&asked(&number.to_string())).await.unwrap();
    }
    assert_eq!(model.requests().len(), MAX_REMEMBERED);
    assert_eq!(model.requests()[0], asked("3"));
}

#[tokio::test]
async fn a_script_is_opened_like_any_model() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script.jsonl");
    std::fs::write(&file, r#"{"text": "from a file"}"#).unwrap();
    let name = format!("scripted/{}", file.display());
    let model = open(&name, &ModelSettings::new([])).unwrap();
    assert_eq!(model.name(), name);
    let reply = model.stream(&asked("hi")).await.unwrap().finish().await.unwrap();
    assert_eq!(reply.text(), "from a file");
}
