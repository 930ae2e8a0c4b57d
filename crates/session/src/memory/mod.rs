//! Sessions for as long as the process lives.

mod decisions;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::bounds::{MAX_PAGE, MAX_PAGE_BYTES};
use crate::event::now;
use crate::{
    Decision, Event, Listing, NewEvent, Opening, Page, Session, SessionError, SessionFilter,
    SessionKey, SessionRef, SessionStore, State, UsageFilter, UsageReport, prepare, replay,
};

/// How much a store holds unless it is told: what a test or a short run needs at most.
const DEFAULT_MAX_BYTES: usize = 1024 * 1024 * 1024;
/// What a session takes beside its events.
const SESSION_BYTES: usize = 4096;

/// A store in memory. What it holds is gone with it.
#[derive(Debug)]
pub struct MemoryStore {
    held: Mutex<Held>,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct Held {
    sessions: BTreeMap<SessionKey, Entry>,
    last_generation: u32,
    bytes: usize,
    decisions: Vec<Decision>,
}

#[derive(Debug)]
struct Entry {
    session: Session,
    events: Vec<(Event, usize)>,
    state: State,
    opening: Option<Opening>,
    bytes: usize,
}

impl MemoryStore {
    /// A store without sessions that holds 1 GiB.
    #[must_use]
    pub fn new() -> Self {
        Self { held: Mutex::default(), max_bytes: DEFAULT_MAX_BYTES }
    }

    /// Holds so many bytes of sessions, about.
    #[must_use]
    pub fn with_max_bytes(self, max_bytes: usize) -> Self {
        Self { max_bytes, ..self }
    }

    /// Nothing is left half done by whoever panicked: changes are made when all is judged.
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl SessionStore for MemoryStore {
    async fn create(&self, key: &SessionKey) -> Result<Session, SessionError> {
        let mut held = self.held();
        if let Some(entry) = held.sessions.get(key) {
            return Ok(entry.session.clone());
        }
        held.take(SESSION_BYTES, self.max_bytes)?;
        let generation = held.last_generation.checked_add(1);
        let generation = generation.ok_or(SessionError::TooManySessions { limit: u32::MAX })?;
        held.last_generation = generation;
        let session = Session::begun(SessionRef { key: key.clone(), generation }, now());
        held.sessions.insert(key.clone(), Entry::new(session.clone()));
        Ok(session)
    }

    async fn get(&self, key: &SessionKey) -> Result<Option<Session>, SessionError> {
        Ok(self.held().sessions.get(key).map(|entry| entry.session.clone()))
    }

    async fn append(
        &self,
        at: &SessionRef,
        expected: u64,
        events: Vec<NewEvent>,
    ) -> Result<Vec<Event>, SessionError> {
        let prepared = prepare::events(expected, events)?;
        let bytes = prepared.iter().map(|prepared| prepared.json.len()).sum();
        let mut held = self.held();
        let entry = held.entry(at)?;
        if entry.session.seq != expected {
            return Err(SessionError::Conflict { expected, found: entry.session.seq });
        }
        let mut state = entry.state.clone();
        prepared.iter().for_each(|prepared| state.apply(&prepared.event.state));
        prepare::state(state.bytes())?;
        held.take(bytes, self.max_bytes)?;
        let entry = held.entry(at)?;
        let events: Vec<_> = prepared.iter().map(|prepared| prepared.event.clone()).collect();
        entry.state = state;
        entry.bytes += bytes;
        entry.session.count(&events, now());
        entry.events.extend(prepared.into_iter().map(|it| (it.event, it.json.len())));
        Ok(events)
    }

    async fn events(
        &self,
        at: &SessionRef,
        after_seq: u64,
        limit: usize,
    ) -> Result<Vec<Event>, SessionError> {
        let mut held = self.held();
        let skipped = usize::try_from(after_seq).unwrap_or(usize::MAX);
        let mut page = Vec::new();
        let mut bytes = 0;
        for (event, size) in held.entry(at)?.events.iter().skip(skipped).take(limit.min(MAX_PAGE)) {
            page.push(event.clone());
            bytes += size;
            if bytes >= MAX_PAGE_BYTES {
                break;
            }
        }
        Ok(page)
    }

    async fn state(&self, at: &SessionRef) -> Result<State, SessionError> {
        Ok(self.held().entry(at)?.state.clone())
    }

    async fn opening(&self, at: &SessionRef) -> Result<Option<Opening>, SessionError> {
        Ok(self.held().entry(at)?.opening.clone())
    }

    async fn set_opening(
        &self,
        at: &SessionRef,
        opening: Opening,
    ) -> Result<Opening, SessionError> {
        let bytes = prepare::opening(&opening)?.len();
        let mut held = self.held();
        if let Some(opening) = &held.entry(at)?.opening {
            return Ok(opening.clone());
        }
        held.take(bytes, self.max_bytes)?;
        let entry = held.entry(at)?;
        entry.bytes += bytes;
        entry.session.updated = entry.session.updated.max(now());
        Ok(entry.opening.insert(opening).clone())
    }

    async fn list(&self, filter: &SessionFilter, page: Page) -> Result<Listing, SessionError> {
        let held = self.held();
        Ok(Listing::of(held.sessions.values().map(|entry| &entry.session), filter, page))
    }

    async fn delete(&self, key: &SessionKey) -> Result<SessionRef, SessionError> {
        let mut held = self.held();
        let entry = held.sessions.remove(key).ok_or_else(|| SessionError::not_found(key))?;
        held.bytes -= entry.bytes;
        Ok(entry.session.at)
    }

    async fn usage(&self, filter: &UsageFilter) -> Result<UsageReport, SessionError> {
        let held = self.held();
        let sessions = held.sessions.values();
        let sessions =
            sessions.map(|it| (&it.session.at, it.events.iter().map(|(event, _)| event)));
        Ok(UsageReport::of(sessions, filter))
    }

    async fn digests(&self) -> Result<BTreeSet<String>, SessionError> {
        let held = self.held();
        let events = held.sessions.values().flat_map(|entry| &entry.events);
        Ok(events.flat_map(|(event, _)| event.trees()).collect())
    }
}

impl Held {
    /// Takes so many bytes, if they are there.
    fn take(&mut self, bytes: usize, limit: usize) -> Result<(), SessionError> {
        let taken = self.bytes.saturating_add(bytes);
        if taken > limit {
            return Err(SessionError::Full { limit });
        }
        self.bytes = taken;
        Ok(())
    }

    fn entry(&mut self, at: &SessionRef) -> Result<&mut Entry, SessionError> {
        match self.sessions.get_mut(&at.key) {
            Some(entry) if entry.session.at == *at => Ok(entry),
            Some(_) => Err(SessionError::gone(&at.key)),
            None => Err(SessionError::not_found(&at.key)),
        }
    }
}

impl Entry {
    fn new(session: Session) -> Self {
        let state = replay([]);
        Self { session, events: Vec::new(), state, opening: None, bytes: SESSION_BYTES }
    }
}
