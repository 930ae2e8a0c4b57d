//! Where errors meet people: an exit code, a message with its causes, and what to do.
//!
//! A failure is made of words in `new` and `usage`, or of a library's error; what is to be done about the
//! errors of libraries is in `remedies`. Its parts are private, so that no message comes about in any other
//! way: the tests render every one of them into one file, where the wording is read as a whole.

pub(crate) mod advice;
mod app;
mod place;
mod remedies;
mod runs;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::fmt;
use std::io;

use metier_skill::library::Entry;

pub(crate) use place::names_setting;
pub(crate) use remedies::server_advice;
pub(crate) use runs::{FailedRun, grant_words};

/// Nothing went wrong.
pub(crate) const OK: u8 = 0;
/// The answer is no, or what was asked for failed.
pub(crate) const FAILED: u8 = 1;
/// The question was not understood.
pub(crate) const USAGE: u8 = 2;
/// The exit code after Ctrl-C, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

/// Why a command ended early.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    code: u8,
    /// What went wrong, and why.
    messages: Vec<String>,
    hint: Option<String>,
}

impl Failure {
    /// A failure with a message of its own.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { code: FAILED, messages: vec![message.into()], hint: None }
    }

    /// A question that was not understood.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(message).into_usage()
    }

    /// Somebody pressed Ctrl-C.
    pub(crate) fn interrupted() -> Self {
        Self { code: INTERRUPTED, messages: vec!["interrupted".to_owned()], hint: None }
    }

    /// The system lacks what the program needs itself: threads, open files, memory.
    pub(crate) fn of_system(error: &io::Error) -> Self {
        Self::new(format!("the system does not give metier what it needs to work: {error}"))
            .hint("end other programs, or raise the limits (`ulimit -n`, `ulimit -u`)")
    }

    /// Nothing can be kept for the time of a command.
    pub(crate) fn of_temporary_folder(error: &io::Error) -> Self {
        Self::new(format!("cannot make a temporary folder and files in it: {error}"))
            .hint("set TMPDIR to a folder that you can write to")
    }

    /// A file of a skill cannot be read; the error names it.
    pub(crate) fn of_skill(name: &str, error: &io::Error) -> Self {
        Self::new(format!("the skill `{name}` cannot be read: {error}"))
            .hint("make its files readable for you")
    }

    /// A skill that was found, and that something is in the way of.
    pub(crate) fn of_unusable(entry: &Entry) -> Self {
        let (name, blocks) = (&entry.name, &entry.verdict.blocks);
        let failure = match blocks.first() {
            Some(block) => Self::new(format!("the skill `{name}` cannot be used: {block}")),
            None => Self::new(format!("the skill `{name}` cannot be used")),
        };
        match (&blocks[..], blocks.first().and_then(|block| advice::remedy(entry, block))) {
            ([_], Some(remedy)) => failure.hint(remedy),
            _ => failure.hint(format!("`metier skills explain {name}` says why, and what to do")),
        }
    }

    /// No line can be read from a terminal.
    pub(crate) fn of_terminal(error: &dyn Error) -> Self {
        Self::new(format!("cannot use the terminal: {error}"))
            .hint("`TERM=dumb` does without editing lines")
    }

    /// There is no folder to work in.
    pub(crate) fn of_working_directory(error: &io::Error) -> Self {
        Self::new(format!("cannot tell the working directory: {error}"))
            .hint("change to a folder that is there")
    }

    /// Nobody can answer.
    pub(crate) fn of_input(error: &io::Error) -> Self {
        Self::new(format!("cannot read what is typed: {error}")).hint("try it on another terminal")
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

    /// The same without what to do, where that is of no use.
    #[must_use]
    pub(crate) fn without_hint(self) -> Self {
        Self { hint: None, ..self }
    }

    /// The same as the cause of something larger.
    #[must_use]
    pub(crate) fn within(mut self, message: impl Into<String>) -> Self {
        self.messages.insert(0, message.into());
        self
    }

    /// The same as a question that was not understood.
    #[must_use]
    pub(crate) fn into_usage(self) -> Self {
        Self { code: USAGE, ..self }
    }

    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        self.code
    }

    /// What to do.
    pub(crate) fn remedy(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.messages.join(": "))
    }
}
