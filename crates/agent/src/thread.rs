//! A session that is being worked on: its events and state, as this process knows them.

use std::sync::Arc;

use metier_session::{
    Event, NewEvent, Opening, SessionError, SessionKey, SessionRef, SessionStore, State,
    all_events, replay,
};

use crate::agent::{Progress, Watcher};

/// A session that is being worked on.
pub(crate) struct Thread {
    store: Arc<dyn SessionStore>,
    watcher: Watcher,
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
    ) -> Result<Self, SessionError> {
        let at = store.create(key).await?.at;
        let opening = match store.opening(&at).await? {
            Some(opening) => opening,
            None => match opening(&at).await {
                Ok(opening) => store.set_opening(&at, opening).await?,
                Err(opening) => opening,
            },
        };
        let events = all_events(&*store, &at).await?;
        let state = replay(&events);
        Ok(Self { store, watcher, at, opening, events, state })
    }

    /// Adds events, which are kept for good before this returns.
    pub(crate) async fn append(&mut self, events: Vec<NewEvent>) -> Result<(), SessionError> {
        let after = self.events.last().map_or(0, |event| event.seq);
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

    pub(crate) fn watcher(&self) -> Watcher {
        Arc::clone(&self.watcher)
    }
}
