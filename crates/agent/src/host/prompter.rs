//! Asking a person.

use std::fmt;

use async_trait::async_trait;

use super::approver::{Decision, Question};

/// Puts a question to a person.
///
/// It is implemented by front ends: the command line asks at the terminal, a server through its client, and
/// [`NoPrompter`] nobody. An [`Approver`](super::Approver) says what is allowed without asking.
#[async_trait]
pub trait Prompter: fmt::Debug + Send + Sync {
    /// Asks a person, and returns the decision. `None` means that no person could be asked, which is neither yes nor no:
    /// the rules of the policy say what becomes of the command.
    ///
    /// The text in a question was written by a model or a server, escape sequences and all: a person is shown
    /// [`Question::shown`], never a field as it is.
    async fn ask(&self, question: &Question) -> Option<Decision>;
}

/// A prompter where no person can be asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPrompter;

#[async_trait]
impl Prompter for NoPrompter {
    async fn ask(&self, _question: &Question) -> Option<Decision> {
        None
    }
}
