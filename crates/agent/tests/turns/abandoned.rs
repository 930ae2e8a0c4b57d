//! Turns that nobody waits for any more, and those that somebody asks for twice.

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
    ("abandoned::a_second_turn_of_a_session_is_refused_and_the_first_goes_on", twice),
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

fn twice() -> Result<(), Failed> {
    let bench = Bench::new();
    let (agent, trace) = (bench.agent(model()?), trace(&bench));
    let (stopper, stop) = stop();
    let go = || agent.run(&bench.key, Task::new("Go."), unwatched(), &stop);
    let (first, second) = wait(async {
        let asking = async {
            begun(&trace).await;
            let second = agent.clone();
            let second = second.run(&bench.key, Task::new("Go."), unwatched(), &stop).await;
            stopper.stop();
            second
        };
        tokio::join!(go(), asking)
    });
    let refused = second.expect_err("a turn is under way");
    assert_eq!(
        refused.to_string(),
        "a turn of session `one` is under way; wait until it has ended"
    );
    assert_eq!(first?.ending, Ending::Stopped);
    // It is over, so there may be another.
    assert_eq!(wait(go())?.ending, Ending::Stopped);
    let tasks = bench.events().into_iter().filter(|it| matches!(it.content, Content::User(_)));
    assert_eq!(tasks.count(), 2, "what was refused left nothing behind");
    Ok(())
}
