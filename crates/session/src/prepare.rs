//! What is judged about events and openings before any store takes them.
//!
//! What is stored must be the same when it is read again: it is written, read, and compared, so
//! nothing can get into a log that would make it unreadable.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bounds::{
    MAX_APPEND_BYTES, MAX_APPEND_EVENTS, MAX_AUTHOR_BYTES, MAX_EVENT_BYTES, MAX_OPENING_BYTES,
    MAX_STATE_BYTES,
};
use crate::error::said;
use crate::{Event, NewEvent, Opening, SessionError};

/// An event that may be stored, and its JSON.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) event: Event,
    pub(crate) json: String,
}

/// Judges events that are to be appended after the one with that number.
pub(crate) fn events(
    expected_seq: u64,
    events: Vec<NewEvent>,
) -> Result<Vec<Prepared>, SessionError> {
    if events.len() > MAX_APPEND_EVENTS {
        return Err(SessionError::TooMany { count: events.len(), limit: MAX_APPEND_EVENTS });
    }
    let mut bytes = 0;
    let mut prepared = Vec::with_capacity(events.len());
    for (offset, event) in (1..).zip(events) {
        // A number that does not fit comes after one that cannot be the last: that is a conflict.
        let event = event.at(expected_seq.saturating_add(offset));
        if i64::try_from(event.time).is_err() {
            let fault = format!("{} is no time", event.time);
            return Err(SessionError::Unstorable { what: "the event", fault });
        }
        within("the name of the author", event.author.len(), MAX_AUTHOR_BYTES)?;
        let json = written("the event", &event, MAX_EVENT_BYTES)?;
        bytes += json.len();
        within("the append", bytes, MAX_APPEND_BYTES)?;
        prepared.push(Prepared { event, json });
    }
    Ok(prepared)
}

/// Judges an opening and gives its JSON.
pub(crate) fn opening(opening: &Opening) -> Result<String, SessionError> {
    written("the opening", opening, MAX_OPENING_BYTES)
}

/// Judges the size of a state.
pub(crate) fn state(bytes: usize) -> Result<(), SessionError> {
    within("the state of the session", bytes, MAX_STATE_BYTES)
}

pub(crate) fn within(what: &'static str, size: usize, limit: usize) -> Result<(), SessionError> {
    if size > limit { Err(SessionError::TooLarge { what, size, limit }) } else { Ok(()) }
}

pub(crate) fn written<T: Serialize + DeserializeOwned + PartialEq>(
    what: &'static str,
    value: &T,
    limit: usize,
) -> Result<String, SessionError> {
    let unstorable = |fault| SessionError::Unstorable { what, fault };
    let json = serde_json::to_string(value).map_err(|error| unstorable(said(&error)))?;
    within(what, json.len(), limit)?;
    match serde_json::from_str::<T>(&json) {
        Ok(read) if read == *value => Ok(json),
        Ok(_) => Err(unstorable("an unknown field has the name of a known one".to_owned())),
        Err(error) => Err(unstorable(said(&error))),
    }
}
