//! A chat: the agent, the session it is in, and a turn for each message.

use std::sync::Arc;

use metier_agent::{Agent, Ending, Library, Outcome, stop};
use metier_app::models::OFFLINE;
use metier_app::sessions::new_session_id;
use metier_app::turn::{AttachedFile, SkillCommands, TurnMessage, TurnRequest};
use metier_app::{AgentChoices, SkillLibrary};
use metier_workspace::WorkspaceKey;
use tokio::runtime::{Builder, Runtime};

use super::lines::Lines;
use crate::args::AgentArgs;
use crate::commands::turn::progress::Progress;
use crate::commands::turn::report;
use crate::context::Context;
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{counted, style};
use crate::prompter::TerminalPrompter;

/// A chat.
pub(super) struct Chat<'a> {
    pub(super) context: &'a Context,
    pub(super) choices: AgentChoices,
    has_details: bool,
    pub(super) agent: Agent,
    pub(super) skills: Arc<SkillLibrary>,
    pub(super) session: String,
    /// Files for the next message that is taken.
    pub(super) files: Vec<AttachedFile>,
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
        let session = arguments.session.clone().unwrap_or_else(new_session_id);
        context.app.session_key(&session)?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::of_system(&error))?;
        let choices = arguments.choices();
        let skills = runtime.block_on(SkillLibrary::open(&context.app, &choices.sources))?;
        let skills = Arc::new(skills);
        context.report(&skills.snapshot().problems);
        // Else the lines that are typed are read by a thread that cannot be told to wait.
        let prompter = match Lines::can_edit(context) {
            true => TerminalPrompter::new(context.output),
            false => TerminalPrompter::silent(context.output),
        };
        let agent = context.app.agent(&choices, Arc::clone(&skills), Arc::new(prompter))?;
        let (files, compared, has_details) = (Vec::new(), None, arguments.details);
        Ok(Self { context, choices, has_details, agent, skills, session, files, compared, runtime })
    }

    /// The names of the skills as they were found last.
    pub(super) fn names(&self) -> SkillCommands {
        SkillCommands::of(&self.skills.snapshot())
    }

    /// Looks for the skills again.
    ///
    /// # Errors
    ///
    /// When they cannot be looked for.
    pub(super) fn refresh(&mut self) -> Result<(), Failure> {
        let found = SkillLibrary::open(&self.context.app, &self.choices.sources);
        let skills = Arc::new(self.runtime.block_on(found)?);
        self.agent.library = Arc::clone(&skills) as Arc<dyn Library>;
        if self.agent.model.name() == OFFLINE {
            let wording = &self.choices.offline;
            self.agent.model = self.context.app.model(Some(OFFLINE), skills.snapshot(), wording)?;
        }
        self.skills = skills;
        Ok(())
    }

    /// Lets the model answer a message; says whether it did. What went wrong has been told.
    pub(super) fn say(&mut self, message: TurnMessage) -> bool {
        let progress =
            Arc::new(Progress::begin(self.context, self.agent.model.name(), self.has_details));
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
        let can_erase =
            self.context.app.environment.variable("TERM").is_some_and(|it| it != "dumb");
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
        message: TurnMessage,
        progress: &Arc<Progress>,
    ) -> Result<(Outcome, WorkspaceKey), Failure> {
        let app = &self.context.app;
        let key = app.session_key(&self.session)?;
        let is_known = self.compared.as_ref() == Some(&self.session);
        let request = TurnRequest { message, files: &self.files };
        let (stopper, stop) = stop();
        // Ctrl-C ends the turn; the session keeps what happened.
        let listener = interrupt::listen(move || stopper.stop());
        let result = self.runtime.block_on(async {
            if !is_known {
                app.report_kept_choices(&self.choices, &self.agent, &key).await?;
            }
            app.turn(&self.agent, &key, request, (progress.watcher(), &stop)).await
        });
        drop(listener);
        self.compared = Some(self.session.clone());
        Ok(result?)
    }
}
