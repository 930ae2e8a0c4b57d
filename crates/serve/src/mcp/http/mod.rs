//! Requests over streamable HTTP.
//!
//! Everything that comes has a bound: connections, headers, bodies, the time that each takes, sessions and calls.
//! A token is asked for before anything else is looked at (`token`, `front`); sessions belong to a token
//! (`sessions`); connections of strangers give way to others (`connections`).

mod capacity;
mod connections;
mod front;
mod host;
mod origin;
mod pages;
mod places;
mod sessions;
mod token;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};

use capacity::Capacity;
use connections::Connections;
use front::Front;

pub use capacity::TooFewFiles;
pub use token::{TokenError, Tokens};

/// The only path.
pub const PATH: &str = "/mcp";
/// How long a body may take.
const BODY_TIME: Duration = Duration::from_secs(30);
/// How often a client that only waits is sent a line: writing shows whether it is there.
const PING: Duration = Duration::from_secs(10);
/// How long what runs may take to end when the server stops.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// How often it is looked whether calls have ended.
const GLANCE: Duration = Duration::from_millis(20);

/// Who may ask, and under which names.
///
/// There is no `Default`: a server without a token is nobody's wish.
#[derive(Clone, Debug)]
pub struct Options {
    /// The tokens, of which a request must have one.
    pub tokens: Tokens,
    /// Hosts that requests may be for, beside loopback names and the address that is listened at: `name` or
    /// `name:port`.
    pub hosts: Vec<String>,
    /// Origins of web pages that may ask: `https://name:port`. All others are refused.
    pub origins: Vec<String>,
    /// Files that this process may have open at a time; none if there is no limit. Fewer connections and calls are taken where it is low.
    pub open_files: Option<u64>,
}

impl Options {
    /// Checks that enough files may be open for a server with these tokens.
    ///
    /// # Errors
    ///
    /// When the server would not start.
    pub fn check_open_files(&self) -> Result<(), TooFewFiles> {
        Capacity::new(self.open_files, self.tokens.len()).map(drop)
    }
}

/// For whom a handler is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guest {
    /// A client that opens a session, with the token at this place in the list.
    Session(usize),
    /// Requests that need no session, of whoever has the token at this place in the list: they come one by one.
    Passing(usize),
}

/// Answers requests until it is told to stop. What runs then is ended.
///
/// # Errors
///
/// When the address that is listened at cannot be told, or too few files may be open: the source is [`TooFewFiles`] then.
pub async fn serve<S: ServerHandler>(
    listener: TcpListener,
    options: Options,
    factory: impl Fn(Guest) -> S + Send + Sync + 'static,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let capacity = Capacity::new(options.open_files, options.tokens.len());
    let capacity = capacity.map_err(io::Error::other)?;
    let config = config(&options, listener.local_addr()?);
    let token = config.cancellation_token.clone();
    let handlers = Arc::new(Handlers::default());
    let kept = Arc::clone(&handlers);
    let factory = Arc::new(move |guest| kept.keep(factory(guest)));
    let Capacity { connections, calls_of_a_token } = capacity;
    let front = Arc::new(Front::new(options.tokens, calls_of_a_token, &config, &factory));
    let mut connections = Connections::new(listener, Arc::clone(&front), connections);
    connections.serve(stop).await;
    token.cancel();
    front.close().await;
    connections.end().await;
    handlers.end().await;
    Ok(())
}

fn config(options: &Options, address: SocketAddr) -> StreamableHttpServerConfig {
    let own = ["localhost".into(), "127.0.0.1".into(), "::1".into(), address.ip().to_string()];
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(own.into_iter().chain(options.hosts.iter().cloned()))
        .with_allowed_origins(options.origins.iter().cloned())
        .enforce_origin_validation()
        .with_max_request_body_bytes(super::bounds::MESSAGE.bytes)
        .with_sse_keep_alive(Some(PING))
}

/// The handlers that are in use: one that is has a call that runs, or a client.
struct Handlers<S>(Mutex<Vec<Weak<S>>>);

impl<S> Default for Handlers<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<S> Handlers<S> {
    fn keep(&self, handler: S) -> Arc<S> {
        let handler = Arc::new(handler);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == kept.capacity() {
            kept.retain(|it| it.strong_count() > 0);
        }
        kept.push(Arc::downgrade(&handler));
        handler
    }

    /// Waits until none is in use, but not for ever.
    async fn end(&self) {
        let deadline = Instant::now() + LAST_WORDS;
        while self.are_used() && Instant::now() < deadline {
            sleep(GLANCE).await;
        }
    }

    fn are_used(&self) -> bool {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().any(|it| it.strong_count() > 0)
    }
}
