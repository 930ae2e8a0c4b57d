//! A store of sessions: a file of JSON lines for each, in a folder that one process uses at a time.
//!
//! A line is whatever was written at once, so an append is there whole or not at all. A last line without an end is
//! what a crash left, and is cut off. Files are named by generation, which no path of anybody's choosing can be, and
//! an empty file stays of what was deleted, so that no generation is given twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use metier_session::{
    Event, Listing, MAX_PAGE, MAX_PAGE_BYTES, NewEvent, Opening, Page, Session, SessionError,
    SessionFilter, SessionKey, SessionRef, SessionStore, State, UsageFilter, UsageReport,
};
use serde::{Deserialize, Serialize};

/// Sessions in a folder.
#[derive(Debug)]
pub(crate) struct LineStore {
    folder: PathBuf,
    held: Mutex<Held>,
    /// Keeps other processes away for as long as it is open.
    _lock: File,
}

#[derive(Debug, Default)]
struct Held {
    sessions: BTreeMap<SessionKey, Kept>,
    last_generation: u32,
}

/// A session as it is in memory.
#[derive(Debug)]
struct Kept {
    session: Session,
    opening: Option<Opening>,
    events: Vec<Event>,
    state: State,
}

/// A line of a file: something that happened to a session, and when, in milliseconds since 1970.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Begun { at: SessionRef, time: u64 },
    Opening { opening: Opening, time: u64 },
    Events { events: Vec<Event>, time: u64 },
}

impl LineStore {
    /// Opens a store, and makes its folder if need be.
    pub(crate) fn open(folder: &Path) -> Result<Self, SessionError> {
        let failed = |error: std::io::Error| storage(folder, &error);
        fs::create_dir_all(folder).map_err(failed)?;
        let lock = File::create(folder.join("lock")).map_err(failed)?;
        lock.try_lock().map_err(|error| storage(folder, &error.into()))?;
        let mut held = Held::default();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let number = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
            let Some(generation) = number else { continue };
            held.last_generation = held.last_generation.max(generation);
            if let Some(kept) = read(&path)? {
                held.sessions.insert(kept.session.at.key.clone(), kept);
            }
        }
        Ok(Self { folder: folder.to_owned(), held: Mutex::new(held), _lock: lock })
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, generation: u32) -> PathBuf {
        self.folder.join(format!("{generation}.jsonl"))
    }

    /// Writes a line, which is on disk when this returns; or the file is as it was.
    fn write(&self, generation: u32, line: &Line) -> Result<(), SessionError> {
        let path = self.file(generation);
        let failed = |error: std::io::Error| storage(&path, &error);
        let mut text = serde_json::to_vec(line).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        let mut file = File::options().create(true).append(true).open(&path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let written = file.write_all(&text).and_then(|()| file.sync_all());
        written.map_err(|error| {
            let _as_it_was = file.set_len(length);
            failed(error)
        })
    }
}

impl Held {
    /// The session that somebody saw, if it is still that one.
    fn kept(&mut self, at: &SessionRef) -> Result<&mut Kept, SessionError> {
        match self.sessions.get_mut(&at.key) {
            Some(kept) if kept.session.at == *at => Ok(kept),
            Some(_) => Err(SessionError::gone(&at.key)),
            None => Err(SessionError::not_found(&at.key)),
        }
    }
}

impl Kept {
    fn begun(at: SessionRef, time: u64) -> Self {
        let session = Session::begun(at, time);
        Self { session, opening: None, events: Vec::new(), state: State::default() }
    }

    /// Takes a line that is in the file.
    fn take(&mut self, line: Line) {
        match line {
            Line::Begun { .. } => {}
            Line::Opening { opening, time } => {
                self.opening = Some(opening);
                self.session.updated = self.session.updated.max(time);
            }
            Line::Events { events, time } => {
                self.session.count(&events, time);
                events.iter().for_each(|event| self.state.apply(&event.state));
                self.events.extend(events);
            }
        }
    }
}

// Writes are short, so they are done where they are asked for. A store that waits longer has a thread of its own.
#[async_trait]
impl SessionStore for LineStore {
    async fn create(&self, key: &SessionKey) -> Result<Session, SessionError> {
        let mut held = self.held();
        if let Some(kept) = held.sessions.get(key) {
            return Ok(kept.session.clone());
        }
        let generation = held.last_generation.checked_add(1);
        let generation = generation.ok_or(SessionError::TooManySessions { limit: u32::MAX })?;
        let (at, time) = (SessionRef { key: key.clone(), generation }, now());
        self.write(generation, &Line::Begun { at: at.clone(), time })?;
        sync(&self.folder)?;
        held.last_generation = generation;
        let kept = Kept::begun(at, time);
        Ok(held.sessions.entry(key.clone()).or_insert(kept).session.clone())
    }

    async fn get(&self, key: &SessionKey) -> Result<Option<Session>, SessionError> {
        Ok(self.held().sessions.get(key).map(|kept| kept.session.clone()))
    }

    async fn append(
        &self,
        at: &SessionRef,
        expected: u64,
        events: Vec<NewEvent>,
    ) -> Result<Vec<Event>, SessionError> {
        let events = NewEvent::number(expected, events)?;
        let mut held = self.held();
        let kept = held.kept(at)?;
        if kept.session.seq != expected {
            return Err(SessionError::Conflict { expected, found: kept.session.seq });
        }
        let mut state = kept.state.clone();
        events.iter().for_each(|event| state.apply(&event.state));
        state.judge()?;
        if !events.is_empty() {
            let line = Line::Events { events: events.clone(), time: now() };
            self.write(at.generation, &line)?;
            kept.take(line);
        }
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
        let (mut page, mut bytes) = (Vec::new(), 0);
        for event in held.kept(at)?.events.iter().skip(skipped).take(limit.min(MAX_PAGE)) {
            bytes += serde_json::to_string(event).map_or(0, |json| json.len());
            page.push(event.clone());
            if bytes >= MAX_PAGE_BYTES {
                break;
            }
        }
        Ok(page)
    }

    async fn state(&self, at: &SessionRef) -> Result<State, SessionError> {
        Ok(self.held().kept(at)?.state.clone())
    }

    async fn opening(&self, at: &SessionRef) -> Result<Option<Opening>, SessionError> {
        Ok(self.held().kept(at)?.opening.clone())
    }

    async fn set_opening(
        &self,
        at: &SessionRef,
        opening: Opening,
    ) -> Result<Opening, SessionError> {
        opening.judge()?;
        let mut held = self.held();
        let kept = held.kept(at)?;
        if let Some(opening) = &kept.opening {
            return Ok(opening.clone());
        }
        let line = Line::Opening { opening: opening.clone(), time: now() };
        self.write(at.generation, &line)?;
        kept.take(line);
        Ok(opening)
    }

    async fn list(&self, filter: &SessionFilter, page: Page) -> Result<Listing, SessionError> {
        let held = self.held();
        Ok(Listing::of(held.sessions.values().map(|kept| &kept.session), filter, page))
    }

    async fn delete(&self, key: &SessionKey) -> Result<SessionRef, SessionError> {
        let mut held = self.held();
        let kept = held.sessions.get(key).ok_or_else(|| SessionError::not_found(key))?;
        let at = kept.session.at.clone();
        let path = self.file(at.generation);
        let emptied = File::create(&path).and_then(|file| file.sync_all());
        emptied.map_err(|error| storage(&path, &error))?;
        held.sessions.remove(key);
        Ok(at)
    }

    async fn usage(&self, filter: &UsageFilter) -> Result<UsageReport, SessionError> {
        let held = self.held();
        Ok(UsageReport::of(held.sessions.values().map(|it| (&it.session.at, &it.events)), filter))
    }

    async fn digests(&self) -> Result<BTreeSet<String>, SessionError> {
        let held = self.held();
        Ok(held.sessions.values().flat_map(|kept| &kept.events).flat_map(Event::trees).collect())
    }
}

/// Reads the file of a session; one that was deleted is empty.
fn read(path: &Path) -> Result<Option<Kept>, SessionError> {
    let failed = |error: std::io::Error| storage(path, &error);
    let text = fs::read(path).map_err(failed)?;
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    if whole < text.len() {
        let file = File::options().write(true).open(path).map_err(failed)?;
        file.set_len(whole as u64).map_err(failed)?;
    }
    let mut kept: Option<Kept> = None;
    for line in text[..whole].split_inclusive(|byte| *byte == b'\n') {
        let damaged = |fault: &dyn ToString| SessionError::Damaged {
            database: path.to_owned(),
            fault: fault.to_string(),
        };
        match (serde_json::from_slice(line).map_err(|error| damaged(&error))?, &mut kept) {
            (Line::Begun { at, time }, None) => kept = Some(Kept::begun(at, time)),
            (line, Some(kept)) => kept.take(line),
            _ => return Err(damaged(&"its first line is missing")),
        }
    }
    Ok(kept)
}

/// Brings the names in a folder to disk.
fn sync(folder: &Path) -> Result<(), SessionError> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| storage(folder, &error))
}

fn storage(path: &Path, error: &std::io::Error) -> SessionError {
    SessionError::Storage { database: path.to_owned(), fault: error.to_string() }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
