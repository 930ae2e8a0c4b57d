//! Sessions in a store of the program itself: a file of JSON lines for each, which `store.rs` has.
//!
//! The program has two turns of one session, and opens the store anew for the second, as after a restart.

mod store;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use metier_agent::{Agent, Folders, Task, stop, unwatched};
use metier_model::Scripted;
use metier_session::SessionKey;
use metier_workspace::Runner;
use serde_json::{Value, json};

use store::LineStore;

fn main() -> Result<(), Box<dyn Error>> {
    metier_sandbox::helper();
    let state = tempfile::tempdir()?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(say(state.path(), "My name is Ada.", "Good day, Ada."))?;
    runtime.block_on(say(state.path(), "Who am I?", "Ada."))?;
    for line in std::fs::read_to_string(state.path().join("sessions/1.jsonl"))?.lines() {
        let line: BTreeMap<String, Value> = serde_json::from_str(line)?;
        println!("1.jsonl: {}", line.keys().map(String::as_str).collect::<String>());
    }
    Ok(())
}

/// One turn, in which the model replies as it is told to.
async fn say(state: &Path, text: &str, reply: &str) -> Result<(), Box<dyn Error>> {
    let model = Arc::new(Scripted::from_text(&json!({ "text": reply }).to_string())?);
    let sessions = Arc::new(LineStore::open(&state.join("sessions"))?);
    let skills = Arc::new(Folders::new([]));
    // The program keeps the model as well, to see what it was asked.
    let asked = model.clone();
    let agent = Agent::new(model, skills, sessions, Runner::sandboxed(state)?);
    let session = SessionKey::new("examples", "ada", "talk")?;
    let (_stopper, stop) = stop();
    let outcome = agent.run(&session, Task::new(text), unwatched(), &stop).await?;
    let sent = asked.requests().last().map_or(0, |request| request.messages.len());
    println!("messages sent: {sent}, reply: {}", outcome.answer()?);
    Ok(())
}
