//! What the tests of all stores need: names, events, outcomes as text.

use std::sync::Arc;

use metier_session::content::{AssistantMessage, Part, Text, UserMessage};
use metier_session::{
    Content, Delta, Event, NewEvent, Page, SessionError, SessionFilter, SessionKey, SessionRef,
    SessionStore, Usage,
};

/// A store that is tested.
pub(crate) type Store = Arc<dyn SessionStore>;

pub(crate) fn key(session: &str) -> SessionKey {
    SessionKey::new("app", "ada", session).unwrap()
}

/// Begins a session that is not there.
pub(crate) async fn begin(store: &Store, name: &str) -> SessionRef {
    let session = store.create(&key(name)).await.unwrap();
    assert_eq!((session.seq, session.turns, session.title), (0, 0, None));
    session.at
}

/// A message of a user.
pub(crate) fn said(text: &str) -> NewEvent {
    let message = UserMessage { text: text.to_owned(), ..UserMessage::default() };
    NewEvent::new("ada", Content::User(message))
}

/// A reply of a model.
pub(crate) fn replied(text: &str) -> NewEvent {
    let parts = vec![Part::Text(Text { text: text.to_owned(), ..Text::default() })];
    let message = AssistantMessage { parts, model: "m".to_owned(), ..AssistantMessage::default() };
    NewEvent::new("agent", Content::Assistant(message))
}

/// What a model read and wrote.
pub(crate) fn paid(model: &str, input_tokens: u64, output_tokens: u64) -> Usage {
    Usage { model: model.to_owned(), input_tokens, output_tokens, ..Usage::default() }
}

/// Changes such as `a=1 b= -c`: set, set to nothing, remove.
pub(crate) fn delta(changes: &str) -> Delta {
    let mut delta = Delta::new();
    for change in changes.split_whitespace() {
        match (change.strip_prefix('-'), change.split_once('=')) {
            (Some(name), _) => delta.remove(name).unwrap(),
            (None, Some((name, value))) => delta.set(name, value).unwrap(),
            (None, None) => panic!("`{change}` is no change"),
        }
    }
    delta
}

/// The words of a message or reply.
pub(crate) fn words(event: &Event) -> &str {
    match &event.content {
        Content::User(message) => &message.text,
        Content::Assistant(reply) => match &reply.parts[..] {
            [Part::Text(part)] => &part.text,
            parts => panic!("{parts:?}"),
        },
        content => panic!("{content:?}"),
    }
}

/// All events of a session, of which each page must go on where the last ended.
pub(crate) async fn all(store: &Store, at: &SessionRef) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let page = store.events(at, events.len() as u64, usize::MAX).await.unwrap();
        if page.is_empty() {
            return events;
        }
        for event in page {
            assert_eq!(event.seq, events.len() as u64 + 1);
            events.push(event);
        }
    }
}

/// The state as text.
pub(crate) async fn state(store: &Store, at: &SessionRef) -> String {
    let state = store.state(at).await.unwrap();
    let pairs: Vec<_> = state.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join(" ")
}

/// The names of sessions in pages of so many.
pub(crate) async fn listed(store: &Store, filter: &SessionFilter, limit: usize) -> String {
    let mut pages = Vec::new();
    let mut after = None;
    loop {
        let listing = store.list(filter, Page { after, limit }).await.unwrap();
        let names = listing.sessions.iter().map(|session| session.at.key.session());
        pages.push(names.collect::<Vec<_>>().join(" "));
        after = listing.next;
        if after.is_none() {
            return pages.join(" | ");
        }
    }
}

/// What the store said instead.
pub(crate) fn refusal<T: std::fmt::Debug>(outcome: Result<T, SessionError>) -> String {
    outcome.unwrap_err().to_string()
}

/// Does all of it at once, and gives what came out, in order.
pub(crate) async fn join<T: Send + 'static>(
    work: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<T> {
    let tasks: Vec<_> = work.into_iter().map(tokio::spawn).collect();
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.unwrap());
    }
    outcomes
}
