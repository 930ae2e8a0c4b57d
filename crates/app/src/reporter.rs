//! What an [`App`](crate::App) tells a person while it works: notices, findings and progress.

use std::fmt;

use metier_agent::causes::with_causes;
use metier_config::ConfigError;
use metier_skill::problem::Problem;

use crate::AppError;
use crate::servers::McpServerFault;

/// Receives notices, findings and progress.
///
/// The command line implements it with a line at the bottom of the terminal, a server with its log, and
/// [`SilentReporter`] with nothing. No method may wait for a person.
pub trait Reporter: fmt::Debug + Send + Sync {
    /// Reports something a person should know that does not end what goes on.
    fn notice(&self, notice: &Notice);

    /// Reports findings about skills and configurations.
    fn problems(&self, problems: &[Problem]);

    /// Shows an activity until the returned value is dropped.
    fn begin(&self, activity: &Activity) -> Box<dyn OngoingActivity>;

    /// Returns an error in the words of this front end, for a finding or a message to a model that has to name it.
    fn wording(&self, error: &AppError) -> ErrorWording {
        ErrorWording { message: with_causes(error), hint: None }
    }

    /// Returns the action that resolves an error in a configuration file, in the words of this front end.
    fn config_hint(&self, _error: &ConfigError) -> Option<String> {
        None
    }
}

/// An activity that a [`Reporter`] shows.
pub trait OngoingActivity: Send + Sync {
    /// Replaces what is shown by the part that goes on now.
    fn update(&self, activity: &Activity);
}

/// An error in the words of a front end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorWording {
    /// The message with its causes.
    pub message: String,
    /// The action that resolves it, if one is known.
    pub hint: Option<String>,
}

/// Something that takes its time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activity {
    /// Searching the folders of skills.
    LookingForSkills,
    /// Asking servers for the skills they offer.
    AskingServers {
        /// Their names.
        names: Vec<String>,
    },
    /// Reading the files of a skill.
    ReadingSkill {
        /// Its name.
        name: String,
    },
    /// Reading the files of several skills.
    ReadingSkills {
        /// How many.
        count: usize,
    },
    /// Fetching the files of a skill from a server.
    FetchingSkill {
        /// Its name.
        name: String,
        /// The server.
        server: String,
    },
    /// Downloading an archive of skills.
    Downloading {
        /// Its address, without secrets.
        address: String,
        /// The bytes received so far.
        received: Option<u64>,
    },
    /// Unpacking an archive of skills.
    Unpacking {
        /// Its address, without secrets.
        address: String,
    },
}

/// Something a person should know that does not end what goes on.
#[derive(Debug)]
#[non_exhaustive]
pub enum Notice {
    /// Programs that were installed for several skills cannot be separated.
    ToolsShared {
        /// The folder of the programs.
        folder: std::path::PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// Files are polled for changes, or changes are not noticed at all.
    NotWatched(WatchLimit),
    /// A provider's address is set, which names no model.
    AddressWithoutModel {
        /// The variable with the address.
        variable: &'static str,
        /// The provider.
        provider: &'static str,
    },
    /// A server of the configuration is not used.
    ServerUnused(McpServerFault),
    /// A program was allowed in advance of which only harmless uses are covered.
    HarmlessUsesAllowed {
        /// The pattern as it was written.
        pattern: String,
        /// What the program can do beyond them, as a sentence without a period.
        beyond: String,
    },
    /// A tool was allowed in advance whose server is not used.
    UnknownToolServer {
        /// The pattern as it was written.
        pattern: String,
        /// The server.
        server: String,
    },
    /// Commands were allowed in advance, and none runs on the host.
    AllowedWithoutHost,
    /// A choice comes too late: the session keeps the one it began with.
    ChoiceKept {
        /// The choice.
        choice: SessionChoice,
        /// The value the session began with.
        kept: String,
        /// The value that was asked for.
        wanted: String,
    },
    /// The model of a session was told that commands run elsewhere.
    ExecutorChanged {
        /// Whether the session began with commands on the host.
        began_on_host: bool,
    },
    /// A file or folder with keys can be read or changed by others.
    ExposedFile(crate::state::privacy::ExposedFile),
}

/// A choice that a session keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionChoice {
    /// The tools of the model.
    Tools,
    /// The place of the text of loaded skills.
    Placement,
}

/// A limit of watching files.
#[derive(Debug)]
pub enum WatchLimit {
    /// Files are polled, for this reason.
    Polled(String),
    /// Changes are not noticed.
    Unwatched(metier_skill::library::WatchError),
}

/// A reporter that reports nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct SilentReporter;

impl Reporter for SilentReporter {
    fn notice(&self, _: &Notice) {}

    fn problems(&self, _: &[Problem]) {}

    fn begin(&self, _: &Activity) -> Box<dyn OngoingActivity> {
        Box::new(Self)
    }
}

impl OngoingActivity for SilentReporter {
    fn update(&self, _: &Activity) {}
}
