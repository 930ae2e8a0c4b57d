//! A chat: the agent, the session it is in, and a turn for each message.

use std::sync::Arc;

use metier_agent::{Agent, Ending, Library, Outcome};
use metier_workspace::WorkspaceKey;
use tokio::runtime::{Builder, Runtime};

use super::lines::Lines;
use crate::args::AgentArgs;
use crate::commands::turn::attach::Attached;
use crate::commands::turn::conduct::{Ask, conduct, tell_what_stays};
use crate::commands::turn::message::Message;
use crate::commands::turn::names::Names;
use crate::commands::turn::progress::Progress;
use crate::commands::turn::report;
use crate::context::Context;
use crate::failure::Failure;
use crate::library::Skills;
use crate::models::OFFLINE;
use crate::output::{counted, style};
use crate::overseer::Asking;
use crate::runs::new_session;
use crate::sessions::session_key;

/// A chat.
pub(super) struct Chat<'a> {
    pub(super) context: &'a Context,
    arguments: &'a AgentArgs,
    pub(super) agent: Agent,
    pub(super) skills: Arc<Skills>,
    pub(super) session: String,
    /// Files for the next message that is taken.
    pub(super) files: Vec<Attached>,
    /// The session whose beginning was compared with the flags.
    compared: Option<String>,
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
        context.report(&skills.snapshot().problems);
        // Else the lines that are typed are read by a thread that cannot be told to wait.
        let asking = if Lines::can_edit(context) { Asking::AtTerminal } else { Asking::Never };
        let agent = context.agent(arguments, Arc::clone(&skills), asking)?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::of_system(&error))?;
        let (files, compared) = (Vec::new(), None);
        Ok(Self { context, arguments, agent, skills, session, files, compared, runtime })
    }

    /// The names of the skills as they were found last.
    pub(super) fn names(&self) -> Names {
        Names::of(&self.skills.snapshot())
    }

    /// Looks for the skills again.
    ///
    /// # Errors
    ///
    /// When they cannot be looked for.
    pub(super) fn refresh(&mut self) -> Result<(), Failure> {
        let skills = Arc::new(Skills::find(self.context, &self.arguments.sources)?);
        self.agent.library = Arc::clone(&skills) as Arc<dyn Library>;
        if self.agent.model.name() == OFFLINE {
            self.agent.model = self.context.model(Some(OFFLINE), &skills)?;
        }
        self.skills = skills;
        Ok(())
    }

    /// Lets the model answer a message; says whether it did. What went wrong has been told.
    pub(super) fn say(&mut self, message: Message) -> bool {
        let progress = Arc::new(Progress::begin(
            self.context,
            self.agent.model.name(),
            self.arguments.details,
        ));
        let executor = self.agent.runner.executor.clone();
        self.agent.runner.executor = executor.telling(progress.teller());
        let result = self.turn(message, &progress);
        progress.end();
        self.skills.save();
        let is_good = match &result {
            Ok((outcome, place)) => {
                let commanded = report::commanded(outcome);
                let is_good = match &commanded {
                    Some(command) => command.tell(self.context),
                    None if progress.is_live() => true,
                    None => {
                        self.context.output.answer(&outcome.text);
                        true
                    }
                };
                // They are part of the session now.
                self.files.clear();
                self.report(outcome, place);
                outcome.ending == Ending::Answered && is_good
            }
            Err(failure) => {
                self.context.output.failure(failure);
                self.tell_of_files();
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
        if self.context.output.is_quiet() {
            report::why_without_answer(self.context, outcome);
        } else if outcome.ending != Ending::Answered {
            self.context.output.say(&report::ending(outcome));
            if let Some(hint) = report::hint(&outcome.ending, None) {
                self.context.output.note(style::DIM, "hint: ", &hint);
            }
        }
    }

    /// Says that files were not taken with a message.
    fn tell_of_files(&self) {
        if !self.files.is_empty() {
            let text = format!("{}, to your next message", counted(self.files.len(), "file"));
            self.context.output.note(style::DIM, "still attached ", &text);
        }
    }

    fn turn(
        &mut self,
        message: Message,
        progress: &Arc<Progress>,
    ) -> Result<(Outcome, WorkspaceKey), Failure> {
        let key = session_key(&self.session)?;
        let is_known = self.compared.as_ref() == Some(&self.session);
        let ask = Ask { message, files: &self.files };
        let result = self.runtime.block_on(async {
            if !is_known {
                tell_what_stays(self.context, self.arguments, &self.agent, &key).await?;
            }
            conduct(&self.agent, &key, ask, progress.watcher()).await
        });
        self.compared = Some(self.session.clone());
        result
    }
}
