//! The application: a configuration, a state directory and a principal, with everything that can be done with them.

use std::path::PathBuf;
use std::sync::Arc;

use metier_config::{Config, SecretText};
use metier_secrets::Redactor;
use metier_skill::library::FirstLook;

use crate::environment::Environment;
use crate::error::AppError;
use crate::library::choices;
use crate::masking;
use crate::principal::Principal;
use crate::reporter::{Reporter, SilentReporter};
use crate::sources::remote::SkillServers;
use crate::sources::roots::Project;

/// The inputs of an [`App`].
///
/// There is no `Default`: whose state is used and who is told of problems are decisions.
#[derive(Clone, Debug)]
pub struct AppOptions {
    /// The directories and variables.
    pub environment: Environment,
    /// The application and user that own sessions and artifacts.
    pub principal: Principal,
    /// The receiver of notices and progress.
    pub reporter: Arc<dyn Reporter>,
    /// Keys to mask that neither the configuration nor the environment has.
    pub secrets: Vec<SecretText>,
}

/// metier for one principal: its configuration, skills, sessions, approvals and artifacts.
///
/// Clones share the servers that were asked and the masking of keys.
#[derive(Clone, Debug)]
pub struct App {
    /// The directories and variables.
    pub environment: Environment,
    /// The configuration in force.
    pub config: Config,
    /// The application and user that own sessions and artifacts.
    pub principal: Principal,
    /// The receiver of notices and progress.
    pub reporter: Arc<dyn Reporter>,
    /// Masks the values of all configured keys.
    pub redactor: Redactor,
    /// The servers whose skills are used.
    pub(crate) servers: SkillServers,
    /// The state of project skills when they were first looked at, which counts for
    /// [`SourceSelection::trust_project`](crate::SourceSelection::trust_project).
    pub(crate) first_look: FirstLook,
}

impl App {
    /// Opens the application of a program that has one user, keeps its state in `state` and works in `folder`, without
    /// reports.
    ///
    /// # Errors
    ///
    /// As for [`App::open`].
    pub fn open_local(
        state: impl Into<PathBuf>,
        folder: impl Into<PathBuf>,
    ) -> Result<Self, AppError> {
        let environment = Environment::new(state, folder);
        let (principal, reporter) = (Principal::local(), Arc::new(SilentReporter));
        Self::open(AppOptions { environment, principal, reporter, secrets: Vec::new() })
    }

    /// Loads the configuration and collects the keys to mask.
    ///
    /// # Errors
    ///
    /// When the configuration cannot be understood, or has more keys than can be masked.
    pub fn open(options: AppOptions) -> Result<Self, AppError> {
        let AppOptions { environment, principal, reporter, secrets } = options;
        let project = Project::of(&environment.folder);
        let config = choices::load(&environment, &project.configured_folders(&environment))?;
        let redactor = masking::redactor(&config, &environment, &secrets)?;
        let (servers, first_look) = (SkillServers::default(), FirstLook::default());
        Ok(Self { environment, config, principal, reporter, redactor, servers, first_look })
    }
}
