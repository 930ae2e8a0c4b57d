//! Where errors meet people: an exit code, a message with its causes, and what to do.

use std::error::Error;
use std::fmt;

use metier_agent::{AgentError, LibraryError};
use metier_model::ModelError;
use metier_session::SessionError;
use metier_skill::library::{PatternError, TrustError};

use crate::models::OFFLINE;
use crate::settings::SettingsError;

/// Nothing went wrong.
pub(crate) const OK: u8 = 0;
/// The answer is no, or what was asked for failed.
pub(crate) const FAILED: u8 = 1;
/// The question was not understood.
pub(crate) const USAGE: u8 = 2;
/// The exit code after Ctrl-C, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code.
    pub code: u8,
    /// What went wrong, and why.
    pub messages: Vec<String>,
    /// What to do.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure with a message of its own.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { code: FAILED, messages: vec![message.into()], hint: None }
    }

    /// A question that was not understood.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { code: USAGE, ..Self::new(message) }
    }

    /// An error with its causes.
    pub(crate) fn of(error: &dyn Error) -> Self {
        let mut messages = vec![error.to_string()];
        let mut cause = error.source();
        while let Some(error) = cause {
            let why = error.to_string();
            // Some say themselves what caused them.
            if !messages.iter().any(|it| it.ends_with(&why)) {
                messages.push(why);
            }
            cause = error.source();
        }
        Self { code: FAILED, messages, hint: None }
    }

    /// An error with its innermost cause: what lies between is the machinery of a library.
    pub(crate) fn brief(error: &dyn Error) -> Self {
        let mut failure = Self::of(error);
        if failure.messages.len() > 2 {
            failure.messages.drain(1..failure.messages.len() - 1);
        }
        failure
    }

    /// The same with what to do.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.messages.join(": "))
    }
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        let failure = Self { code: USAGE, ..Self::of(&error) };
        match error {
            SettingsError::Unknown { nearest: Some(nearest), .. } => {
                failure.hint(format!("did you mean `{nearest}`?"))
            }
            SettingsError::WrongKind { nearest: Some(nearest), .. } => {
                failure.hint(format!("did you mean `{nearest}`?"))
            }
            SettingsError::Unknown { .. } => failure.hint("`metier config show --all` lists them"),
            _ => failure,
        }
    }
}

impl From<PatternError> for Failure {
    fn from(error: PatternError) -> Self {
        Self { code: USAGE, ..Self::of(&error) }
    }
}

impl From<TrustError> for Failure {
    fn from(error: TrustError) -> Self {
        let broken = matches!(error, TrustError::Broken { .. });
        let failure = Self::of(&error);
        if broken {
            failure.hint("delete it and run `metier trust` in each project you trust")
        } else {
            failure
        }
    }
}

impl From<LibraryError> for Failure {
    fn from(error: LibraryError) -> Self {
        Self::of(&error)
    }
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Model(error) => error.into(),
            AgentError::Session(error) => error.into(),
            AgentError::Text(error) => Self::of(&error).hint("start a new session"),
            error => Self::of(&error),
        }
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        // What to do is part of the messages.
        match error {
            SessionError::Id { .. } => Self::usage(error.to_string()),
            SessionError::NotFound { session } => {
                Self::new(format!("there is no session `{session}`"))
                    .hint("`metier sessions list` shows those there are")
            }
            SessionError::Conflict { .. } => {
                Self::new("another command works in this session at the same time")
                    .hint("wait until it has ended, or use another session")
            }
            SessionError::NoAccess { .. } => {
                Self::of(&error).hint("METIER_HOME chooses another state directory")
            }
            SessionError::Foreign { database } => {
                Self::new(format!("`{}` is a database of another program", database.display()))
                    .hint("move it away, or set METIER_HOME to another state directory")
            }
            SessionError::Newer { .. } => Self::of(&error)
                .hint("install a newer metier, or set METIER_HOME to another state directory"),
            error => Self::of(&error),
        }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        use ModelError as E;
        let is_usage = matches!(
            error,
            E::Name { .. }
                | E::UnknownProvider { .. }
                | E::BaseUrl { .. }
                | E::Parameter { .. }
                | E::ScriptFile { .. }
                | E::Script { .. }
        );
        let hint = match &error {
            E::Name { .. } => {
                "for example `openai/gpt-5`; `offline` needs no model, and says what it is"
            }
            E::UnknownProvider { .. } => "`models.providers.NAME.base_url` makes one of any server",
            E::BaseUrl { .. } => "write it as `https://host/v1`",
            E::Key { .. } => "check the key: it may be of another provider, mistyped or revoked",
            E::Forbidden { .. } => "ask for access to the model, or name another with `--model`",
            E::UnknownModel { .. } => "name another with `--model provider/name`",
            E::Unreachable { .. } => "check that the server runs, and its address and your network",
            E::ContextOverflow { .. } => "start a new session, or bring along less",
            E::RateLimited { .. } | E::Failed { .. } | E::Interrupted { .. } => {
                "try again later, or name another model with `--model`"
            }
            E::QuotaExhausted { .. } => "add credit, or name another model with `--model`",
            E::Rejected { .. } => {
                "name another model with `--model`, or check `models.providers.NAME.format`"
            }
            E::NotJson { .. } => "check the base URL: it must lead to an interface of models",
            _ => "",
        };
        let mut failure = Self::brief(&error);
        if let E::UnknownProvider { provider, known } = &error {
            // Scripts are for tests; the planner is for people.
            let known = known.iter().map(String::as_str).filter(|it| *it != "scripted");
            let known = known.chain([OFFLINE]).collect::<Vec<_>>().join("`, `");
            failure.messages =
                vec![format!("there is no provider `{provider}`; there are `{known}`")];
        }
        if is_usage {
            failure.code = USAGE;
        }
        if hint.is_empty() { failure } else { failure.hint(hint) }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::of(&error)
    }
}
