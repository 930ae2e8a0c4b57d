//! Sessions in a SQLite database, for any number of processes at once.
//!
//! Two threads serve it (`worker`), each with a connection of its own: one writes and commits what
//! waits together, one reads and is never in the way of the other. `database` opens the file, `read`,
//! `write` and `decisions` are the statements, `problem` says what went wrong.

mod database;
mod decisions;
mod problem;
mod read;
mod worker;
mod write;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::Connection;

use crate::event::now;
use crate::{
    Event, Listing, NewEvent, Opening, Page, Session, SessionError, SessionFilter, SessionKey,
    SessionRef, SessionStore, State, UsageFilter, UsageReport, prepare,
};
use database::Place;
use worker::{Lasting, Worker};

/// How long one waits for another process unless told: far longer than any commit takes.
const DEFAULT_WAIT: Duration = Duration::from_secs(10);

/// A store in a database file.
///
/// What an append returns is on disk. Appends that wait at the same time are committed together,
/// so many sessions share the cost of one.
#[derive(Debug)]
pub struct SqliteStore {
    writer: Worker,
    reader: Worker,
}

impl SqliteStore {
    /// Opens a database, and makes the file if it is missing, for its owner alone. The folder must
    /// be there. This waits for the disk.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, is damaged, is of a later version or of another program. It is
    /// left as it is then.
    pub fn open(path: &Path) -> Result<Self, SessionError> {
        Self::open_waiting(path, DEFAULT_WAIT)
    }

    /// Opens a database, and waits at most so long for other processes then and later.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_waiting(path: &Path, wait: Duration) -> Result<Self, SessionError> {
        let (place, writer, reader) = database::open(path, wait)?;
        let place: Arc<Place> = Arc::new(place);
        let writer = Worker::writer(&place, writer)?;
        Ok(Self { writer, reader: Worker::reader(&place, reader)? })
    }
}

#[async_trait]
impl SessionStore for SqliteStore {
    async fn create(&self, key: &SessionKey) -> Result<Session, SessionError> {
        // Most sessions are there, and looking costs no commit.
        if let Some(session) = self.get(key).await? {
            return Ok(session);
        }
        let key = key.clone();
        let create = move |database: &Connection| write::create(database, key, now());
        self.writer.ask_lasting(Lasting::Later, create).await
    }

    async fn get(&self, key: &SessionKey) -> Result<Option<Session>, SessionError> {
        let key = key.clone();
        self.reader.ask(move |database| read::session(database, &key)).await
    }

    async fn append(
        &self,
        at: &SessionRef,
        expected_seq: u64,
        events: Vec<NewEvent>,
    ) -> Result<Vec<Event>, SessionError> {
        let prepared = prepare::events(expected_seq, events)?;
        let at = at.clone();
        self.writer.ask(move |database| write::append(database, &at, expected_seq, prepared)).await
    }

    async fn events(
        &self,
        at: &SessionRef,
        after_seq: u64,
        limit: usize,
    ) -> Result<Vec<Event>, SessionError> {
        let at = at.clone();
        self.reader.ask(move |database| read::events(database, &at, after_seq, limit)).await
    }

    async fn state(&self, at: &SessionRef) -> Result<State, SessionError> {
        let at = at.clone();
        self.reader.ask(move |database| read::state(database, &at)).await
    }

    async fn opening(&self, at: &SessionRef) -> Result<Option<Opening>, SessionError> {
        let at = at.clone();
        self.reader.ask(move |database| read::opening(database, &at)).await
    }

    async fn set_opening(
        &self,
        at: &SessionRef,
        opening: Opening,
    ) -> Result<Opening, SessionError> {
        let json = prepare::opening(&opening)?;
        let at = at.clone();
        let set = move |database: &Connection| write::set_opening(database, &at, opening, &json);
        self.writer.ask_lasting(Lasting::Later, set).await
    }

    async fn list(&self, filter: &SessionFilter, page: Page) -> Result<Listing, SessionError> {
        let filter = filter.clone();
        self.reader.ask(move |database| read::list(database, &filter, page)).await
    }

    async fn delete(&self, key: &SessionKey) -> Result<SessionRef, SessionError> {
        let key = key.clone();
        self.writer.ask(move |database| write::delete(database, &key)).await
    }

    async fn usage(&self, filter: &UsageFilter) -> Result<UsageReport, SessionError> {
        let filter = filter.clone();
        self.reader.ask(move |database| read::usage(database, &filter)).await
    }

    async fn digests(&self) -> Result<BTreeSet<String>, SessionError> {
        self.reader.ask(read::digests).await
    }
}
