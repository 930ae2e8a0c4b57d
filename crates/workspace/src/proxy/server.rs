//! Takes connections, judges where they lead, and ends them.
//!
//! One task listens and owns the tasks of all connections, so nothing outlives it.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::allow::AllowList;
use super::refusal::{Reason, Refusal, Refusals};
use super::target::{Host, Target};
use super::{http, socks};

/// How many addresses of one name are tried; more are hardly ever all needed.
const MAX_ADDRESSES: usize = 8;

/// How long to wait when the system has no descriptors left for another connection.
const PAUSE: Duration = Duration::from_millis(50);

/// What a program may spend.
///
/// There is no `Default`: start from [`ProxyOptions::STANDARD`] and say what differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProxyOptions {
    /// How many connections there are at a time; others wait until the program closes one.
    pub max_connections: usize,
    /// How many bytes are passed in all, both ways together; without a number, any.
    pub max_bytes: Option<u64>,
    /// How long a program may take to say where it wants to go.
    pub request_timeout: Duration,
    /// How long it may take to find the server and to connect to it.
    pub connect_timeout: Duration,
    /// How long a connection lives on which nothing moves.
    pub idle_timeout: Duration,
}

impl ProxyOptions {
    /// The bounds that the documentation promises.
    pub const STANDARD: Self = Self {
        max_connections: 64,
        max_bytes: None,
        request_timeout: Duration::from_secs(10),
        connect_timeout: Duration::from_secs(10),
        idle_timeout: Duration::from_secs(120),
    };
}

/// A running proxy. It ends, with all its connections, when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    shared: Arc<Shared>,
    /// Dropped, it ends the task.
    alive: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// Starts to serve what connects to the listener.
    ///
    /// # Errors
    ///
    /// Fails if the system cannot wait for the listener.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime with I/O and time.
    pub fn start(
        listener: std::net::TcpListener,
        allow: AllowList,
        options: ProxyOptions,
    ) -> io::Result<Self> {
        Self::start_with(listener, allow, options, Resolver::System)
    }

    pub(super) fn start_with(
        listener: std::net::TcpListener,
        allow: AllowList,
        options: ProxyOptions,
        resolver: Resolver,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let shared = Arc::new(Shared {
            allow,
            options,
            resolver,
            passed: AtomicU64::new(0),
            refusals: Mutex::default(),
        });
        let (alive, ended) = oneshot::channel();
        let task = tokio::spawn(listen(listener, Arc::clone(&shared), ended));
        Ok(Self { shared, alive, task })
    }

    /// What was refused so far: each thing once, with how often.
    pub fn refused(&self) -> Vec<Refusal> {
        self.shared.refusals().list()
    }

    /// Ends every connection, and returns when they are gone.
    pub async fn stop(self) -> Vec<Refusal> {
        drop(self.alive);
        let _cancelled = self.task.await;
        self.shared.refusals().list()
    }
}

async fn listen(listener: TcpListener, shared: Arc<Shared>, mut ended: oneshot::Receiver<()>) {
    let mut connections = JoinSet::new();
    loop {
        let is_free = connections.len() < shared.options.max_connections;
        tokio::select! {
            biased;
            _ = &mut ended => break,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept(), if is_free => match accepted {
                Ok((client, _)) => {
                    connections.spawn(serve(client, Arc::clone(&shared)));
                }
                Err(_) => sleep(PAUSE).await,
            },
        }
    }
    connections.shutdown().await;
}

/// The first byte tells SOCKS from HTTP.
async fn serve(mut client: TcpStream, shared: Arc<Shared>) {
    let _slower_without = client.set_nodelay(true);
    let mut first = [0];
    match timeout(shared.options.request_timeout, client.peek(&mut first)).await {
        Ok(Ok(1)) if first == [socks::VERSION] => socks::serve(&mut client, &shared).await,
        Ok(Ok(1)) => http::serve(&mut client, &shared).await,
        _ => {}
    }
}

/// Why a program did not get through.
#[derive(Debug, Error)]
pub(super) enum Trouble {
    #[error(transparent)]
    Refused(Reason),
    #[error("its name cannot be resolved")]
    UnknownName,
    #[error("no connection can be made")]
    Unreachable,
    #[error("connecting took too long")]
    TooSlow,
    #[error("the request did not arrive in time")]
    Late,
    #[error("its answer is not HTTP/1")]
    Answer,
    /// Nobody is there to be told.
    #[error("the connection is broken")]
    Broken,
}

impl<T: Into<Reason>> From<T> for Trouble {
    fn from(reason: T) -> Self {
        Self::Refused(reason.into())
    }
}

/// What all connections have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) allow: AllowList,
    pub(super) options: ProxyOptions,
    resolver: Resolver,
    passed: AtomicU64,
    refusals: Mutex<Refusals>,
}

impl Shared {
    /// Connects to a target if that is allowed, at an address that is.
    pub(super) async fn connect(&self, target: &Target) -> Result<TcpStream, Trouble> {
        if !self.allow.names(target) {
            return Err(Reason::NotListed.into());
        }
        self.pass(0)?;
        let limit = self.options.connect_timeout;
        let found = timeout(limit, self.resolver.addresses(target)).await;
        let found = found.map_err(|_| Trouble::TooSlow)?.map_err(|_| Trouble::UnknownName)?;
        let permitted = |address: &&IpAddr| self.allow.permits(target, **address);
        let addresses = found.iter().filter(permitted).take(MAX_ADDRESSES).collect::<Vec<_>>();
        if let (true, Some(first)) = (addresses.is_empty(), found.first()) {
            return Err(Reason::NotPublic(*first).into());
        }
        let mut trouble = Trouble::UnknownName;
        let share = limit / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
        for address in addresses {
            let address = SocketAddr::new(*address, target.port);
            trouble = match timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(server)) => {
                    let _slower_without = server.set_nodelay(true);
                    return Ok(server);
                }
                Ok(Err(_)) => Trouble::Unreachable,
                Err(_) => Trouble::TooSlow,
            };
        }
        Err(trouble)
    }

    /// Counts bytes that are about to be passed.
    pub(super) fn pass(&self, count: usize) -> Result<(), Reason> {
        let passed = self.passed.fetch_add(count as u64, Ordering::Relaxed);
        let limit = self.options.max_bytes.unwrap_or(u64::MAX);
        if passed.saturating_add(count as u64) > limit { Err(Reason::Bytes) } else { Ok(()) }
    }

    /// Remembers what is against the rules; what merely did not work is none of our business.
    pub(super) fn remember(&self, target: &[u8], trouble: &Trouble) {
        if let Trouble::Refused(reason) = trouble {
            self.refusals().add(target, reason);
        }
    }

    fn refusals(&self) -> MutexGuard<'_, Refusals> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Who knows the addresses of names.
#[derive(Debug)]
pub(super) enum Resolver {
    System,
    #[cfg(test)]
    Table(Vec<(&'static str, IpAddr)>),
}

impl Resolver {
    async fn addresses(&self, target: &Target) -> io::Result<Vec<IpAddr>> {
        let name = match &target.host {
            Host::Ip(address) => return Ok(vec![*address]),
            Host::Name(name) => name.as_str(),
        };
        match self {
            Self::System => {
                let found = tokio::net::lookup_host((name, target.port)).await?;
                Ok(found.map(|address| address.ip()).collect())
            }
            #[cfg(test)]
            Self::Table(table) => {
                Ok(table.iter().filter(|entry| entry.0 == name).map(|entry| entry.1).collect())
            }
        }
    }
}
