//! Statements that only read. Each sees one state of the database from its beginning to its end.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::de::DeserializeOwned;

use super::problem::Problem;
use crate::bounds::{MAX_PAGE, MAX_PAGE_BYTES};
use crate::error::said;
use crate::usage::{Note, Noted, Tally};
use crate::{
    Event, Listing, Opening, Page, Session, SessionError, SessionFilter, SessionKey, SessionRef,
    State, UsageFilter, UsageReport,
};

pub(super) fn session(database: &Connection, key: &SessionKey) -> Result<Option<Session>, Problem> {
    let mut select = database.prepare_cached(
        "SELECT generation, app, user, name, created, updated, seq, turns, title
         FROM session WHERE app = ?1 AND user = ?2 AND name = ?3",
    )?;
    let mut rows = select.query([key.app(), key.user(), key.session()])?;
    rows.next()?.map(read_session).transpose()
}

/// The session, if it is still the one that the caller has seen.
pub(super) fn session_at(database: &Connection, at: &SessionRef) -> Result<Session, Problem> {
    match session(database, &at.key)? {
        Some(session) if session.at == *at => Ok(session),
        Some(_) => Err(SessionError::gone(&at.key).into()),
        None => Err(SessionError::not_found(&at.key).into()),
    }
}

pub(super) fn events(
    database: &Connection,
    at: &SessionRef,
    after_seq: u64,
    limit: usize,
) -> Result<Vec<Event>, Problem> {
    let all = database.unchecked_transaction()?;
    session_at(&all, at)?;
    let mut select = all.prepare_cached(
        "SELECT seq, body FROM event WHERE generation = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
    )?;
    // There are no numbers above, so nothing is after them.
    let after = i64::try_from(after_seq).unwrap_or(i64::MAX);
    let mut rows = select.query(params![at.generation, after, limit.min(MAX_PAGE)])?;
    let mut page = Vec::new();
    let mut bytes = 0;
    while bytes < MAX_PAGE_BYTES
        && let Some(row) = rows.next()?
    {
        let (seq, body): (u64, String) = (row.get(0)?, row.get(1)?);
        bytes += body.len();
        let event: Event = stored(&format!("event {seq} of session {}", at.generation), &body)?;
        page.push(event);
    }
    Ok(page)
}

pub(super) fn state(database: &Connection, at: &SessionRef) -> Result<State, Problem> {
    let all = database.unchecked_transaction()?;
    session_at(&all, at)?;
    let mut select = all.prepare_cached("SELECT name, value FROM state WHERE generation = ?1")?;
    let mut rows = select.query([at.generation])?;
    let mut state = State::default();
    while let Some(row) = rows.next()? {
        state.insert(row.get(0)?, row.get(1)?);
    }
    Ok(state)
}

pub(super) fn opening(database: &Connection, at: &SessionRef) -> Result<Option<Opening>, Problem> {
    let SessionRef { key, generation } = at;
    let mut select = database.prepare_cached(
        "SELECT generation, opening FROM session WHERE app = ?1 AND user = ?2 AND name = ?3",
    )?;
    let found = select.query_row([key.app(), key.user(), key.session()], |row| {
        Ok((row.get::<_, u32>(0)?, row.get::<_, Option<String>>(1)?))
    });
    match found.optional()? {
        None => Err(SessionError::not_found(key).into()),
        Some((found, _)) if found != *generation => Err(SessionError::gone(key).into()),
        Some((_, None)) => Ok(None),
        Some((_, Some(json))) => {
            stored(&format!("the opening of session {generation}"), &json).map(Some)
        }
    }
}

pub(super) fn list(
    database: &Connection,
    filter: &SessionFilter,
    page: Page,
) -> Result<Listing, Problem> {
    let limit = page.limit.min(MAX_PAGE);
    let (updated, generation) = match page.after {
        Some(after) => (after.updated, after.generation),
        None => (i64::MAX.unsigned_abs(), u32::MAX),
    };
    // A time that does not fit is after all that do.
    let unused_since = filter.unused_since.and_then(|since| i64::try_from(since).ok());
    let mut select = database.prepare_cached(
        "SELECT generation, app, user, name, created, updated, seq, turns, title FROM session
         WHERE (updated, generation) < (?1, ?2) AND (?3 IS NULL OR app = ?3)
             AND (?4 IS NULL OR user = ?4) AND (?5 IS NULL OR updated < ?5)
         ORDER BY updated DESC, generation DESC LIMIT ?6",
    )?;
    let SessionFilter { app, user, .. } = filter;
    let mut rows =
        select.query(params![updated, generation, app, user, unused_since, limit + 1])?;
    let mut sessions = Vec::new();
    while let Some(row) = rows.next()? {
        sessions.push(read_session(row)?);
    }
    Ok(Listing::cut(sessions, limit))
}

pub(super) fn usage(database: &Connection, filter: &UsageFilter) -> Result<UsageReport, Problem> {
    let mut select = database.prepare_cached(
        "SELECT event.generation, app, user, name, time, kind = 'user', note
         FROM event JOIN session USING (generation)
         WHERE (note IS NOT NULL OR kind = 'user') AND (?1 IS NULL OR app = ?1)
             AND (?2 IS NULL OR user = ?2) AND (?3 IS NULL OR name = ?3)
         ORDER BY event.generation, event.seq",
    )?;
    let mut rows = select.query(params![filter.app, filter.user, filter.session])?;
    let mut tally = Tally::new(filter);
    let mut current: Option<SessionRef> = None;
    while let Some(row) = rows.next()? {
        let generation = row.get(0)?;
        if current.as_ref().is_none_or(|current| current.generation != generation) {
            current = Some(SessionRef { key: read_key(row)?, generation });
        }
        let Some(SessionRef { key, .. }) = &current else { continue };
        let note = match row.get::<_, Option<String>>(6)? {
            Some(note) => stored(&format!("an event of session {generation}"), &note)?,
            None => Note::default(),
        };
        tally.take(Noted { key, generation, time: row.get(4)?, is_user: row.get(5)?, note });
    }
    Ok(tally.finish())
}

pub(super) fn digests(database: &Connection) -> Result<BTreeSet<String>, Problem> {
    let mut select = database.prepare_cached("SELECT note FROM event WHERE note IS NOT NULL")?;
    let mut rows = select.query([])?;
    let mut digests = BTreeSet::new();
    while let Some(row) = rows.next()? {
        let note: Note = stored("an event", &row.get::<_, String>(0)?)?;
        digests.extend(note.digests);
    }
    Ok(digests)
}

fn read_session(row: &Row<'_>) -> Result<Session, Problem> {
    Ok(Session {
        at: SessionRef { key: read_key(row)?, generation: row.get(0)? },
        created: row.get(4)?,
        updated: row.get(5)?,
        seq: row.get(6)?,
        turns: row.get(7)?,
        title: row.get(8)?,
    })
}

fn read_key(row: &Row<'_>) -> Result<SessionKey, Problem> {
    let (app, user, session): (String, String, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
    SessionKey::new(&app, &user, &session).map_err(|error| Problem::Damaged(error.to_string()))
}

pub(super) fn stored<T: DeserializeOwned>(what: &str, json: &str) -> Result<T, Problem> {
    serde_json::from_str(json)
        .map_err(|error| Problem::Damaged(format!("{what} cannot be read: {}", said(&error))))
}
