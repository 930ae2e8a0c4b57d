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
