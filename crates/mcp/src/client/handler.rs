//! What a server may ask of us: whether we are there, and nothing else.

use std::collections::HashMap;
use std::sync::Arc;

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, ProgressToken,
    ProtocolVersion,
};
use rmcp::service::{NotificationContext, RoleClient};
use tokio::sync::{Mutex, mpsc};

use super::McpCallProgress;
use super::text::bounded;

/// Signs of progress that wait to be looked at; what comes while so many wait is dropped.
const MAX_WAITING: usize = 64;
/// Bytes of a message about progress.
const MAX_MESSAGE: usize = 4 << 10;

/// Answers a server. Pings are answered, we have no roots, and questions to a model or a person are refused, as
/// the crate of the protocol does for whoever declares nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Handler {
    pub(super) calls: Calls,
}

/// Calls that are under way, and who is told of their progress.
///
/// Held while a call is sent, so that no sign of progress is faster than whoever waits for it.
pub(super) type Calls = Arc<Mutex<HashMap<ProgressToken, mpsc::Sender<McpCallProgress>>>>;

/// A way to be told of progress.
pub(super) fn progress() -> (mpsc::Sender<McpCallProgress>, mpsc::Receiver<McpCallProgress>) {
    mpsc::channel(MAX_WAITING)
}

impl ClientHandler for Handler {
    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let Some(sender) = self.calls.lock().await.get(&params.progress_token).cloned() else {
            return;
        };
        let message = params.message.map(|message| bounded(&message, MAX_MESSAGE));
        // Whoever does not look misses some.
        let _full = sender.try_send(McpCallProgress {
            done: params.progress,
            total: params.total,
            message,
        });
    }

    fn get_info(&self) -> ClientConfig {
        let ours = Implementation::new("metier", env!("CARGO_PKG_VERSION"));
        // Whoever is greeted does not know the version that does without.
        ClientConfig::new(ClientCapabilities::default(), ours)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }
}
