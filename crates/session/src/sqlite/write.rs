//! Statements that change something. Each is part of a transaction that holds the write lock, so
//! what it reads first is still so when it writes.

use rusqlite::{Connection, params};

use super::problem::Problem;
use super::read;
use crate::error::said;
use crate::event::now;
use crate::prepare::{self, Prepared};
use crate::usage::Note;
use crate::{Delta, Event, Opening, Session, SessionError, SessionKey, SessionRef};

pub(super) fn create(
    database: &Connection,
    key: SessionKey,
    time: u64,
) -> Result<Session, Problem> {
    if let Some(session) = read::session(database, &key)? {
        return Ok(session);
    }
    let mut insert = database.prepare_cached(
        "INSERT INTO session (app, user, name, created, updated, seq, turns)
         VALUES (?1, ?2, ?3, ?4, ?4, 0, 0)",
    )?;
    let generation = insert.insert(params![key.app(), key.user(), key.session(), time])?;
    let generation =
        u32::try_from(generation).map_err(|_| SessionError::TooManySessions { limit: u32::MAX })?;
    Ok(Session::begun(SessionRef { key, generation }, time))
}

pub(super) fn append(
    database: &Connection,
    at: &SessionRef,
    expected: u64,
    prepared: Vec<Prepared>,
) -> Result<Vec<Event>, Problem> {
    let mut session = read::session_at(database, at)?;
    if session.seq != expected {
        return Err(SessionError::Conflict { expected, found: session.seq }.into());
    }
    let mut events = Vec::with_capacity(prepared.len());
    for Prepared { event, json } in prepared {
        insert_event(database, at.generation, &event, &json)?;
        change_state(database, at.generation, &event.state)?;
        events.push(event);
    }
    if events.iter().any(|event| !event.state.is_empty()) {
        judge_state(database, at.generation)?;
    }
    session.count(&events, now());
    if !events.is_empty() {
        update(database, &session)?;
    }
    Ok(events)
}

pub(super) fn set_opening(
    database: &Connection,
    at: &SessionRef,
    opening: Opening,
    json: &str,
) -> Result<Opening, Problem> {
    if let Some(opening) = read::opening(database, at)? {
        return Ok(opening);
    }
    let mut update = database.prepare_cached(
        "UPDATE session SET opening = ?2, updated = max(updated, ?3) WHERE generation = ?1",
    )?;
    update.execute(params![at.generation, json, now()])?;
    Ok(opening)
}

pub(super) fn delete(database: &Connection, key: &SessionKey) -> Result<SessionRef, Problem> {
    let session = read::session(database, key)?.ok_or_else(|| SessionError::not_found(key))?;
    let mut delete = database.prepare_cached("DELETE FROM session WHERE generation = ?1")?;
    delete.execute([session.at.generation])?;
    Ok(session.at)
}

fn insert_event(
    database: &Connection,
    generation: u32,
    event: &Event,
    json: &str,
) -> Result<(), Problem> {
    let note = Note::of(event);
    let note = (!note.is_empty()).then(|| serde_json::to_string(&note)).transpose();
    let unstorable = |error: serde_json::Error| SessionError::Unstorable {
        what: "the event",
        fault: said(&error),
    };
    let note = note.map_err(unstorable)?;
    let mut insert = database.prepare_cached(
        "INSERT INTO event (generation, seq, time, kind, note, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let kind = event.content.kind();
    insert.execute(params![generation, event.seq, event.time, kind, note, json])?;
    Ok(())
}

fn change_state(database: &Connection, generation: u32, delta: &Delta) -> Result<(), Problem> {
    for (name, value) in delta.iter() {
        match value {
            Some(value) => database
                .prepare_cached(
                    "INSERT INTO state (generation, name, value) VALUES (?1, ?2, ?3)
                     ON CONFLICT DO UPDATE SET value = excluded.value",
                )?
                .execute(params![generation, name, value])?,
            None => database
                .prepare_cached("DELETE FROM state WHERE generation = ?1 AND name = ?2")?
                .execute(params![generation, name])?,
        };
    }
    Ok(())
}

fn judge_state(database: &Connection, generation: u32) -> Result<(), Problem> {
    let mut sum = database.prepare_cached(
        "SELECT coalesce(sum(octet_length(name) + octet_length(value)), 0)
         FROM state WHERE generation = ?1",
    )?;
    Ok(prepare::state(sum.query_row([generation], |row| row.get(0))?)?)
}

fn update(database: &Connection, session: &Session) -> Result<(), Problem> {
    let Session { at, updated, seq, turns, title, .. } = session;
    let mut update = database.prepare_cached(
        "UPDATE session SET updated = ?2, seq = ?3, turns = ?4, title = ?5 WHERE generation = ?1",
    )?;
    update.execute(params![at.generation, updated, seq, turns, title])?;
    Ok(())
}
