//! What a model is sent and what is written down, in the flows that sessions are made of.

use insta::assert_snapshot;
use libtest_mimic::Failed;
use metier_agent::agent::LoadRequest;
use metier_agent::conversation::Placement;
use metier_agent::{Ending, LoadMode, Task};
use metier_session::content::{AssistantMessage, Call, Part, UserMessage};
use metier_session::{Content, NewEvent};
use serde_json::json;

use crate::Test;
use crate::bench::{Bench, calls, shown, text, wait};

pub(crate) const TESTS: &[Test] = &[
    ("flow::load_then_docs_then_run", load_then_docs_then_run),
    ("flow::the_older_layout_has_everything_in_the_system_text", older_layout),
    ("flow::what_is_wrong_is_a_result_that_says_what_to_do", wrong_calls),
    ("flow::loading_again_says_so_and_repeats_nothing", loading_again),
    ("flow::docs_selected_at_the_same_time_are_not_lost", parallel_selections),
    ("flow::what_is_loaded_lasts_as_long_as_its_mode", modes),
    ("flow::a_skill_that_makes_room_leaves_the_requests", eviction),
    ("flow::a_skill_that_makes_room_at_once_is_never_shown", eviction_at_once),
    ("flow::loads_that_come_with_a_task_need_no_call", declared_loads),
    ("flow::a_call_that_was_interrupted_is_answered", interrupted_call),
    ("flow::turns_end", endings),
    ("flow::a_skill_that_is_called_like_a_tool_is_loaded", skill_as_tool),
    ("flow::older_turns_are_summarised_and_skills_are_not", compaction),
];

fn load(skill: &str) -> (&'static str, serde_json::Value) {
    ("skill_load", json!({ "skill": skill }))
}

fn load_then_docs_then_run() -> Result<(), Failed> {
    let bench = Bench::new();
    let script = calls(&[load("pdf")])
        + &calls(&[("skill_select_docs", json!({ "skill": "pdf", "docs": ["forms.md"] }))])
        + &calls(&[("skill_run", json!({ "skill": "pdf", "command": "sh scripts/pages" }))])
        + &text("It has 3 pages.");
    let done = bench.say("How many pages?", &script);
    let outcome = done.outcome?;
    assert_eq!((outcome.ending, outcome.text.as_str()), (Ending::Answered, "It has 3 pages."));
    let last = shown(done.requests.last().unwrap());
    let (before, run) = last.split_once("RESULT skill_run\n").unwrap();
    assert_snapshot!(before);
    let run: serde_json::Value = serde_json::from_str(run)?;
    assert_eq!((&run["stdout"], &run["exit_code"]), (&json!("3 pages\n"), &json!(0)));
    assert_snapshot!(bench.state(), @r#"
    temp:skill:docs:pdf = ["forms.md"]
    temp:skill:loaded:pdf = 1
    temp:skill:order:default = ["pdf"]
    "#);
    // The transcript has stubs only.
    let stored: Vec<String> = bench
        .events()
        .iter()
        .filter_map(|event| match &event.content {
            Content::ToolResponse(response) => Some(response.text.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(stored[0], "loaded: pdf");
    assert_eq!(
        stored[1],
        r#"{"skill":"pdf","selected_docs":["forms.md"],"include_all_docs":false,"mode":"replace"}"#
    );
    Ok(())
}

fn older_layout() -> Result<(), Failed> {
    let mut bench = Bench::new();
    bench.settings.prompt.layout.placement = Placement::System;
    let script =
        calls(&[("skill_load", json!({ "skill": "pdf", "docs": ["forms.md"] }))]) + &text("Done.");
    let done = bench.say("Look.", &script);
    done.outcome?;
    let last = done.requests.last().unwrap();
    assert!(last.system.starts_with(&done.requests[0].system));
    assert_snapshot!(&last.system[done.requests[0].system.len()..]);
    assert!(shown(last).ends_with("RESULT skill_load\nloaded: pdf"), "{}", shown(last));
    Ok(())
}

fn wrong_calls() -> Result<(), Failed> {
    let bench = Bench::new();
    let script = calls(&[
        load("pfd"),
        ("skill_load", json!({ "skill": "pdf", "docs": ["none.md"] })),
        ("skill_run", json!({ "skill": "pdf", "command": "true" })),
        ("skill_select_docs", json!({ "skill": "pdf", "docs": ["forms.md"] })),
        ("skill_run", json!({ "skill": "pdf", "command": "true", "outputs": { "globs": "x" } })),
        ("teleport", json!({})),
        ("read_file", json!({ "file_name": "workspace://../../etc/passwd" })),
        ("read_file", json!({ "file_name": "workspace://metadata.json" })),
        ("read_file", json!({ "file_name": "/workspace/.homes/pdf/.netrc" })),
        ("read_file", json!({ "file_name": "runs/1/record.json" })),
    ]) + &text("I give up.");
    let done = bench.say("Try.", &script);
    done.outcome?;
    assert_snapshot!(shown(done.requests.last().unwrap()));
    assert_eq!(bench.state(), "");
    Ok(())
}

fn loading_again() -> Result<(), Failed> {
    let bench = Bench::new();
    let script = calls(&[load("pdf")])
        + &calls(&[load("pdf")])
        + &calls(&[("skill_load", json!({ "skill": "pdf", "docs": ["tables.md"] }))])
        + &text("Done.");
    let done = bench.say("Look.", &script);
    done.outcome?;
    let last = shown(done.requests.last().unwrap());
    assert_eq!(last.matches("Run `scripts/pages`").count(), 1, "{last}");
    assert_eq!(last.matches("How to read tables").count(), 1, "{last}");
    assert!(last.contains("already loaded: pdf (its text is above)"), "{last}");
    // In the next turn the text is still there, so loading it costs a line.
    let done = bench.say("And again.", &(calls(&[load("pdf")]) + &text("Done.")));
    done.outcome?;
    let last = shown(done.requests.last().unwrap());
    assert_eq!(last.matches("Run `scripts/pages`").count(), 1, "{last}");
    assert!(last.ends_with("RESULT skill_load\nloaded: pdf (its text is above)"), "{last}");
    assert!(bench.state().contains("temp:skill:loaded:pdf = 1"));
    Ok(())
}

fn parallel_selections() -> Result<(), Failed> {
    let bench = Bench::new();
    let add =
        |doc: &str| ("skill_select_docs", json!({ "skill": "pdf", "docs": [doc], "mode": "add" }));
    let script =
        calls(&[load("pdf"), add("tables.md"), add("forms.md"), add("tables.md")]) + &text("Done.");
    bench.say("Look.", &script).outcome?;
    assert!(bench.state().contains(r#"temp:skill:docs:pdf = ["tables.md","forms.md"]"#));
    Ok(())
}

fn modes() -> Result<(), Failed> {
    let mut seen = String::new();
    for mode in [LoadMode::Turn, LoadMode::Once, LoadMode::Session] {
        let mut bench = Bench::new();
        bench.settings.mode = mode;
        // Nothing is kept for the cache's sake, so that what is seen is what is loaded.
        bench.settings.retain_tokens = 0;
        let first =
            bench.say("One.", &(calls(&[load("pdf")]) + &calls(&[load("charts")]) + &text("1")));
        let second = bench.say("Two.", &text("2"));
        let third = bench.say("Three.", &text("3"));
        for (number, done) in [first, second, third].into_iter().enumerate() {
            done.outcome?;
            for request in &done.requests {
                let request = shown(request);
                let has = |text: &str| request.contains(text);
                let (pdf, charts) = (has("Run `scripts/pages`"), has("Draw with care"));
                seen += &format!("{mode} turn {}: pdf {pdf}, charts {charts}\n", number + 1);
            }
        }
    }
    assert_snapshot!(seen, @"
    turn turn 1: pdf false, charts false
    turn turn 1: pdf true, charts false
    turn turn 1: pdf true, charts true
    turn turn 2: pdf false, charts false
    turn turn 3: pdf false, charts false
    once turn 1: pdf false, charts false
    once turn 1: pdf true, charts false
    once turn 1: pdf false, charts true
    once turn 2: pdf false, charts false
    once turn 3: pdf false, charts false
    session turn 1: pdf false, charts false
    session turn 1: pdf true, charts false
    session turn 1: pdf true, charts true
    session turn 2: pdf true, charts true
    session turn 3: pdf true, charts true
    ");
    Ok(())
}

fn eviction() -> Result<(), Failed> {
    let mut bench = Bench::new();
    bench.settings.max_loaded_skills = Some(1);
    let script = calls(&[load("pdf")]) + &calls(&[load("charts")]) + &text("Done.");
    let done = bench.say("Look.", &script);
    done.outcome?;
    let last = shown(done.requests.last().unwrap());
    assert!(!last.contains("Run `scripts/pages`") && last.contains("Draw with care"), "{last}");
    assert_snapshot!(bench.state(), @r#"
    temp:skill:docs:charts = []
    temp:skill:loaded:charts = 1
    temp:skill:order:default = ["charts"]
    "#);
    let breaks: Vec<_> = bench.events().into_iter().filter_map(|event| event.breaks).collect();
    assert_eq!(breaks.len(), 1, "{breaks:?}");
    Ok(())
}

fn eviction_at_once() -> Result<(), Failed> {
    let mut bench = Bench::new();
    bench.settings.max_loaded_skills = Some(1);
    let script = calls(&[load("pdf"), load("charts"), load("pdf")]) + &text("Done.");
    let done = bench.say("Look.", &script);
    done.outcome?;
    let last = shown(done.requests.last().unwrap());
    assert_snapshot!(last);
    assert!(bench.state().contains(r#"temp:skill:order:default = ["pdf"]"#));
    assert!(bench.events().iter().all(|event| event.breaks.is_none()));
    Ok(())
}

fn declared_loads() -> Result<(), Failed> {
    let bench = Bench::new();
    let load = |skill: &str| LoadRequest {
        skill: skill.to_owned(),
        docs: vec!["forms.md".to_owned()],
        ..LoadRequest::default()
    };
    let task = |skill: &str| Task {
        text: "Fill it in.".to_owned(),
        loads: vec![load(skill)],
        ..Task::default()
    };
    let done = bench.task(task("pdf"), &text("Done."));
    done.outcome?;
    assert_snapshot!(shown(&done.requests[0]));
    let done = bench.task(task("charts"), &text("Never."));
    assert_snapshot!(done.outcome.unwrap_err().to_string(), @"`charts` has no doc `forms.md`; its docs are: none. Nothing was loaded");
    assert_eq!(done.requests.len(), 0);
    Ok(())
}

fn interrupted_call() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.say("One.", &text("1")).outcome?;
    let store = bench.store();
    wait(async {
        let session = store.get(&bench.key).await?.unwrap();
        let call = Call {
            id: "c".to_owned(),
            name: "skill_run".to_owned(),
            arguments: "{}".to_owned(),
            ..Call::default()
        };
        let words = UserMessage { text: "Run it.".to_owned(), ..UserMessage::default() };
        let reply =
            AssistantMessage { parts: vec![Part::Call(call)], ..AssistantMessage::default() };
        let events = vec![
            NewEvent::new("ada", Content::User(words)),
            NewEvent::new("default", Content::Assistant(reply)),
        ];
        store.append(&session.at, session.seq, events).await
    })?;
    let done = bench.say("Go on.", &text("I see."));
    done.outcome?;
    let last = shown(&done.requests[0]);
    assert!(last.contains("RESULT skill_run (error)\nThis was interrupted"), "{last}");
    Ok(())
}

fn endings() -> Result<(), Failed> {
    let again = calls(&[("skill_search", json!({ "query": "pdf" }))]);
    let mut bench = Bench::new();
    assert_eq!(
        bench.say("Loop.", &again.repeat(20)).outcome?.ending,
        Ending::Looping { tool: "skill_search".to_owned() }
    );
    let unknown = (1..9).map(|it| calls(&[("nothing", json!({ "n": it }))])).collect::<String>();
    assert_eq!(bench.say("Guess.", &unknown).outcome?.ending, Ending::UnknownTools);
    // Every run has its own name and duration, and is the same all the same.
    let run = calls(&[("skill_run", json!({ "skill": "pdf", "command": "echo 1; exit 3" }))]);
    assert_eq!(
        bench.say("Insist.", &(calls(&[load("pdf")]) + &run.repeat(20))).outcome?.ending,
        Ending::Looping { tool: "skill_run".to_owned() }
    );
    bench.settings.limits.requests = 2;
    let done = bench.say("Hurry.", &again.repeat(3));
    assert_eq!(done.outcome?.ending, Ending::OutOfRequests);
    assert!(shown(&done.requests[1]).ends_with("calls are not run any more."));
    // Whatever a turn ended with, the next one goes on.
    assert_eq!(bench.say("Now?", &text("Yes.")).outcome?.ending, Ending::Answered);
    Ok(())
}

fn skill_as_tool() -> Result<(), Failed> {
    let bench = Bench::new();
    let done = bench.say("Look.", &(calls(&[("pdf", json!({ "file": "x" }))]) + &text("Done.")));
    done.outcome?;
    assert!(shown(done.requests.last().unwrap()).contains("[Loaded] pdf"));
    assert!(bench.state().contains("temp:skill:loaded:pdf = 1"));
    Ok(())
}

fn compaction() -> Result<(), Failed> {
    let mut bench = Bench::new();
    bench.settings.mode = LoadMode::Session;
    bench.say("One.", &(calls(&[load("pdf")]) + &text("First answer."))).outcome?;
    bench.settings.context_tokens = 800;
    let done = bench.say("Two.", &(text("They want pages counted.") + &text("Second answer.")));
    done.outcome?;
    let last = done.requests.last().unwrap();
    assert_snapshot!(shown(last));
    let causes: Vec<_> = bench.events().into_iter().filter_map(|it| it.breaks).collect();
    assert_eq!(causes.len(), 1, "{causes:?}");
    Ok(())
}
