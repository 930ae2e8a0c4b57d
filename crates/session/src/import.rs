//! Makes a session of the lines of another.
//!
//! Lines come from outside, so each is judged as if it were new; one that cannot be taken ends the
//! import, and what was there of the session is deleted again.

use std::collections::HashSet;
use std::fmt;

use crate::error::said;
use crate::export::{FORMAT, Header};
use crate::{
    Event, EventId, NewEvent, Session, SessionError, SessionKey, SessionRef, SessionStore,
};

/// Events that are appended together, so that a long session does not wait for the disk each time.
const BATCH: usize = 100;
/// Bytes of lines after which a batch is appended, far from what an append may have.
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// An import that goes on.
///
/// Give it each line, then [`finish`](Self::finish). One that is dropped before leaves what it has
/// imported so far.
#[derive(Debug)]
pub struct Import<'a> {
    store: &'a dyn SessionStore,
    key: &'a SessionKey,
    at: Option<SessionRef>,
    lines: u64,
    appended: u64,
    batch: Vec<NewEvent>,
    batch_bytes: usize,
    ids: HashSet<EventId>,
}

impl<'a> Import<'a> {
    /// An import under this name, which no session may have.
    pub fn new(store: &'a dyn SessionStore, key: &'a SessionKey) -> Self {
        let (batch, ids) = (Vec::new(), HashSet::new());
        Self { store, key, at: None, lines: 0, appended: 0, batch, batch_bytes: 0, ids }
    }

    /// Takes the next line.
    ///
    /// # Errors
    ///
    /// When the line is not what an export has here, there is a session of that name, or it
    /// cannot be stored. The import is over then, and nothing of it is left, unless the store
    /// itself has failed.
    pub async fn line(&mut self, line: &str) -> Result<(), SessionError> {
        self.lines += 1;
        let taken = self.take(line).await;
        self.or_discard(taken).await
    }

    /// Ends the import. Gives the session that was made.
    ///
    /// # Errors
    ///
    /// When there was no line, or the last lines cannot be stored, as for [`line`](Self::line).
    pub async fn finish(mut self) -> Result<Session, SessionError> {
        let flushed = self.flush().await;
        self.or_discard(flushed).await?;
        let session = match &self.at {
            Some(_) => self.store.get(self.key).await?,
            None => return Err(self.fault(&"there is no line")),
        };
        session.ok_or_else(|| SessionError::not_found(self.key))
    }

    async fn take(&mut self, line: &str) -> Result<(), SessionError> {
        if self.at.is_none() {
            return self.begin(line).await;
        }
        let event: Event = serde_json::from_str(line).map_err(|error| self.fault(&error))?;
        let expected = self.appended + self.batch.len() as u64 + 1;
        if event.seq != expected {
            return Err(self.fault(&format!("event {} is where {expected} should be", event.seq)));
        }
        if !self.ids.insert(event.id) {
            return Err(self.fault(&format!("the id {} is that of an earlier event", event.id)));
        }
        self.batch.push(event.into());
        self.batch_bytes += line.len();
        if self.batch.len() >= BATCH || self.batch_bytes >= BATCH_BYTES {
            self.flush().await?;
        }
        Ok(())
    }

    async fn begin(&mut self, line: &str) -> Result<(), SessionError> {
        let header: Header = serde_json::from_str(line).map_err(|error| self.fault(&error))?;
        if header.metier_session != FORMAT {
            return Err(self.fault(&format!("version {} is not known", header.metier_session)));
        }
        if self.store.get(self.key).await?.is_some() {
            return Err(SessionError::exists(self.key));
        }
        let session = self.store.create(self.key).await?;
        if session.seq > 0 {
            return Err(SessionError::exists(self.key));
        }
        let at = self.at.insert(session.at);
        if let Some(opening) = header.opening {
            self.store.set_opening(at, opening).await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), SessionError> {
        let Some(at) = &self.at else { return Ok(()) };
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        if !batch.is_empty() {
            let count = batch.len() as u64;
            self.store.append(at, self.appended, batch).await?;
            self.appended += count;
        }
        Ok(())
    }

    /// Deletes what was made and forgets the rest, unless all is well. What went wrong first is
    /// what matters, also when the store then fails to delete.
    async fn or_discard(&mut self, done: Result<(), SessionError>) -> Result<(), SessionError> {
        if done.is_err() {
            let made = std::mem::replace(self, Self::new(self.store, self.key)).at;
            let there = self.store.get(self.key).await.ok().flatten().map(|session| session.at);
            if made.is_some() && made == there {
                let _deleted = self.store.delete(self.key).await;
            }
        }
        done
    }

    fn fault(&self, fault: &dyn fmt::Display) -> SessionError {
        SessionError::Line { line: self.lines, fault: said(fault) }
    }
}
