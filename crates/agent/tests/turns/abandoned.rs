//! Turns that nobody waits for any more.

use std::path::PathBuf;
use std::sync::Arc;

use libtest_mimic::Failed;
use metier_agent::{Ending, Task, stop, unwatched};
use metier_model::Scripted;
use metier_session::{Content, Event};
use serde_json::json;

use crate::Test;
use crate::bench::{Bench, calls, text, wait};
use crate::visits_runs::{BEATING, begun, ended};

pub(crate) const TESTS: &[Test] = &[
    ("abandoned::commands_of_a_turn_that_is_dropped_are_ended", dropped),
    ("abandoned::a_turn_in_a_task_of_its_own_comes_to_its_end", in_a_task),
];

/// A model that runs something without an end.
fn model() -> Result<Arc<Scripted>, Failed> {
    let endless = json!({ "skill": "pdf", "command": BEATING });
    let script = calls(&[("skill_load", json!({ "skill": "pdf" })), ("skill_run", endless)]);
    Ok(Arc::new(Scripted::from_text(&script)?))
}

/// The trace that the command leaves, in the workspace of the first session.
fn trace(bench: &Bench) -> PathBuf {
    bench.folder.path().join("workspaces/test/ada/one-1/work/beat")
}

/// The last result of a tool.
fn last_result(events: &[Event]) -> String {
    let results = events.iter().rev().filter_map(|event| match &event.content {
        Content::ToolResponse(response) => Some(response.text.clone()),
        _ => None,
    });
    results.take(1).collect()
}

fn dropped() -> Result<(), Failed> {
    let bench = Bench::new();
    let (agent, trace) = (bench.agent(model()?), trace(&bench));
    let (_stopper, stop) = stop();
    let has_ended = wait(async {
        tokio::select! {
            _ = agent.run(&bench.key, Task::new("Go."), unwatched(), &stop) => {}
            () = begun(&trace) => {}
        }
        ended(&trace)
    });
    assert!(has_ended?);
    // The model learns of it with the next turn.
    bench.say("And?", &text("I was interrupted.")).outcome?;
    let told = last_result(&bench.events());
    assert!(told.starts_with("This was interrupted"), "{told}");
    Ok(())
}

fn in_a_task() -> Result<(), Failed> {
    let bench = Bench::new();
    let (agent, key, trace) = (bench.agent(model()?), bench.key.clone(), trace(&bench));
    let (stopper, stop) = stop();
    let outcome = wait(async {
        let turn = async move { agent.run(&key, Task::new("Go."), unwatched(), &stop).await };
        let turn = tokio::spawn(turn);
        let waiting = stopper.on_drop();
        begun(&trace).await;
        drop(waiting);
        turn.await
    })??;
    assert_eq!(outcome.answer(), Err(Ending::Stopped));
    let told = last_result(&outcome.events);
    assert!(told.contains(r#""cancelled":true"#), "{told}");
    assert!(ended(&trace)?);
    Ok(())
}
