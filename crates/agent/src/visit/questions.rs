//! Questions that wait for an answer which comes with another call.
//!
//! Whoever brings an answer names the question by what it was given for it. That holds for exactly this question, and
//! once: an answer that is brought again, or after anything in the question has changed, is none.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use metier_session::EventId;
use metier_skill::files::Digest;

use super::Visit;

/// Questions that wait at the same time. People who have more before them begin with the last.
const MAX_OPEN: usize = 64;

/// Questions of a visit, the oldest first, each with what it is named by.
#[derive(Debug, Default)]
pub(super) struct Questions(Mutex<VecDeque<(String, Digest)>>);

impl Questions {
    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, Digest)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visit {
    /// Keeps a question; gives what the call must name that has the answer.
    pub fn open_question(&self, question: Digest) -> String {
        let name = EventId::fresh().to_string();
        let mut open = self.questions.lock();
        if open.len() == MAX_OPEN {
            open.pop_front();
        }
        open.push_back((name.clone(), question));
        name
    }

    /// Whether a name is that of this question, which is then answered and does not wait any more.
    pub fn close_question(&self, name: &str, question: Digest) -> bool {
        let mut open = self.questions.lock();
        let at = open.iter().position(|it| it.0 == name && it.1 == question);
        at.is_some_and(|at| open.remove(at).is_some())
    }
}
