//! The agent whose sessions are measured: generated skills, a database, a model from a script.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use metier_agent::agent::AgentSettings;
use metier_agent::texts::StagedTexts;
use metier_agent::{Agent, Folders, Library};
use metier_model::Scripted;
use metier_session::SessionStore;
use metier_workspace::artifact::MemoryStore;
use metier_workspace::executor::{Firmness, LocalExecutor};
use metier_workspace::interactive::InteractiveOptions;
use metier_workspace::{Interactive, Runner, Workspaces};
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
    let firmness = Firmness { require_full: false, degrade: false };
    let runner = Runner {
        workspaces: workspaces.clone(),
        artifacts: Arc::new(MemoryStore::new()),
        executor: LocalExecutor::Sandbox(firmness).into(),
    };
    Ok(Agent {
        name: "default".to_owned(),
        model_name: "scripted".to_owned(),
        model: Arc::new(Scripted::from_text("")?),
        library: Arc::new(Folders::new(skills.roots)),
        sessions: store,
        texts: Arc::new(StagedTexts::new(workspaces)),
        programs: Arc::new(Interactive::new(runner.clone(), InteractiveOptions::default())),
        runner,
        host: None,
        foreign: None,
        settings: AgentSettings::default(),
    })
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
