//! A command of a skill, without a model.

use std::path::PathBuf;

use metier_config::ExecutorKind;
use metier_sandbox::Cancel;
use metier_skill::library::{Entry, Snapshot};
use metier_workspace::executor::{Live, Teller};
use metier_workspace::{Manner, RunError, RunOrder, RunOutput, RunRequest, Runner, WorkspaceKey};

use crate::app::App;
use crate::error::AppError;
use crate::library::lookup::find;
use crate::sessions::{CLEANUP_LIMIT, new_session_id};

/// A command of a skill to run.
#[derive(Clone, Debug)]
pub struct ExecRequest {
    /// The command.
    pub request: RunRequest,
    /// Files of this machine that a person named for it, which it may read.
    pub readable_files: Vec<PathBuf>,
    /// The session it runs in; a new one without.
    pub session: Option<String>,
    /// The executor, instead of that of the configuration.
    pub executor: Option<ExecutorKind>,
}

/// A command that is ready to run.
#[derive(Debug)]
pub struct PreparedExec {
    /// The skill.
    pub entry: Entry,
    /// The id of the session.
    pub session: String,
    /// The runner.
    pub runner: Runner,
    /// The order to the runner.
    pub order: RunOrder,
    has_new_session: bool,
}

impl App {
    /// Looks up everything that a command needs.
    ///
    /// # Errors
    ///
    /// When a skill is not there, may not be used or cannot be read, the configuration cannot be followed, or the state
    /// cannot be used.
    pub async fn prepare_exec(
        &self,
        snapshot: &Snapshot,
        exec: ExecRequest,
    ) -> Result<PreparedExec, AppError> {
        let ExecRequest { request, readable_files, session, executor } = exec;
        let entry = find(snapshot, &request.skill)?.clone();
        let mut settings = self.run_settings(&entry)?;
        settings.host_inputs.extend(readable_files);
        // What is wrong with the name of an input's skill, the run says.
        let skills = request.skills().into_iter().filter(|name| snapshot.find(name).is_some());
        let trees = self.trees(snapshot, &skills.collect::<Vec<_>>()).await?;
        let runner = self.runner(executor)?;
        // What runs left behind whose metier was killed.
        metier_sandbox::remove_leftovers();
        let has_new_session = session.is_none();
        let (session, key) = match session {
            Some(session) => {
                let key = self.workspace_key(&session).await?;
                (session, key)
            }
            None => {
                let session = new_session_id();
                let key = self.bare_workspace_key(&session);
                (session, key)
            }
        };
        let identity = Some(entry.identity.to_string());
        let order = RunOrder {
            key,
            request,
            trees,
            settings,
            manner: Manner::Shell,
            identity,
            outside: None,
        };
        Ok(PreparedExec { entry, session, runner, order, has_new_session })
    }

    /// Looks after the workspaces when a command is over.
    pub fn finish_exec(&self, finished: &FinishedExec) {
        let workspaces = &finished.runner.workspaces;
        if finished.has_new_session {
            // Whoever goes on with the session has copies again.
            let _kept = workspaces.give_copies_back(&finished.key);
        }
        // The run is over and told; cleaning up says what is wrong with workspaces when it is asked for.
        let _removed = workspaces.remove_unused_daily(self.workspace_ttl(), CLEANUP_LIMIT);
    }
}

/// A command that has run.
#[derive(Debug)]
pub struct FinishedExec {
    /// The output.
    pub output: RunOutput,
    /// The id of the session.
    pub session: String,
    /// The key of the workspace it ran in.
    pub key: WorkspaceKey,
    /// The runner.
    pub runner: Runner,
    has_new_session: bool,
}

impl PreparedExec {
    /// Has the preparations of the executor told.
    #[must_use]
    pub fn telling(self, teller: Teller) -> Self {
        let runner = Runner { executor: self.runner.executor.telling(teller), ..self.runner };
        Self { runner, ..self }
    }

    /// Runs the command; `live` is given what it writes.
    ///
    /// # Errors
    ///
    /// When it could not be run.
    pub async fn run(self, live: Live, cancel: Cancel) -> Result<FinishedExec, RunError> {
        let Self { runner, order, session, has_new_session, .. } = self;
        let key = order.key.clone();
        let output = runner.run(order, live, cancel).await?;
        Ok(FinishedExec { output, session, key, runner, has_new_session })
    }
}
