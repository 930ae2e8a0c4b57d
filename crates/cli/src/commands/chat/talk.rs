//! A chat: the agent, the session it is in, and a turn for each message.

use std::sync::Arc;

use metier_agent::{Agent, Ending, Library, LoadRequest, Outcome, Task, stop};
use metier_workspace::SessionKey as WorkspaceKey;
use tokio::runtime::{Builder, Runtime};

use super::names::Names;
use super::words::Message;
use crate::args::AgentArgs;
use crate::commands::turn::attach::{self, Attached};
use crate::commands::turn::progress::Progress;
use crate::commands::turn::{report, stop_on_interrupt};
use crate::context::Context;
use crate::failure::Failure;
use crate::library::Skills;
use crate::models::OFFLINE;
use crate::runs::new_session;
use crate::sessions::{self, session_key};

/// A chat.
pub(super) struct Chat<'a> {
    pub(super) context: &'a Context,
    arguments: &'a AgentArgs,
    pub(super) agent: Agent,
    pub(super) skills: Arc<Skills>,
    pub(super) session: String,
    /// Files for the next message.
    pub(super) files: Vec<Attached>,
    pub(super) runtime: Runtime,
}

impl<'a> Chat<'a> {
    /// Gets ready; nothing is stored before the first message.
    ///
    /// # Errors
    ///
    /// When there is no model, or the state cannot be used.
    pub(super) fn begin(context: &'a Context, arguments: &'a AgentArgs) -> Result<Self, Failure> {
        let session = arguments.session.clone().unwrap_or_else(new_session);
        session_key(&session)?;
        let skills = Arc::new(Skills::find(context, &arguments.sources)?);
        let agent = context.agent(arguments, Arc::clone(&skills))?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { context, arguments, agent, skills, session, files: Vec::new(), runtime })
    }

    /// The names of the skills as they are now.
    ///
    /// # Errors
    ///
    /// When the skills cannot be looked for.
    pub(super) fn names(&mut self) -> Result<Names, Failure> {
        let skills = Arc::new(Skills::find(self.context, &self.arguments.sources)?);
        self.agent.library = Arc::clone(&skills) as Arc<dyn Library>;
        if self.agent.model_name == OFFLINE {
            self.agent.model = self.context.model(Some(OFFLINE), &skills)?;
        }
        self.skills = skills;
        Ok(Names::of(&self.skills.snapshot()))
    }

    /// Lets the model answer a message; says whether it did. What went wrong has been told.
    pub(super) fn say(&mut self, message: Message) -> bool {
        let progress =
            Arc::new(Progress::begin(self.context, &self.agent.model_name, self.arguments.details));
        let result = self.turn(message, &progress);
        progress.end();
        self.skills.save();
        let is_good = match &result {
            Ok((outcome, place)) => {
                if !progress.is_live() {
                    self.context.output.answer(&outcome.text);
                }
                self.report(outcome, place);
                outcome.ending == Ending::Answered
            }
            Err(failure) => {
                self.context.output.failure(failure);
                false
            }
        };
        if progress.is_live() {
            // The next prompt stands apart.
            self.context.output.print("\n");
        }
        is_good
    }

    /// Shows what a turn made, and how it ended if not well.
    fn report(&self, outcome: &Outcome, place: &WorkspaceKey) {
        let workspace = self.agent.runner.workspaces.workspace(place).ok();
        let folder = workspace.as_ref().map(metier_workspace::Workspace::root);
        report::files(self.context, folder, outcome);
        let can_erase = self.context.environment.variable("TERM").is_some_and(|it| it != "dumb");
        if outcome.ending == Ending::Stopped && !can_erase {
            // Ctrl-C has been echoed.
            self.context.output.say("");
        }
        if outcome.ending != Ending::Answered {
            self.context.output.say(&report::ending(outcome));
        }
    }

    fn turn(
        &mut self,
        message: Message,
        progress: &Arc<Progress>,
    ) -> Result<(Outcome, WorkspaceKey), Failure> {
        let key = session_key(&self.session)?;
        let files = std::mem::take(&mut self.files);
        let agent = &self.agent;
        self.runtime.block_on(async {
            let workspaces = &agent.runner.workspaces;
            let place = sessions::begin(&*agent.sessions, workspaces, &key).await?;
            let attachments = attach::upload(&files, &workspaces.workspace(&place)?)?;
            let loads = message.loads.into_iter();
            let loads = loads.map(|skill| LoadRequest { skill, ..LoadRequest::default() });
            let task = Task { text: message.text, attachments, loads: loads.collect() };
            let (stopper, stop) = stop();
            let interrupt = stop_on_interrupt(stopper);
            let outcome = agent.run(&key, task, progress.watcher(), &stop).await;
            interrupt.abort();
            Ok((outcome?, place))
        })
    }
}
