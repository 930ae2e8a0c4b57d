//! One turn of a session at a time.
//!
//! A turn that begins takes calls without an answer for interrupted. So a second one, as a double click makes it, would
//! answer those of the first, which then fails with a conflict although its commands ran. Other processes at the same
//! session are not seen here; the store refuses what they would write over.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use metier_session::SessionKey;

use crate::agent::AgentError;

/// The sessions in which a turn is under way. Clones know of the same.
#[derive(Clone, Debug, Default)]
pub struct Turns(Arc<Mutex<BTreeSet<SessionKey>>>);

impl Turns {
    /// Begins a turn, which goes on until what this gives is dropped.
    ///
    /// # Errors
    ///
    /// When another is under way.
    pub(crate) fn begin(&self, key: &SessionKey) -> Result<Turning, AgentError> {
        if !self.keys().insert(key.clone()) {
            return Err(AgentError::Busy { session: key.session().to_owned() });
        }
        Ok(Turning { turns: self.clone(), key: key.clone() })
    }

    fn keys(&self) -> MutexGuard<'_, BTreeSet<SessionKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A turn that is under way.
#[derive(Debug)]
pub(crate) struct Turning {
    turns: Turns,
    key: SessionKey,
}

impl Drop for Turning {
    fn drop(&mut self) {
        self.turns.keys().remove(&self.key);
    }
}
