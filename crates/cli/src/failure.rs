//! Where errors meet people: an exit code, a message with its causes, and what to do.

use std::error::Error;
use std::fmt;

use metier_skill::library::{PatternError, TrustError};

use crate::settings::SettingsError;

/// Nothing went wrong.
pub(crate) const OK: u8 = 0;
/// The answer is no, or what was asked for failed.
pub(crate) const FAILED: u8 = 1;
/// The question was not understood.
pub(crate) const USAGE: u8 = 2;

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
            messages.push(error.to_string());
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

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::of(&error)
    }
}
