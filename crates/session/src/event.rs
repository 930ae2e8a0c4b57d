//! An event: something that happened in a session, when, and what follows from it.
//!
//! The JSON of an event is what stores keep and what an export has a line of.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::usage::Note;
use crate::{Content, Delta, EventId, SessionError, Usage, prepare};

/// Fields that this version does not know, kept as they are.
pub type Extra = Map<String, Value>;

/// Something that happened in a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its number in the session: 1, 2, 3, … without gaps.
    pub seq: u64,
    /// Its id.
    pub id: EventId,
    /// When it happened, in milliseconds since 1970.
    pub time: u64,
    /// Who caused it: a user, or an agent by its name.
    pub author: String,
    /// What happened.
    pub content: Content,
    /// What it changes in the state.
    pub state: Delta,
    /// What a model was paid for it.
    pub usage: Option<Usage>,
    /// Skills that took part, each with the digest of the tree that was used.
    pub digests: BTreeMap<String, String>,
    /// Which skill each of them was, of all that have its name. Events of older versions do not say it.
    pub identities: BTreeMap<String, String>,
    /// Why requests from here on do not begin with the same bytes as those before.
    pub breaks: Option<Break>,
    /// Fields of later versions.
    pub extra: Extra,
}

/// Requests from here on do not begin with the bytes of those before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Break {
    /// Why.
    pub cause: BreakCause,
    /// Texts of skills that requests do not contain from here on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stubbed: Vec<Stub>,
    /// Fields of later versions.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The text of a skill that an event brought into requests, and that is there no longer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stub {
    /// The event.
    pub event: EventId,
    /// The skill.
    pub skill: String,
    /// Fields of later versions.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Stub {
    /// The text of a skill at an event.
    pub fn new(event: EventId, skill: &str) -> Self {
        Self { event, skill: skill.to_owned(), extra: Extra::new() }
    }
}

/// Why requests do not begin with the same bytes any more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BreakCause {
    /// Older turns were summarised.
    Compaction,
    /// Text of skills that are not loaded any more took too much room.
    Trimming,
    /// Text was to be in one request only.
    Once,
    /// More skills were loaded than may be at once.
    Eviction,
    /// A cause that this version does not know.
    #[serde(untagged)]
    Other(String),
}

/// An event that has no place in a session yet.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent(Event);

impl Event {
    /// Digests of all trees that it names. Requests are made of them, so they must be kept as long as it is.
    pub fn trees(&self) -> BTreeSet<String> {
        Note::of(self).digests
    }
}

impl NewEvent {
    /// An event of now, which changes nothing in the state.
    pub fn new(author: &str, content: Content) -> Self {
        Self(Event {
            seq: 0,
            id: EventId::fresh(),
            time: now(),
            author: author.to_owned(),
            content,
            state: Delta::new(),
            usage: None,
            digests: BTreeMap::new(),
            identities: BTreeMap::new(),
            breaks: None,
            extra: Extra::new(),
        })
    }

    /// Says when it happened, in milliseconds since 1970, if that was not now.
    #[must_use]
    pub fn with_time(mut self, time: u64) -> Self {
        self.0.time = time;
        self
    }

    /// Changes the state.
    #[must_use]
    pub fn with_state(mut self, delta: Delta) -> Self {
        self.0.state = delta;
        self
    }

    /// Says what a model was paid.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.0.usage = Some(usage);
        self
    }

    /// Names a skill that took part, with the digest of the tree that was used.
    #[must_use]
    pub fn with_digest(mut self, skill: &str, digest: &str) -> Self {
        self.0.digests.insert(skill.to_owned(), digest.to_owned());
        self
    }

    /// Says which skill of its name one was that took part.
    #[must_use]
    pub fn with_identity(mut self, skill: &str, identity: &str) -> Self {
        self.0.identities.insert(skill.to_owned(), identity.to_owned());
        self
    }

    /// Says that requests from here on begin with other bytes.
    #[must_use]
    pub fn with_break(mut self, cause: BreakCause, stubbed: Vec<Stub>) -> Self {
        self.0.breaks = Some(Break { cause, stubbed, extra: Extra::new() });
        self
    }

    /// The event as it will be if it gets this number.
    #[must_use]
    pub fn preview(&self, seq: u64) -> Event {
        self.clone().at(seq)
    }

    /// Judges events that are to be appended after that with the number `last`, and numbers them. Every
    /// store does this before it keeps anything.
    ///
    /// # Errors
    ///
    /// When there are too many, or one of them is too large or would not be the same when it is read again.
    pub fn number(last: u64, events: Vec<Self>) -> Result<Vec<Event>, SessionError> {
        Ok(prepare::events(last, events)?.into_iter().map(|it| it.event).collect())
    }

    /// Its id, which it keeps.
    pub fn id(&self) -> EventId {
        self.0.id
    }

    /// The event with its place in a session.
    pub(crate) fn at(self, seq: u64) -> Event {
        Event { seq, ..self.0 }
    }
}

impl From<Event> for NewEvent {
    /// The same event, for another session. It keeps its id and time, and loses its number.
    fn from(event: Event) -> Self {
        Self(Event { seq: 0, ..event })
    }
}

impl From<NewEvent> for Event {
    /// The event without a place: its number is 0.
    fn from(event: NewEvent) -> Self {
        event.0
    }
}

/// An event as it is written.
#[derive(Serialize)]
struct Written<'a> {
    seq: u64,
    id: EventId,
    time: u64,
    author: &'a str,
    kind: &'a str,
    content: &'a Content,
    #[serde(skip_serializing_if = "Delta::is_empty")]
    state: &'a Delta,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<&'a Usage>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    digests: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    identities: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    breaks: Option<&'a Break>,
    #[serde(flatten)]
    extra: &'a Extra,
}

/// An event as it is read.
#[derive(Deserialize)]
struct Read {
    seq: u64,
    id: EventId,
    time: u64,
    author: String,
    kind: String,
    content: Value,
    #[serde(default)]
    state: Delta,
    usage: Option<Usage>,
    #[serde(default)]
    digests: BTreeMap<String, String>,
    #[serde(default)]
    identities: BTreeMap<String, String>,
    breaks: Option<Break>,
    #[serde(flatten)]
    extra: Extra,
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { seq, id, time, author, content, state, usage, .. } = self;
        let Self { digests, identities, breaks, extra, .. } = self;
        Written {
            seq: *seq,
            id: *id,
            time: *time,
            author,
            kind: content.kind(),
            content,
            state,
            usage: usage.as_ref(),
            digests,
            identities,
            breaks: breaks.as_ref(),
            extra,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Read::deserialize(deserializer)?;
        let Read { seq, id, time, author, kind, content, state, usage, .. } = read;
        let Read { digests, identities, breaks, extra, .. } = read;
        let content = Content::read(kind, content).map_err(D::Error::custom)?;
        Ok(Self {
            seq,
            id,
            time,
            author,
            content,
            state,
            usage,
            digests,
            identities,
            breaks,
            extra,
        })
    }
}

/// Milliseconds since 1970, which is also the time of clocks that are set before it.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
