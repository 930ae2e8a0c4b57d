//! What sessions and events are called.
//!
//! Ids of apps, users and sessions come from outside and may be any text; a store treats them as
//! nothing else, also when they look like paths.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::SessionError;

/// Longest id in bytes. Ids are counters, addresses or digests, all far shorter.
const MAX_ID_BYTES: usize = 1024;

/// A session: of an app, of one of its users, under a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Parts")]
pub struct SessionKey {
    app: String,
    user: String,
    session: String,
}

/// A session that was there when somebody looked.
///
/// A session that is deleted and made again has the same key and another generation, so whoever
/// holds on to the first cannot write into the second, and shares nothing with it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionRef {
    /// What it is called.
    pub key: SessionKey,
    /// Which session of that name. A store gives each number once.
    pub generation: u32,
}

/// The id of an event: a UUID of version 7, so ids sort by the time they were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(Uuid);

/// A key as it is written.
#[derive(Deserialize)]
struct Parts {
    app: String,
    user: String,
    session: String,
}

impl SessionKey {
    /// A key of these ids, which may be any text of 1 to 1024 bytes.
    ///
    /// # Errors
    ///
    /// When an id is empty or too long.
    pub fn new(app: &str, user: &str, session: &str) -> Result<Self, SessionError> {
        let (app, user) = (id("app", app)?, id("user", user)?);
        Ok(Self { app, user, session: id("session", session)? })
    }

    /// The id of the app.
    pub fn app(&self) -> &str {
        &self.app
    }

    /// The id of the user.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The id of the session.
    pub fn session(&self) -> &str {
        &self.session
    }
}

impl TryFrom<Parts> for SessionKey {
    type Error = SessionError;

    fn try_from(parts: Parts) -> Result<Self, SessionError> {
        Self::new(&parts.app, &parts.user, &parts.session)
    }
}

impl EventId {
    /// An id that nobody has.
    #[must_use]
    pub fn fresh() -> Self {
        Self(Uuid::now_v7())
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

fn id(of: &'static str, text: &str) -> Result<String, SessionError> {
    let rule = match text.len() {
        0 => "it is empty",
        1..=MAX_ID_BYTES => return Ok(text.to_owned()),
        _ => "it is longer than 1024 bytes",
    };
    Err(SessionError::Id { of, rule })
}
