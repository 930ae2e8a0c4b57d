//! One turn of a session: the same for a single task and for a conversation.

use metier_agent::agent::Watcher;
use metier_agent::{Agent, Dispatch, LoadRequest, Outcome, Stop, Task, prompt};
use metier_config::ConfigWord;
use metier_session::{Opening, SessionKey};
use metier_workspace::WorkspaceKey;
use serde::Serialize;

use super::attach::{self, AttachedFile};
use super::message::{CalledSkill, TurnMessage};
use crate::app::App;
use crate::assembly::AgentChoices;
use crate::error::AppError;
use crate::reporter::{Notice, SessionChoice};
use crate::sessions::{self, SessionLookupError};

/// A message with the files that belong to it.
#[derive(Debug)]
pub struct TurnRequest<'a> {
    /// The words, and the skills they name.
    pub message: TurnMessage,
    /// The files.
    pub files: &'a [AttachedFile],
}

impl App {
    /// Has an agent do what a message asks for in a session, which is begun if need be.
    ///
    /// # Errors
    ///
    /// When the session or the model cannot be used.
    pub async fn turn(
        &self,
        agent: &Agent,
        key: &SessionKey,
        request: TurnRequest<'_>,
        (watcher, stop): (Watcher, &Stop),
    ) -> Result<(Outcome, WorkspaceKey), AppError> {
        let workspaces = &agent.runner.workspaces;
        let place = sessions::begin(&*agent.sessions, workspaces, key).await?;
        let workspace = workspaces.workspace(&place).map_err(|source| {
            let session = key.session().to_owned();
            SessionLookupError::NoWorkspace { session, source }
        })?;
        let attachments = attach::upload(request.files, &workspace)?;
        let outcome = match dispatched(agent, &request.message) {
            Some(dispatch) => {
                let dispatch = Dispatch { attachments, ..dispatch };
                agent.dispatch(key, dispatch, watcher, stop).await
            }
            None => {
                let TurnMessage { text, loads, .. } = request.message;
                let load = |skill| LoadRequest { skill, ..LoadRequest::default() };
                let loads = loads.into_iter().map(load).collect();
                let task = Task { text, attachments, loads };
                agent.run(key, task, watcher, stop).await
            }
        };
        Ok((outcome?, place))
    }

    /// Reports the choices that come too late: requests of a session keep the beginning that its first one had.
    ///
    /// # Errors
    ///
    /// When the session cannot be read.
    pub async fn report_kept_choices(
        &self,
        choices: &AgentChoices,
        agent: &Agent,
        key: &SessionKey,
    ) -> Result<(), AppError> {
        let Some(found) = agent.sessions.get(key).await? else { return Ok(()) };
        if let Some(opening) = agent.sessions.opening(&found.at).await? {
            self.compare(choices, &opening);
            let began_on_host = prompt::is_on_host(&opening);
            if began_on_host != agent.host.is_some() {
                self.reporter.notice(&Notice::ExecutorChanged { began_on_host });
            }
        }
        Ok(())
    }

    fn compare(&self, choices: &AgentChoices, opening: &Opening) {
        let compared = [
            (
                SessionChoice::Tools,
                choices.tools.map(ConfigWord::word),
                word_of(prompt::tool_set_of(opening)),
            ),
            (
                SessionChoice::Placement,
                choices.placement.map(ConfigWord::word),
                word_of(prompt::layout_of(opening).placement),
            ),
        ];
        for (choice, wanted, kept) in compared {
            let Some(wanted) = wanted.filter(|wanted| *wanted != kept) else { continue };
            let wanted = wanted.to_owned();
            self.reporter.notice(&Notice::ChoiceKept { choice, kept, wanted });
        }
    }
}

/// Returns the dispatch of a message to a tool, because the skill that was called says so.
fn dispatched(agent: &Agent, message: &TurnMessage) -> Option<Dispatch> {
    let CalledSkill { skill, command, rest } = message.called.as_ref()?;
    let snapshot = agent.library.snapshot();
    let dispatch = snapshot.find(skill)?.manifest.invocation.dispatch.as_ref()?;
    Some(Dispatch {
        text: format!("/{command} {rest}").trim_end().to_owned(),
        command: command.clone(),
        skill: skill.clone(),
        tool: dispatch.tool.clone(),
        arguments: rest.clone(),
        ..Dispatch::default()
    })
}

/// Returns the word of a choice in the configuration.
fn word_of(choice: impl Serialize) -> String {
    let word = serde_json::to_value(choice).unwrap_or_default();
    word.as_str().unwrap_or_default().to_owned()
}
