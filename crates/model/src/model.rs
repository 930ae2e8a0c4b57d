//! What every model can do.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::{ModelError, Replies, Request};

/// Something that replies to requests.
///
/// Implemented by the models of providers and by [`Scripted`](crate::Scripted). An implementation
/// must hand over a reply whose last event is [`ReplyEvent::Done`](crate::ReplyEvent::Done) or an
/// error, must stop working when the [`Replies`] are dropped, and must give the same bytes to its
/// provider for the same request.
#[async_trait]
pub trait Model: Debug + Send + Sync {
    /// The name under which it was opened, such as `openai/gpt-5`.
    fn name(&self) -> &str;

    /// Asks for a reply.
    ///
    /// # Errors
    ///
    /// Fails if the request cannot even be made; whatever goes wrong later is an event of the
    /// reply.
    async fn stream(&self, request: &Request) -> Result<Replies, ModelError>;
}
