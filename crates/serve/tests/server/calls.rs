//! Calls of tools.

use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use serde_json::{Value, json};

use super::Test;
use super::bench::{Bench, Client, NEW, OLD};

pub(crate) const TESTS: &[Test] = &[
    ("a_skill_is_found_loaded_and_run_and_what_it_kept_is_read", from_search_to_artifact),
    ("an_unknown_tool_is_an_error_of_the_protocol_and_a_wrong_call_is_a_result", wrong_calls),
    ("what_a_command_prints_is_told_while_it_runs", progress),
    ("a_call_that_is_cancelled_ends_its_processes", cancelled),
    ("a_client_without_sessions_calls_tools_as_well", without_sessions),
];

/// Calls a tool.
pub(crate) async fn call(client: &mut Client, tool: &str, arguments: Value) -> Value {
    client.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await
}

fn from_search_to_artifact() -> Result<(), Failed> {
    Bench::new().talk(OLD, async |client| {
        let found = call(client, "skill_search", json!({ "query": "pdf pages" })).await;
        assert_eq!(found["structuredContent"]["skills"][0]["name"], "pdf", "{found}");
        let loaded = call(client, "skill_load", json!({ "skill": "pdf" })).await;
        let text = loaded["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("Run `scripts/pages`."), "{text}");
        let ran = json!({
            "skill": "pdf",
            "command": "sh scripts/pages > out/pages.txt",
            "outputs": { "globs": ["out/*.txt"], "save": true },
        });
        let ran = call(client, "skill_run", ran).await;
        assert_eq!(ran["isError"], false, "{ran}");
        let kept = call(client, "artifact_read", json!({ "name": "out/pages.txt" })).await;
        assert!(kept["content"][0]["text"].as_str().unwrap().contains("3 pages"), "{kept} {ran}");
    });
    Ok(())
}

fn wrong_calls() -> Result<(), Failed> {
    Bench::new().talk(OLD, async |client| {
        let unknown = call(client, "skill_destroy", json!({})).await;
        assert_eq!(unknown["code"], -32602, "{unknown}");
        let list = client.ask("tools/call", json!({ "name": "skill_load", "arguments": [] })).await;
        assert_eq!(list["code"], -32602, "{list}");
        for (tool, arguments) in [
            ("skill_load", json!({ "skill": "pfd" })),
            ("skill_load", json!({})),
            ("skill_load", json!({ "skill": 7 })),
            ("skill_load", json!({ "skill": "charts" })),
            ("skill_run", json!({ "skill": "pdf" })),
            ("skill_read", json!({ "skill": "pdf", "path": "../charts/SKILL.md" })),
            ("artifact_read", json!({ "name": "nothing.txt" })),
        ] {
            let answer = call(client, tool, arguments.clone()).await;
            assert_eq!(answer["isError"], true, "{tool} {arguments}: {answer}");
            assert!(answer.get("structuredContent").is_none(), "{answer}");
        }
    });
    Ok(())
}

fn progress() -> Result<(), Failed> {
    Bench::new().talk(OLD, async |client| {
        let command = "for n in 1 2 3; do echo line $n; sleep 0.3; done";
        let params = json!({
            "name": "skill_run",
            "arguments": { "skill": "pdf", "command": command },
            "_meta": { "progressToken": "mine" },
        });
        let result = client.ask("tools/call", params).await;
        assert_eq!(result["isError"], false, "{result}");
        let told: Vec<&Value> =
            client.heard.iter().filter(|it| it["method"] == "notifications/progress").collect();
        assert!(told.len() > 1, "it is told bit by bit: {told:?}");
        let numbers: Vec<f64> =
            told.iter().map(|it| it["params"]["progress"].as_f64().unwrap()).collect();
        assert!(numbers.is_sorted_by(|one, other| one < other), "{numbers:?}");
        let texts = told.iter().map(|it| it["params"]["message"].as_str().unwrap());
        assert_eq!(texts.collect::<Vec<_>>().join("\n"), "line 1\nline 2\nline 3");
        assert!(told.iter().all(|it| it["params"]["progressToken"] == "mine"), "{told:?}");
    });
    Ok(())
}

fn cancelled() -> Result<(), Failed> {
    Bench::new().talk(OLD, async |client| {
        let command = "echo begun; sleep 86399 & sleep 86399";
        let params = json!({
            "name": "skill_run",
            "arguments": { "skill": "pdf", "command": command },
            "_meta": { "progressToken": 1 },
        });
        let id = client.send("tools/call", params).await;
        client.told("notifications/progress").await;
        assert!(is_running("86399"), "the command runs");
        let params = json!({ "requestId": id, "reason": "enough" });
        client.say(json!({ "method": "notifications/cancelled", "params": params })).await;
        let begun = Instant::now();
        while is_running("86399") {
            assert!(begun.elapsed() < Duration::from_secs(3), "it still runs");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let next = call(client, "skill_search", json!({ "query": "pdf" })).await;
        assert_eq!(next["isError"], false, "{next}");
        let late = client.heard.iter().any(|it| it["id"] == id);
        assert!(!late, "a call that is cancelled has no answer");
    });
    Ok(())
}

/// Whether a program has been started with an argument.
fn is_running(argument: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|it| std::fs::read(it.path().join("cmdline")).ok());
    lines.into_iter().any(|line| line.split(|it| *it == 0).any(|it| it == argument.as_bytes()))
}

fn without_sessions() -> Result<(), Failed> {
    Bench::new().talk(NEW, async |client| {
        let found = client.ask("server/discover", json!({})).await;
        assert!(found["instructions"].as_str().unwrap().contains("- pdf:"), "{found}");
        let found = call(client, "skill_search", json!({ "query": "pdf" })).await;
        assert_eq!(found["resultType"], "complete", "{found}");
        assert_eq!(found["structuredContent"]["skills"][0]["name"], "pdf", "{found}");
    });
    Ok(())
}
