//! The state of one run of the program: the application, and where answers go.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use metier_app::{App, AppError, AppOptions, Environment, Notice, Principal};
use metier_session::Decision;
use metier_skill::library::{Entry, Snapshot};
use metier_skill::problem::Problem;
use metier_workspace::WorkspaceKey;

use crate::args::SourceArgs;
use crate::commands::TokenText;
use crate::environment::has_state;
use crate::failure::Failure;
use crate::masking;
use crate::output::Output;
use crate::reporter::TerminalReporter;
use crate::wait::block_on;

/// The state of one run of the program.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// Everything but the terminal.
    pub app: App,
    /// Where answers go.
    pub output: Output,
    /// The text of the file with tokens that the command line names.
    pub token_text: Option<TokenText>,
}

impl Context {
    /// Loads the configuration.
    ///
    /// # Errors
    ///
    /// When it cannot be understood.
    pub(crate) fn new(environment: Environment, output: Output) -> Result<Self, Failure> {
        Self::with_tokens(environment, output, None)
    }

    /// Loads the configuration for a command that accepts the tokens in a text, which are masked.
    ///
    /// # Errors
    ///
    /// When the configuration cannot be understood.
    pub(crate) fn with_tokens(
        environment: Environment,
        output: Output,
        token_text: Option<TokenText>,
    ) -> Result<Self, Failure> {
        if !has_state(&environment) {
            return Err(no_state());
        }
        let (principal, reporter) = (Principal::local(), Arc::new(TerminalReporter::new(output)));
        let secrets = token_text.as_ref().map(TokenText::tokens).unwrap_or_default();
        let app = App::open(AppOptions { environment, principal, reporter, secrets })?;
        masking::begin(&app.redactor);
        Ok(Self { app, output, token_text })
    }

    /// Gathers the skills there are.
    ///
    /// # Errors
    ///
    /// When a filter cannot be read.
    pub(crate) fn library(&self, sources: &SourceArgs) -> Result<Snapshot, Failure> {
        block_on(async { Ok(self.app.library(&sources.selection()).await?) })
    }

    /// Finds the skill of a name, usable or not.
    ///
    /// # Errors
    ///
    /// When there is none, with the names that come closest, or one that cannot be read.
    pub(crate) fn find<'a>(
        &self,
        snapshot: &'a Snapshot,
        name: &str,
    ) -> Result<&'a Entry, Failure> {
        Ok(metier_app::library::lookup::find(snapshot, name)?)
    }

    /// Returns the folder of a skill; a bundled one is unpacked first, one of a server fetched.
    ///
    /// # Errors
    ///
    /// When it cannot be unpacked, or is not here.
    pub(crate) fn folder_of(&self, entry: &Entry) -> Result<PathBuf, Failure> {
        block_on(async { Ok(self.app.folder(entry).await?) })
    }

    /// Returns the key of the workspace of the session that was named, or of the one used last.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub(crate) fn session(&self, named: Option<&str>) -> Result<WorkspaceKey, Failure> {
        block_on(async { Ok(self.app.session(named).await?) })
    }

    /// Returns the key of the workspace of a session, whether it is there or not.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub(crate) fn workspace_key(&self, session: &str) -> Result<WorkspaceKey, Failure> {
        block_on(async { Ok(self.app.workspace_key(session).await?) })
    }

    /// Returns the decisions of people: those that hold for an agent, or all there are.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub(crate) fn decisions(&self, agent: Option<&str>) -> Result<Vec<Decision>, Failure> {
        block_on(async { Ok(self.app.decisions(agent).await?) })
    }

    /// Returns the failure of a state directory that cannot be used.
    pub(crate) fn state_failure(&self, error: io::Error) -> Failure {
        AppError::from(self.app.state_error(error)).into()
    }

    /// Warns of files with keys that others can read.
    pub(crate) fn warn_of_exposed_files(&self) {
        for exposed in self.app.exposed_files() {
            self.app.reporter.notice(&Notice::ExposedFile(exposed));
        }
    }

    /// Reports findings that are more than a note.
    pub(crate) fn report(&self, problems: &[Problem]) {
        self.app.report(problems);
    }
}

/// The failure of a command that has no place for the state directory.
pub(crate) fn no_state() -> Failure {
    Failure::usage("neither HOME nor METIER_HOME is set")
        .hint("set METIER_HOME to a folder for settings, trust and caches")
}
