//! A store that notes how long each append took.

use std::collections::BTreeSet;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use metier_session::{
    Event, Listing, NewEvent, Opening, Page, Session, SessionError, SessionFilter, SessionKey,
    SessionRef, SessionStore, State, UsageFilter, UsageReport,
};

/// What was appended since the last look.
#[derive(Clone, Debug, Default)]
pub(crate) struct Appended {
    /// How long each append took.
    pub(crate) waits: Vec<Duration>,
    /// How many events they had.
    pub(crate) events: usize,
}

/// A store, and what was appended to it.
#[derive(Debug)]
pub(crate) struct Timed {
    store: Arc<dyn SessionStore>,
    appended: Mutex<Appended>,
}

impl Timed {
    pub(crate) fn new(store: Arc<dyn SessionStore>) -> Self {
        Self { store, appended: Mutex::default() }
    }

    /// What was appended since this was last asked.
    pub(crate) fn take(&self) -> Appended {
        mem::take(&mut self.appended.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl SessionStore for Timed {
    async fn create(&self, key: &SessionKey) -> Result<Session, SessionError> {
        self.store.create(key).await
    }

    async fn get(&self, key: &SessionKey) -> Result<Option<Session>, SessionError> {
        self.store.get(key).await
    }

    async fn append(
        &self,
        at: &SessionRef,
        expected_seq: u64,
        events: Vec<NewEvent>,
    ) -> Result<Vec<Event>, SessionError> {
        let began = Instant::now();
        let events = self.store.append(at, expected_seq, events).await?;
        let mut appended = self.appended.lock().unwrap_or_else(PoisonError::into_inner);
        appended.waits.push(began.elapsed());
        appended.events += events.len();
        Ok(events)
    }

    async fn events(
        &self,
        at: &SessionRef,
        after_seq: u64,
        limit: usize,
    ) -> Result<Vec<Event>, SessionError> {
        self.store.events(at, after_seq, limit).await
    }

    async fn state(&self, at: &SessionRef) -> Result<State, SessionError> {
        self.store.state(at).await
    }

    async fn opening(&self, at: &SessionRef) -> Result<Option<Opening>, SessionError> {
        self.store.opening(at).await
    }

    async fn set_opening(
        &self,
        at: &SessionRef,
        opening: Opening,
    ) -> Result<Opening, SessionError> {
        self.store.set_opening(at, opening).await
    }

    async fn list(&self, filter: &SessionFilter, page: Page) -> Result<Listing, SessionError> {
        self.store.list(filter, page).await
    }

    async fn delete(&self, key: &SessionKey) -> Result<SessionRef, SessionError> {
        self.store.delete(key).await
    }

    async fn usage(&self, filter: &UsageFilter) -> Result<UsageReport, SessionError> {
        self.store.usage(filter).await
    }

    async fn digests(&self) -> Result<BTreeSet<String>, SessionError> {
        self.store.digests().await
    }
}
