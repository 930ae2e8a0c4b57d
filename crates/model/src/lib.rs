//! Models: what they are asked, what they answer, and how providers are spoken to.
//!
//! A [`Model`] takes a [`Request`] and gives [`Replies`]: events to show, and at the end the whole
//! [`Reply`]. [`open`] makes one of a name and settings. Three wire formats are spoken; requests
//! are byte-stable, so that a conversation that grows keeps its prefix in the provider's cache.
//! Replies are read as servers really send them. Requests that fail in a way that may pass are sent
//! again; dropping the replies ends a request at any point.
//!
//! This crate does not run tools, does not keep conversations, and reads no environment: what to
//! do with a call, what to send next and where keys come from is the business of others.
//!
//! ```
//! use metier_model::{Message, Model, ModelError, Request, Scripted};
//!
//! # async fn ask() -> Result<(), ModelError> {
//! let model = Scripted::from_text(r#"{"text": "Hello, you."}"#)?;
//! let request = Request { messages: vec![Message::user("Hello!")], ..Request::default() };
//! let reply = model.stream(&request).await?.finish().await?;
//! assert_eq!(reply.text(), "Hello, you.");
//! # Ok(())
//! # }
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(ask()).unwrap();
//! ```
//!
//! A model of a provider, or of a server of your own. Nothing is sent before it is asked something:
//!
//! ```
//! use metier_model::{ModelError, ModelSettings, Provider, Secret, open};
//!
//! let key = "sk-…"; // From wherever your program keeps secrets.
//! let settings = ModelSettings::new([
//!     ("anthropic".to_owned(), Provider::anthropic(Some(Secret::new(key)))),
//!     ("local".to_owned(), Provider::compatible("http://127.0.0.1:8080/v1")),
//! ]);
//! let model = open("anthropic/claude-sonnet-4-5", &settings)?;
//! assert_eq!(model.name(), "anthropic/claude-sonnet-4-5");
//! assert_eq!(open("local/qwen3", &settings)?.name(), "local/qwen3");
//!
//! // A provider without its key is an error now, and not with the first request.
//! let without = ModelSettings::new([("anthropic".to_owned(), Provider::anthropic(None))]);
//! assert!(matches!(open("anthropic/claude-sonnet-4-5", &without), Err(ModelError::NoKey { .. })));
//! # Ok::<(), ModelError>(())
//! ```

mod accumulator;
mod calls;
mod endpoint;
mod error;
mod exchange;
mod fault;
mod model;
mod raw;
mod reading;
mod reply;
mod request;
mod retry;
mod scripted;
mod secret;
mod settings;
mod sse;
mod wire;

#[cfg(test)]
mod exchange_tests;

pub use error::{ModelError, Said};
pub use model::Model;
pub use reply::{Replies, Reply, ReplyEvent, StopReason, Usage};
pub use request::{AllowedCall, Message, Opaque, Part, ReplyPart, Request, ToolChoice, ToolSpec};
pub use retry::Retries;
pub use scripted::Scripted;
pub use secret::Secret;
pub use settings::{KeyHeader, ModelSettings, Provider, open};
pub use wire::{Dialect, Format};
