//! The agent whose sessions are measured: generated skills, a database, a model from a script.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use metier_agent::{Agent, Folders, Library};
use metier_model::Scripted;
use metier_session::SessionStore;
use metier_workspace::artifact::MemoryStore;
use metier_workspace::executor::{Firmness, LocalExecutor};
use metier_workspace::{Runner, Workspaces};
use serde_json::{Value, json};

use crate::discovery::Skills;

/// Skills in the catalog.
const SKILLS: usize = 18;
/// Tasks of each session.
pub(crate) const TASKS: usize = 2;

/// An agent with skills in a folder, for sessions in a store.
pub(crate) fn agent(folder: &Path, store: Arc<dyn SessionStore>) -> Result<Agent> {
    let skills = Skills::generate(SKILLS, &folder.join("skills"))?;
    let workspaces = Workspaces::open(&folder.join("workspaces"), &folder.join("content"))?;
    let firmness = Firmness::Confined;
    let runner = Runner {
        redactor: metier_workspace::Redactor::default(),
        workspaces,
        artifacts: Arc::new(MemoryStore::new()),
        executor: LocalExecutor::Sandbox(firmness).into(),
    };
    let model = Arc::new(Scripted::from_text("")?);
    Ok(Agent::new(model, Arc::new(Folders::new(skills.roots)), store, runner))
}

/// Replies to [`TASKS`] tasks, each after so many milliseconds: a skill, a doc of it and an answer,
/// then another skill and an answer.
pub(crate) fn script(library: &dyn Library, delay: u64) -> Result<String> {
    let snapshot = library.snapshot();
    let names: Vec<&str> = snapshot.entries.iter().map(|entry| entry.name.as_str()).collect();
    let one = names.iter().find(|name| name.ends_with("-0")).context("the first skill")?;
    let other = names.iter().find(|name| name.ends_with("-1")).context("the second skill")?;
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    let docs = json!({ "skill": one, "docs": ["references/details.md"], "mode": "add" });
    let replies = [
        ("", vec![call("skill_load", json!({ "skill": one }))]),
        ("", vec![call("skill_select_docs", docs)]),
        ("That is all there is to say about it.", vec![]),
        ("", vec![call("skill_load", json!({ "skill": other }))]),
        ("And that is all about the other.", vec![]),
    ];
    let lines = replies.into_iter().enumerate().map(|(turn, (text, calls))| {
        json!({ "when": { "turn": turn }, "delay_ms": delay, "text": text, "calls": calls,
            "usage": { "input": 1200, "cached_input": 900, "output": 40 } })
    });
    Ok(lines.map(|line| line.to_string() + "\n").collect())
}
