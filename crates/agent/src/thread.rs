//! A session that is being worked on: its events and state, as this process knows them.

use std::sync::Arc;

use metier_secrets::Redactor;
use metier_session::{
    Event, NewEvent, Opening, SessionError, SessionKey, SessionRef, SessionStore, State,
    all_events, replay,
};

use crate::agent::{Progress, Watcher};
use crate::redaction;

/// A session that is being worked on.
pub(crate) struct Thread {
    store: Arc<dyn SessionStore>,
    watcher: Watcher,
    redactor: Redactor,
    pub(crate) at: SessionRef,
    pub(crate) opening: Opening,
    pub(crate) events: Vec<Event>,
    pub(crate) state: State,
}

impl Thread {
    /// Reads a session, which begins with `opening` if it is new. One that is not whole is an error: it is good for
    /// this time, and not kept.
    pub(crate) async fn open(
        store: Arc<dyn SessionStore>,
        key: &SessionKey,
        opening: impl AsyncFnOnce(&SessionRef) -> Result<Opening, Opening>,
        watcher: Watcher,
        redactor: Redactor,
    ) -> Result<Self, SessionError> {
        let at = store.create(key).await?.at;
        let opening = match store.opening(&at).await? {
            Some(opening) => opening,
            None => match opening(&at).await {
                Ok(opening) => {
                    store.set_opening(&at, redaction::opening(&redactor, opening)).await?
                }
                Err(opening) => redaction::opening(&redactor, opening),
            },
        };
        let events = all_events(&*store, &at).await?;
        let state = replay(&events);
        Ok(Self { store, watcher, redactor, at, opening, events, state })
    }

    /// Adds events, which are kept for good before this returns. The values of keys are masked first, whoever wrote
    /// them.
    pub(crate) async fn append(&mut self, events: Vec<NewEvent>) -> Result<(), SessionError> {
        let after = self.events.last().map_or(0, |event| event.seq);
        let masked = events.into_iter().map(|event| redaction::event(&self.redactor, event));
        let events = masked.collect();
        let events = self.store.append(&self.at, after, events).await?;
        for event in events {
            self.state.apply(&event.state);
            (self.watcher)(&Progress::Appended(&event));
            self.events.push(event);
        }
        Ok(())
    }

    /// Tells whoever watches.
    pub(crate) fn tell(&self, progress: &Progress<'_>) {
        (self.watcher)(progress);
    }

    /// Tells what a model says, if that is anything.
    pub(crate) fn tell_text(&self, text: &str) {
        if !text.is_empty() {
            self.tell(&Progress::Text(text));
        }
    }

    /// Tells what a model thinks, if that is anything.
    pub(crate) fn tell_reasoning(&self, text: &str) {
        if !text.is_empty() {
            self.tell(&Progress::Reasoning(text));
        }
    }

    pub(crate) fn watcher(&self) -> Watcher {
        Arc::clone(&self.watcher)
    }
}
