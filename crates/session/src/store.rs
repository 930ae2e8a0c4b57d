//! What every store of sessions does, and what it says about them.

use std::collections::BTreeSet;
use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    Content, Event, Extra, NewEvent, SessionError, SessionKey, SessionRef, State, UsageFilter,
    UsageReport,
};

/// A place for sessions. [`MemoryStore`](crate::MemoryStore) and
/// [`SqliteStore`](crate::SqliteStore) implement it, and so may a program that keeps sessions elsewhere.
///
/// What a store must uphold:
///
/// - Events of a session are numbered 1, 2, 3, … without gaps, in the order they were appended,
///   and never change.
/// - An append is there whole or not at all, with its deltas in the state, and is kept for good
///   before it is returned. Of those who append after the same event one succeeds; the others get
///   [`SessionError::Conflict`].
/// - The state is that of a [`replay`](crate::replay) of all events.
/// - A generation is never given twice, and whoever holds one that was deleted gets an error.
/// - Sessions do not mix, whatever their ids are.
///
/// Waits for the store itself are bounded. What a caller gave up waiting for, by dropping the
/// future, is done whole or not at all.
///
/// What every store does alike is here to be used: [`NewEvent::number`] judges events and numbers them,
/// [`Opening::judge`] and [`State::judge`] judge the rest, [`Session::begun`] and [`Session::count`] keep
/// the summary of a session, [`Listing::of`] cuts pages, [`UsageReport::of`] sums up and [`Event::trees`]
/// names digests. `examples/` has a store that is made of them.
#[async_trait]
pub trait SessionStore: fmt::Debug + Send + Sync {
    /// The session of this name, which is begun if there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be stored.
    async fn create(&self, key: &SessionKey) -> Result<Session, SessionError>;

    /// The session of this name, if there is one.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    async fn get(&self, key: &SessionKey) -> Result<Option<Session>, SessionError>;

    /// Appends events after that with the number `expected_seq`, which must be the last. Gives
    /// them with their numbers.
    ///
    /// # Errors
    ///
    /// [`SessionError::Conflict`] when there are more events by now; when one of the new ones or
    /// the state is too large; when they cannot be stored.
    async fn append(
        &self,
        at: &SessionRef,
        expected_seq: u64,
        events: Vec<NewEvent>,
    ) -> Result<Vec<Event>, SessionError>;

    /// Events after that with the number `after_seq`, in their order: as many as asked for, or
    /// fewer when there are [`MAX_PAGE`](crate::MAX_PAGE) or
    /// [`MAX_PAGE_BYTES`](crate::MAX_PAGE_BYTES) of them. No event means that there are no more.
    ///
    /// # Errors
    ///
    /// When there is no such session, or it cannot be read.
    async fn events(
        &self,
        at: &SessionRef,
        after_seq: u64,
        limit: usize,
    ) -> Result<Vec<Event>, SessionError>;

    /// The state after the last event.
    ///
    /// # Errors
    ///
    /// When there is no such session, or it cannot be read.
    async fn state(&self, at: &SessionRef) -> Result<State, SessionError>;

    /// How the first request began, once that was set.
    ///
    /// # Errors
    ///
    /// When there is no such session, or it cannot be read.
    async fn opening(&self, at: &SessionRef) -> Result<Option<Opening>, SessionError>;

    /// Sets how the first request begins, unless that was set before. Gives what is set.
    ///
    /// # Errors
    ///
    /// When there is no such session, it is too large, or cannot be stored.
    async fn set_opening(&self, at: &SessionRef, opening: Opening)
    -> Result<Opening, SessionError>;

    /// Sessions, those that were written to last first.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    async fn list(&self, filter: &SessionFilter, page: Page) -> Result<Listing, SessionError>;

    /// Deletes a session. Gives which one it was, so that its workspace and artifacts can be
    /// removed.
    ///
    /// # Errors
    ///
    /// When there is no such session, or it cannot be deleted.
    async fn delete(&self, key: &SessionKey) -> Result<SessionRef, SessionError>;

    /// What models were paid.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    async fn usage(&self, filter: &UsageFilter) -> Result<UsageReport, SessionError>;

    /// Digests of all trees that events of all sessions name. Requests are made of them, so
    /// whoever cleans up must leave them.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    async fn digests(&self) -> Result<BTreeSet<String>, SessionError>;
}

/// What is known of a session without reading its events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Session {
    /// Which one it is.
    pub at: SessionRef,
    /// When it was begun, in milliseconds since 1970.
    pub created: u64,
    /// When it was last written to, in milliseconds since 1970.
    pub updated: u64,
    /// The number of its last event, which is also how many there are.
    pub seq: u64,
    /// How many messages of users there are.
    pub turns: u64,
    /// The first words of the first message of a user.
    pub title: Option<String>,
}

/// How the first request of a session began, which later ones repeat to the byte.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// The system text.
    pub system: String,
    /// The schemas of the tools: JSON, as text.
    pub tools: String,
    /// The fingerprint of the catalog that the system text has.
    pub catalog: String,
    /// Fields of later versions.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Which sessions to list; all of them by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Only this app.
    pub app: Option<String>,
    /// Only users of this id.
    pub user: Option<String>,
    /// Only those that nobody has written to since, in milliseconds since 1970.
    pub unused_since: Option<u64>,
}

/// A part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// Where the part before it ended.
    pub after: Option<Cursor>,
    /// How many sessions it has, at most [`MAX_PAGE`](crate::MAX_PAGE).
    pub limit: usize,
}

/// Where a page ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    pub(crate) updated: u64,
    pub(crate) generation: u32,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// The sessions.
    pub sessions: Vec<Session>,
    /// Where the next page begins, if there may be one. A session that is written to meanwhile
    /// moves to the front, and is not met again.
    pub next: Option<Cursor>,
}

impl Session {
    /// A session without events, begun at a time in milliseconds since 1970.
    pub fn begun(at: SessionRef, time: u64) -> Self {
        Self { at, created: time, updated: time, seq: 0, turns: 0, title: None }
    }

    /// Counts events that are appended at a time in milliseconds since 1970.
    pub fn count<'a>(&mut self, events: impl IntoIterator<Item = &'a Event>, time: u64) {
        for event in events {
            self.seq = event.seq;
            if let Content::User(message) = &event.content {
                self.turns += 1;
                self.title = self.title.take().or_else(|| title(&message.text));
            }
        }
        self.updated = self.updated.max(time);
    }

    pub(crate) fn cursor(&self) -> Cursor {
        Cursor { updated: self.updated, generation: self.at.generation }
    }
}

impl Opening {
    /// Judges whether a store may keep it: its size, and that it can be read again.
    ///
    /// # Errors
    ///
    /// When it is too large, or would not be the same when it is read again.
    pub fn judge(&self) -> Result<(), SessionError> {
        crate::prepare::opening(self).map(drop)
    }
}

impl SessionFilter {
    pub(crate) fn takes(&self, session: &Session) -> bool {
        let is = |wanted: &Option<String>, id| wanted.as_deref().is_none_or(|wanted| wanted == id);
        is(&self.app, session.at.key.app())
            && is(&self.user, session.at.key.user())
            && self.unused_since.is_none_or(|since| session.updated < since)
    }
}

impl Listing {
    /// A page of those of all sessions, in any order, that a filter takes.
    pub fn of<'a>(
        sessions: impl IntoIterator<Item = &'a Session>,
        filter: &SessionFilter,
        page: Page,
    ) -> Self {
        let limit = page.limit.min(crate::MAX_PAGE);
        let mut taken: Vec<&Session> = sessions
            .into_iter()
            .filter(|session| filter.takes(session))
            .filter(|session| page.after.is_none_or(|after| session.cursor() < after))
            .collect();
        taken.sort_by_key(|session| std::cmp::Reverse(session.cursor()));
        Self::cut(taken.into_iter().take(limit + 1).cloned().collect(), limit)
    }

    /// A page that was cut from sessions in their order, one more than it may have.
    pub(crate) fn cut(mut sessions: Vec<Session>, limit: usize) -> Self {
        let has_more = sessions.len() > limit;
        sessions.truncate(limit);
        let next = sessions.last().filter(|_| has_more).map(Session::cursor);
        Self { sessions, next }
    }
}

/// The first words of a text, on one line.
fn title(text: &str) -> Option<String> {
    /// What fits on a line of a list.
    const MAX_CHARS: usize = 60;
    let mut title = String::new();
    for word in text.split(|letter: char| letter.is_whitespace() || letter.is_control()) {
        let (is_first, length) = (title.is_empty(), title.chars().count());
        if word.is_empty() {
            continue;
        }
        if !is_first && length + 1 + word.chars().count() > MAX_CHARS {
            title.push('…');
            break;
        }
        if !is_first {
            title.push(' ');
        }
        title.extend(word.chars().take(MAX_CHARS));
        if word.chars().nth(MAX_CHARS).is_some() {
            title.push('…');
            break;
        }
    }
    Some(title).filter(|title| !title.is_empty())
}

/// All events of a session, in their order.
///
/// # Errors
///
/// When the store cannot be read, or there is no such session.
pub async fn all_events(
    store: &dyn SessionStore,
    at: &SessionRef,
) -> Result<Vec<Event>, SessionError> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let after = events.last().map_or(0, |event| event.seq);
        let page = store.events(at, after, crate::MAX_PAGE).await?;
        if page.is_empty() {
            return Ok(events);
        }
        events.extend(page);
    }
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn a_title_is_the_first_words_on_one_line() {
        let texts = [
            " \n\t",
            "  Hello,\n\nworld \u{1b}[31m ",
            "turn the sales of the last three years into a chart with a legend, please",
            &"x".repeat(61),
            &"y".repeat(60),
            &format!("{} z", "y".repeat(60)),
        ];
        insta::assert_debug_snapshot!(texts.map(title), @r#"
        [
            None,
            Some(
                "Hello, world [31m",
            ),
            Some(
                "turn the sales of the last three years into a chart with a…",
            ),
            Some(
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…",
            ),
            Some(
                "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
            ),
            Some(
                "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…",
            ),
        ]
        "#);
    }
}
