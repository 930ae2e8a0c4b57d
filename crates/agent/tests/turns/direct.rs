//! Programs that are left running and talked to, and commands that a person gives to a tool.

use libtest_mimic::Failed;
use metier_agent::tools::ToolSet;
use metier_agent::{Dispatch, Ending};
use metier_model::Message;
use metier_session::Content;
use serde_json::{Value, json};

use crate::Test;
use crate::bench::{Bench, text};
use crate::sets::{outcomes, with};

pub(crate) const TESTS: &[Test] = &[
    ("direct::a_program_on_a_terminal_is_talked_to_and_ended", talked_to),
    ("direct::a_program_in_the_background_is_looked_at_until_it_has_ended", background),
    ("direct::programs_of_another_session_are_not_there", of_another_session),
    ("direct::a_command_of_a_person_goes_to_its_tool_without_a_model", dispatched),
    ("direct::a_tool_that_the_session_does_not_have_is_not_called", dispatched_to_nobody),
    ("direct::a_command_for_skill_run_needs_no_load_first", dispatched_to_a_skill),
];

fn json_of((text, is_error): &(String, bool)) -> Result<Value, Failed> {
    assert!(!is_error, "{text}");
    Ok(serde_json::from_str(text)?)
}

fn talked_to() -> Result<(), Failed> {
    let bench = with(ToolSet::Files);
    let program = "test -t 0 && read -p 'name? ' name && echo hello $name; sleep 600";
    let results = outcomes(
        &bench,
        &[
            ("exec", json!({ "command": program, "pty": true, "yield_ms": 20_000 })),
            ("process", json!({ "action": "write", "chars": "ada", "submit": true })),
            ("process", json!({ "action": "poll", "yield_ms": 300 })),
            ("process", json!({ "action": "list" })),
            ("process", json!({ "action": "kill" })),
        ],
    )?;
    let started = json_of(&results[0])?;
    assert_eq!(started["status"], "running", "{started}");
    assert_eq!(started["interaction"]["kind"], "prompt", "{started}");
    let heard = format!("{}{}", json_of(&results[1])?["output"], json_of(&results[2])?["output"]);
    assert!(heard.contains("hello ada"), "{heard}");
    assert_eq!(json_of(&results[3])?["sessions"][0]["session_id"], started["session_id"]);
    assert_eq!(json_of(&results[4])?["status"], "killed");
    Ok(())
}

fn background() -> Result<(), Failed> {
    let bench = with(ToolSet::Files);
    let command = "echo begun; read line; echo $GREETING $line > out/said.txt; exit 3";
    let results = outcomes(
        &bench,
        &[
            (
                "exec",
                json!({ "command": command, "background": true, "env": { "GREETING": "moin" } }),
            ),
            ("process", json!({ "action": "write", "chars": "ada", "submit": true })),
            ("process", json!({ "action": "poll", "yield_ms": 20_000 })),
            ("read", json!({ "path": "out/said.txt" })),
            ("process", json!({ "action": "write", "chars": "more" })),
        ],
    )?;
    assert_eq!(json_of(&results[0])?["status"], "running");
    let ended = json_of(&results[2])?;
    assert_eq!((&ended["status"], &ended["exit_code"]), (&json!("exited"), &json!(3)), "{ended}");
    assert_eq!(results[3].0, "1: moin ada\n");
    assert!(results[4].1 && results[4].0.contains("has ended"), "{:?}", results[4]);
    Ok(())
}

fn of_another_session() -> Result<(), Failed> {
    let bench = with(ToolSet::Files);
    let id = "018f0000000070008000000000000000";
    let results = outcomes(
        &bench,
        &[
            ("process", json!({ "action": "list" })),
            ("process", json!({ "action": "poll" })),
            ("process", json!({ "action": "kill", "session_id": id })),
        ],
    )?;
    assert_eq!(json_of(&results[0])?, json!({ "sessions": [] }));
    for (text, is_error) in &results[1..] {
        assert!(is_error, "{text}");
    }
    Ok(())
}

fn given_to(tool: &str, arguments: &str) -> Dispatch {
    Dispatch {
        text: format!("/pdf {arguments}"),
        command: "pdf".to_owned(),
        skill: "pdf".to_owned(),
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
        ..Dispatch::default()
    }
}

fn dispatched() -> Result<(), Failed> {
    let bench = with(ToolSet::Files);
    let outcome = bench.dispatch(given_to("exec", "echo done as told"))?;
    assert_eq!(outcome.ending, Ending::Answered);
    let output: Value = serde_json::from_str(&outcome.text)?;
    assert_eq!(output["stdout"], "done as told\n");
    let contents: Vec<_> = outcome.events.iter().map(|event| &event.content).collect();
    assert!(
        matches!(contents[..], [Content::User(said), Content::StateUpdate(update)]
            if said.text == "/pdf echo done as told" && update.cause == "command"),
        "{contents:?}"
    );
    // A model that is asked later knows of it, and nobody has invented a call.
    let done = bench.say("What was that?", &text("A command."));
    done.outcome?;
    let messages = &done.requests[0].messages;
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(messages.iter().all(|it| matches!(it, Message::User(_))), "{messages:?}");
    assert!(format!("{:?}", messages[1]).contains("done as told"), "{messages:?}");
    Ok(())
}

fn dispatched_to_nobody() -> Result<(), Failed> {
    let outcome = Bench::new().dispatch(given_to("exec", "echo hello"))?;
    assert!(outcome.text.starts_with("there is no tool `exec`"), "{}", outcome.text);
    Ok(())
}

fn dispatched_to_a_skill() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.write(
        "pdf/SKILL.md",
        "---\nname: pdf\ndescription: Reads PDF files.\ndisable-model-invocation: true\n---\n\nRead.\n",
    );
    let outcome = bench.dispatch(given_to("skill_run", "sh scripts/pages"))?;
    let output: Value = serde_json::from_str(&outcome.text)?;
    assert_eq!(output["stdout"], "3 pages\n", "{}", outcome.text);
    Ok(())
}
