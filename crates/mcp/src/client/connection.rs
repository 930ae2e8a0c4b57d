//! A connection to one server: opened, asked, closed.

use std::sync::Arc;
use std::time::Duration;

use metier_sandbox::SpawnError;
use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ProtocolVersion, ServerPeerInfo};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, PeerRequestOptions, RunningService,
    serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use super::handler::Handler;
use super::program;
use super::text::bounded;
use super::trouble::Trouble;
use super::web::{Headers, Web};
use super::{
    McpAnswerFault, McpClientError, McpClientOptions, McpServerAddress, McpServerInfo, McpTimeouts,
    McpTransport, messages,
};
use crate::skills::SKILLS_EXTENSION;

/// How long a name or version of a server may be, in bytes.
const MAX_NAME: usize = 200;
/// How long the instructions of a server may be, in bytes.
const MAX_INSTRUCTIONS: usize = 16 << 10;
/// How long the end of a conversation is waited for.
const FAREWELL: Duration = Duration::from_secs(6);
/// How often a stream that broke off is asked for again.
const TRIES: usize = 4;

/// A connection to one server. Dropped, it ends, and so does the program that was started for it.
#[derive(Debug)]
pub struct McpConnection {
    pub(super) trouble: Trouble,
    pub(super) timeouts: McpTimeouts,
    pub(super) service: RunningService<RoleClient, Handler>,
    server: McpServerInfo,
}

impl McpConnection {
    /// Connects to a server and agrees on what is spoken.
    ///
    /// A server is first asked what it is, as the newest version of the protocol wants it. One that does not
    /// stand the question is met again, and greeted as before.
    ///
    /// # Errors
    ///
    /// When the server cannot be started or reached, or does not speak the protocol.
    pub async fn open(
        address: &McpServerAddress,
        options: &McpClientOptions,
    ) -> Result<Self, McpClientError> {
        let newest = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        };
        let until = Instant::now() + options.timeouts.open;
        match meet(address, options, newest, until).await {
            Err(Miss::Words(trouble, error)) if is_worth_another_try(&error) => {
                trouble.end().await;
                let older = ClientLifecycleMode::Initialize;
                conclude(meet(address, options, older, until).await).await
            }
            met => conclude(met).await,
        }
    }

    /// What the server says of itself.
    pub fn server(&self) -> &McpServerInfo {
        &self.server
    }

    /// Ends the connection, and the program that was started for it.
    pub async fn close(mut self) {
        // What does not end now is ended by force.
        let _late = self.service.close_with_timeout(FAREWELL).await;
        self.trouble.end().await;
    }

    /// Asks something that needs no work.
    pub(super) async fn ask(&self, request: ClientRequest) -> Result<Value, McpClientError> {
        let options = PeerRequestOptions::no_options();
        let asked = async {
            let handle = self.service.peer().send_request_with_option(request, options).await?;
            handle.await_response().await
        };
        match timeout(self.timeouts.answer, asked).await {
            Ok(Ok(answer)) => Ok(messages::unboxed(answer)),
            Ok(Err(error)) => Err(self.trouble.asking(error).await),
            Err(_late) => Err(self.trouble.silent(self.timeouts.answer)),
        }
    }

    /// Makes sure that a server has what it is to be asked for.
    pub(super) fn needs(&self, has: bool, what: &'static str) -> Result<(), McpClientError> {
        let server = self.trouble.server.clone();
        if has { Ok(()) } else { Err(McpClientError::NotOffered { server, what }) }
    }

    pub(super) fn strange(&self, fault: impl Into<McpAnswerFault>) -> McpClientError {
        McpClientError::Strange { server: self.trouble.server.clone(), fault: fault.into() }
    }
}

/// A meeting that failed.
enum Miss {
    /// For a reason that is known.
    Known(McpClientError),
    /// For what was said, which is to be explained.
    Words(Trouble, Box<ClientInitializeError>),
}

async fn conclude(met: Result<McpConnection, Miss>) -> Result<McpConnection, McpClientError> {
    match met {
        Ok(connection) => Ok(connection),
        Err(Miss::Known(error)) => Err(error),
        Err(Miss::Words(trouble, error)) => Err(trouble.opening(*error).await),
    }
}

/// Goes to a server and greets it.
async fn meet(
    address: &McpServerAddress,
    options: &McpClientOptions,
    mode: ClientLifecycleMode,
    until: Instant,
) -> Result<McpConnection, Miss> {
    let server = address.name.clone();
    match &address.transport {
        McpTransport::Command { arguments, variables, directory } => {
            let starting = program::start(arguments, variables, directory);
            let started = timeout_at(until, starting).await.unwrap_or(Err(SpawnError::Impatient));
            let (running, lines) = started.map_err(|source| {
                Miss::Known(McpClientError::Start { server: server.clone(), source })
            })?;
            let greeting = serve_client_with_lifecycle(Handler::default(), lines, mode);
            greet(Trouble::new(server, Some(running)), options, greeting, until).await
        }
        McpTransport::Http { url, headers } => {
            if !headers.is_empty() && !metier_net::keeps_secrets(url) {
                return Err(Miss::Known(McpClientError::Unprotected { server }));
            }
            let web = Web {
                http: options.http.clone(),
                headers: Arc::new(Headers(headers.clone())),
                silence: options.timeouts.call,
                streams: Arc::default(),
            };
            let web = StreamableHttpClientTransport::with_client(web, settings(url));
            let greeting = serve_client_with_lifecycle(Handler::default(), web, mode);
            greet(Trouble::new(server, None), options, greeting, until).await
        }
    }
}

async fn greet(
    trouble: Trouble,
    options: &McpClientOptions,
    greeting: impl Future<Output = Result<RunningService<RoleClient, Handler>, ClientInitializeError>>,
    until: Instant,
) -> Result<McpConnection, Miss> {
    match timeout_at(until, greeting).await {
        Ok(Ok(service)) => {
            let server = service.peer().peer_info().map(|info| describe(&info)).unwrap_or_default();
            Ok(McpConnection { trouble, timeouts: options.timeouts, service, server })
        }
        Ok(Err(error)) => Err(Miss::Words(trouble, Box::new(error))),
        Err(_late) => Err(Miss::Known(trouble.silent(options.timeouts.open))),
    }
}

fn settings(url: &str) -> StreamableHttpClientTransportConfig {
    let mut retries = ExponentialBackoff::default();
    retries.max_times = Some(TRIES);
    let mut settings = StreamableHttpClientTransportConfig::with_uri(url);
    settings.retry_config = Arc::new(retries);
    settings
}

/// Whether a server could have misunderstood the question what it is.
fn is_worth_another_try(error: &ClientInitializeError) -> bool {
    !matches!(
        error,
        ClientInitializeError::LegacyFallbackFailed { .. }
            | ClientInitializeError::TransportError { .. }
            | ClientInitializeError::Cancelled
    )
}

fn describe(info: &ServerPeerInfo) -> McpServerInfo {
    let has_skills = info.capabilities.extensions.as_ref();
    let own = info.server_info.as_ref();
    McpServerInfo {
        name: own.map(|own| bounded(&own.name, MAX_NAME)).unwrap_or_default(),
        version: own.map(|own| bounded(&own.version, MAX_NAME)).unwrap_or_default(),
        protocol: bounded(info.protocol_version.as_str(), MAX_NAME),
        instructions: bounded(info.instructions.as_deref().unwrap_or_default(), MAX_INSTRUCTIONS),
        has_tools: info.capabilities.tools.is_some(),
        has_resources: info.capabilities.resources.is_some(),
        has_skills: has_skills.is_some_and(|extensions| extensions.contains_key(SKILLS_EXTENSION)),
    }
}
