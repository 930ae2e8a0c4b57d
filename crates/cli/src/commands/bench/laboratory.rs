//! A place where the real agent works on what a script says, and leaves nothing behind.
//!
//! Agent, tools, sandbox and skills are those of `metier run`. Sessions are in memory, everything else is in a
//! folder that goes away, and the model replies from a script, or is a real one.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use metier_agent::agent::unwatched;
use metier_agent::conversation::{Layout, Placement};
use metier_agent::host::NoPrompter;
use metier_agent::texts::StagedTexts;
use metier_agent::{Agent, AgentError, Ending, Library, LoadMode, LoadRequest, Task, stop};
use metier_app::models::OFFLINE;
use metier_app::{AgentChoices, SkillLibrary, SourceSelection};
use metier_config::{AgentToolSet, ExecutorKind};
use metier_model::{Message, Request, Scripted};
use metier_session::{Content, Event, MemoryStore, all_events};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::args::{SourceArgs, offline_wording};
use crate::context::Context;
use crate::failure::Failure;
use crate::wait::block_on;

/// The tool whose answers differ from run to run.
const RUN_TOOL: &str = "skill_run";
/// A name that a run could have.
const SOME_RUN: &str = "01a1e3558a81773abbb3f9728896b4e8";
/// Says how long a run took.
const TOOK: &str = "\"duration_ms\":";
/// Tokens that fit into the model: nothing is ever summarised.
const ROOM: usize = 1 << 40;

/// A call of a tool.
#[derive(Clone, Debug)]
pub(in crate::commands) struct Call {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments.
    pub arguments: Value,
}

/// What a person says, and what a scripted model does about it.
#[derive(Clone, Debug, Default)]
pub(in crate::commands) struct Turn {
    /// The words.
    pub words: String,
    /// Skills that are loaded with them.
    pub loads: Vec<LoadRequest>,
    /// Calls, one a reply; an answer follows.
    pub calls: Vec<Call>,
}

/// How the agent is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) struct Setup {
    /// How long a skill stays loaded.
    pub mode: LoadMode,
    /// Where its text goes.
    pub placement: Placement,
}

/// What is left of a session.
#[derive(Debug)]
pub(in crate::commands) struct Take {
    /// What the model was sent; empty with a real one.
    pub requests: Vec<Request>,
    /// How each turn ended.
    pub endings: Vec<Ending>,
    /// What happened.
    pub events: Vec<Event>,
    /// The texts that requests were made of.
    pub texts: StagedTexts,
    /// The agent's name, which the state depends on.
    pub agent: String,
    /// What requests depended on.
    pub layout: Layout,
}

/// The place.
#[derive(Debug)]
pub(in crate::commands) struct Laboratory {
    context: Context,
    skills: Arc<SkillLibrary>,
    agent: String,
    sessions: Cell<usize>,
    _folder: TempDir,
}

impl Laboratory {
    /// A place with the skills that a command sees.
    ///
    /// # Errors
    ///
    /// When there is no room for it, or a filter cannot be read.
    pub(in crate::commands) fn new(
        context: &Context,
        sources: &SourceArgs,
    ) -> Result<Self, Failure> {
        // Programs that run as somebody else must get through to their folder.
        let folder = tempfile::Builder::new()
            .permissions(Permissions::from_mode(0o711))
            .tempdir()
            .map_err(|error| Failure::of_temporary_folder(&error))?;
        let found = async { Ok(SkillLibrary::open(&context.app, &sources.selection()).await?) };
        let skills = Arc::new(block_on(found)?);
        let mut context = context.clone();
        context.app.environment.state = folder.path().to_owned();
        context.app.config.workspace.folder.set_by_flag("bench", None);
        let agent = sources.agent.clone();
        Ok(Self { context, skills, agent, sessions: Cell::new(0), _folder: folder })
    }

    /// The skills.
    pub(in crate::commands) fn skills(&self) -> &Arc<SkillLibrary> {
        &self.skills
    }

    /// Does some turns with a model that follows the script.
    ///
    /// # Errors
    ///
    /// When a turn fails, or a call that is not a command.
    pub(in crate::commands) fn rehearse(
        &self,
        turns: &[Turn],
        setup: Setup,
    ) -> Result<Take, Failure> {
        let model = Arc::new(Scripted::from_text(&script(turns))?);
        let mut agent = self.agent(setup)?;
        agent.model = Arc::<Scripted>::clone(&model);
        let mut take = self.play(turns, agent)??;
        if let Some(ending) = take.endings.iter().find(|it| **it != Ending::Answered) {
            return Err(Failure::new(format!("a turn of the script ended early: {ending}"))
                .hint("raise `agent.max_requests` and `agent.max_tokens`"));
        }
        take.requests = model.requests();
        take.requests.iter_mut().for_each(steady);
        match take.events.iter().find_map(failed_lookup) {
            Some(why) => Err(Failure::new(format!("the script does not fit the skills: {why}"))),
            None => Ok(take),
        }
    }

    /// Looks whether there is such a model, and asks it nothing.
    ///
    /// # Errors
    ///
    /// When it cannot be used.
    pub(super) fn check_model(&self, model: &str) -> Result<(), Failure> {
        drop(self.context.app.model(Some(model), self.skills.snapshot(), &offline_wording())?);
        Ok(())
    }

    /// Does some turns with a real model, which may do as it likes.
    ///
    /// # Errors
    ///
    /// When there is no such model; inside, when a turn fails.
    pub(in crate::commands) fn perform(
        &self,
        turns: &[Turn],
        setup: Setup,
        model: &str,
    ) -> Result<Result<Take, AgentError>, Failure> {
        let mut agent = self.agent(setup)?;
        self.context.app.change_model(&mut agent, model, &self.skills, &offline_wording())?;
        self.play(turns, agent)
    }

    fn play(&self, turns: &[Turn], agent: Agent) -> Result<Result<Take, AgentError>, Failure> {
        self.sessions.set(self.sessions.get() + 1);
        let key = self.context.app.session_key(&format!("take-{}", self.sessions.get()))?;
        block_on(async {
            let (_stopper, stop) = stop();
            let mut endings = Vec::new();
            for turn in turns {
                let (text, loads) = (turn.words.clone(), turn.loads.clone());
                let task = Task { text, loads, ..Task::default() };
                match agent.run(&key, task, unwatched(), &stop).await {
                    Ok(outcome) => endings.push(outcome.ending),
                    Err(error) => return Ok(Err(error)),
                }
            }
            let events = match agent.sessions.get(&key).await? {
                Some(session) => all_events(&*agent.sessions, &session.at).await?,
                None => Vec::new(),
            };
            let (texts, layout) = (agent.texts(), agent.settings.prompt.layout);
            let (agent, requests) = (agent.name, Vec::new());
            Ok(Ok(Take { requests, endings, events, texts, agent, layout }))
        })
    }

    /// The agent of `metier run`, except for what the measurement is about.
    fn agent(&self, setup: Setup) -> Result<Agent, Failure> {
        let sources =
            SourceSelection { agent: self.agent.clone(), ..SourceSelection::configured() };
        let choices = AgentChoices {
            model: Some(OFFLINE.to_owned()),
            executor: Some(ExecutorKind::Sandbox),
            tools: Some(AgentToolSet::Full),
            sources,
            ..AgentChoices::configured()
        };
        let skills = Arc::clone(&self.skills);
        let mut agent = self.context.app.agent(&choices, skills, Arc::new(NoPrompter))?;
        agent.sessions = Arc::new(MemoryStore::new());
        agent.settings.mode = setup.mode;
        agent.settings.prompt.layout.placement = setup.placement;
        agent.settings.max_loaded_skills = None;
        agent.settings.context_tokens = ROOM;
        Ok(agent)
    }
}

impl Drop for Laboratory {
    /// Staged skills are read-only, so that the folder cannot just be removed.
    fn drop(&mut self) {
        if let Ok(workspaces) = self.context.app.workspaces() {
            let _left = workspaces.remove_unused(Duration::ZERO);
            let _left = workspaces.remove_unused_content(Duration::ZERO, &BTreeSet::new());
        }
    }
}

/// The replies of a scripted model, a line each.
fn script(turns: &[Turn]) -> String {
    let call = |call: &Call| json!({ "name": call.tool, "arguments": call.arguments });
    let replies = turns.iter().flat_map(|turn| {
        let calls = turn.calls.iter().map(move |it| json!({ "calls": [call(it)] }));
        calls.chain([json!({ "text": "Done." })])
    });
    replies.map(|reply| format!("{reply}\n")).collect()
}

/// What a tool said that failed though it is no command.
fn failed_lookup(event: &Event) -> Option<&str> {
    match &event.content {
        Content::ToolResponse(it) if it.is_error && it.tool != RUN_TOOL => Some(&it.text),
        _ => None,
    }
}

/// Replaces what differs from run to run: the name of a run, and the time it took.
pub(super) fn steady(request: &mut Request) {
    for message in &mut request.messages {
        if let Message::ToolResult { name, text, .. } = message
            && name == RUN_TOOL
        {
            if let Some(run) = between(text, "{\"run\":\"", '"') {
                *text = text.replace(&run, SOME_RUN);
            }
            if let Some(took) = between(text, TOOK, ',') {
                *text = text.replacen(&format!("{TOOK}{took},"), &format!("{TOOK}10,"), 1);
            }
        }
    }
}

/// What stands after a text, up to a character.
fn between(text: &str, before: &str, after: char) -> Option<String> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(found, _)| found.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_replaced_wherever_it_stands() {
        let result = |name: &str, text: &str| Message::ToolResult {
            call_id: "a".to_owned(),
            name: name.to_owned(),
            text: text.to_owned(),
            is_error: false,
        };
        let text =
            r#"{"run":"abc","stdout":"x","duration_ms":1234,"writable":["/runs/abc/files"]}"#;
        let messages =
            vec![result(RUN_TOOL, text), result("read_file", text), result(RUN_TOOL, "no")];
        let mut request = Request { messages, ..Request::default() };
        steady(&mut request);
        let expected = format!(
            r#"{{"run":"{SOME_RUN}","stdout":"x","duration_ms":10,"writable":["/runs/{SOME_RUN}/files"]}}"#
        );
        let expected =
            [result(RUN_TOOL, &expected), result("read_file", text), result(RUN_TOOL, "no")];
        assert_eq!(request.messages, expected);
    }
}
