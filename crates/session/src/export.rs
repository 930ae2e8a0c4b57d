//! A session as lines of JSON: one that says what it is, then one for each event.
//!
//! The lines hold all that a store knows, with fields of later versions, so that
//! [`Import`](crate::Import) makes the same session of them elsewhere.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::bounds::MAX_PAGE;
use crate::error::said;
use crate::{Event, Opening, SessionError, SessionRef, SessionStore};

/// The version of the lines.
pub(crate) const FORMAT: u32 = 1;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The version of the lines.
    pub(crate) metier_session: u32,
    #[serde(flatten)]
    at: SessionRef,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) opening: Option<Opening>,
}

/// Lines of a session, a page of its events in memory at a time.
#[derive(Debug)]
pub struct Export<'a> {
    store: &'a dyn SessionStore,
    at: &'a SessionRef,
    has_begun: bool,
    last_seq: u64,
    page: VecDeque<Event>,
}

impl<'a> Export<'a> {
    /// The lines of a session. Events that are appended meanwhile are part of it.
    pub fn new(store: &'a dyn SessionStore, at: &'a SessionRef) -> Self {
        Self { store, at, has_begun: false, last_seq: 0, page: VecDeque::new() }
    }

    /// The next line, without its end, until there are no more.
    ///
    /// # Errors
    ///
    /// When there is no such session any more, or it cannot be read.
    pub async fn next_line(&mut self) -> Result<Option<String>, SessionError> {
        if !self.has_begun {
            let opening = self.store.opening(self.at).await?;
            self.has_begun = true;
            let header = Header { metier_session: FORMAT, at: self.at.clone(), opening };
            return line(&header).map(Some);
        }
        if self.page.is_empty() {
            self.page = self.store.events(self.at, self.last_seq, MAX_PAGE).await?.into();
        }
        let Some(event) = self.page.pop_front() else { return Ok(None) };
        self.last_seq = event.seq;
        line(&event).map(Some)
    }
}

fn line(value: &impl Serialize) -> Result<String, SessionError> {
    let unstorable =
        |error: serde_json::Error| SessionError::Unstorable { what: "a line", fault: said(&error) };
    serde_json::to_string(value).map_err(unstorable)
}
