//! The agent whose sessions are measured: generated skills, a database, a model from a script.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use metier_agent::agent::AgentSettings;
use metier_agent::library::read_tree;
use metier_agent::texts::StagedTexts;
use metier_agent::{Agent, Library, LibraryError};
use metier_model::Scripted;
use metier_session::SessionStore;
use metier_skill::discover::{Absence, Links, Root, Source};
use metier_skill::files::DigestCache;
use metier_skill::library::{self, Choices, Entry, LibraryOptions, Machine, Snapshot, TrustPolicy};
use metier_workspace::artifact::MemoryStore;
use metier_workspace::executor::{Firmness, LocalExecutor};
use metier_workspace::{RunSettings, Runner, Tree, Workspaces};
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
    Ok(Agent {
        name: "default".to_owned(),
        model_name: "scripted".to_owned(),
        model: Arc::new(Scripted::from_text("")?),
        library: Arc::new(Found::new(&skills.roots)),
        sessions: store,
        texts: Arc::new(StagedTexts::new(workspaces.clone())),
        runner: Runner {
            workspaces,
            artifacts: Arc::new(MemoryStore::new()),
            executor: LocalExecutor::Sandbox(firmness).into(),
        },
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

/// The generated skills, as they were found once.
#[derive(Debug)]
struct Found {
    snapshot: Arc<Snapshot>,
    digests: Mutex<DigestCache>,
}

impl Found {
    fn new(roots: &[PathBuf]) -> Self {
        let root = |path: &PathBuf| Root {
            source: Source::Managed,
            path: path.clone(),
            links: Links::Anywhere,
            absence: Absence::Reported,
            plugin: None,
            project: None,
        };
        let machine = Machine {
            os: "linux",
            path: &["/usr/bin", "/bin"].map(PathBuf::from),
            env: &|_| false,
            config: &|_| false,
            programs: RefCell::new(HashMap::new()),
        };
        let snapshot = library::build(&LibraryOptions {
            roots: &roots.iter().map(root).collect::<Vec<_>>(),
            bundled: &[],
            remote: &[],
            choices: &Choices::all(),
            machine: &machine,
            trust: TrustPolicy::All,
            cache: None,
            catalog_tokens: 2000,
        });
        let digests = Mutex::new(DigestCache::in_memory());
        Self { snapshot: Arc::new(snapshot), digests }
    }
}

impl Library for Found {
    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot)
    }

    fn tree(&self, entry: &Entry) -> Result<Tree, LibraryError> {
        let folder = entry.place.folder().ok_or_else(|| LibraryError::new("it has no folder"))?;
        let digests = self.digests.lock().unwrap_or_else(PoisonError::into_inner);
        read_tree(entry.name.as_str(), folder, &digests)
    }

    fn run_settings(&self, _: &Entry) -> Result<RunSettings, LibraryError> {
        Ok(RunSettings::default())
    }
}
