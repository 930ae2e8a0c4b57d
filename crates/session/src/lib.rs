//! Sessions: a log of events, and a small state that follows from it.
//!
//! An [`Event`] is appended once and never changes. The [`State`] changes only through the
//! [`Delta`] of an event, so [`replay`] of the log gives the state, at any point of it. A
//! [`SessionStore`] keeps both: [`MemoryStore`] for as long as the process lives, [`SqliteStore`]
//! in a file, for any number of processes at once.
//!
//! Both also keep what people [decided](DecisionStore) about commands for good.
//!
//! This crate stores what it is given. What a request to a model is made of, what a key of the
//! state means, and which workspaces and artifacts belong to a session is decided by the callers.
//!
//! ```
//! use metier_session::content::UserMessage;
//! use metier_session::{Content, Delta, MemoryStore, NewEvent, SessionKey, SessionStore, replay};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = MemoryStore::new();
//! let session = store.create(&SessionKey::new("shop", "ada", "monday")?).await?;
//!
//! let mut delta = Delta::new();
//! delta.set("temp:skill:loaded:csv-stats", "1")?;
//! let message = UserMessage { text: "What sold best?".to_owned(), ..UserMessage::default() };
//! let event = NewEvent::new("ada", Content::User(message)).with_state(delta);
//! store.append(&session.at, session.seq, vec![event]).await?;
//!
//! // Somebody who has not seen that event cannot write over it.
//! let late = NewEvent::new("bob", Content::User(UserMessage::default()));
//! let conflict = store.append(&session.at, 0, vec![late]).await.unwrap_err();
//! assert_eq!(conflict.to_string(), "the session has 1 events, not 0: read the new ones and try again");
//!
//! let events = store.events(&session.at, 0, 100).await?;
//! assert_eq!(replay(&events), store.state(&session.at).await?);
//! # Ok(())
//! # }
//! ```

mod bounds;
pub mod content;
mod decision;
mod error;
mod event;
mod export;
mod import;
mod key;
mod memory;
mod prepare;
mod sqlite;
mod state;
mod store;
mod usage;

pub use bounds::{
    MAX_AGENT_BYTES, MAX_APPEND_EVENTS, MAX_DECISIONS, MAX_EVENT_BYTES, MAX_OPENING_BYTES,
    MAX_PAGE, MAX_PAGE_BYTES, MAX_RULE_BYTES, MAX_SHOWN_CHARS,
};
pub use content::Content;
pub use decision::{Decision, DecisionStore, Rule};
pub use error::SessionError;
pub use event::{Break, BreakCause, Event, Extra, NewEvent, Stub};
pub use export::Export;
pub use import::Import;
pub use key::{EventId, SessionKey, SessionRef};
pub use memory::MemoryStore;
pub use sqlite::SqliteStore;
pub use state::{Delta, DeltaError, State, replay};
pub use store::{Cursor, Listing, Opening, Page, Session, SessionFilter, SessionStore, all_events};
pub use usage::{Tokens, Usage, UsageFilter, UsageReport};
