//! Connections: a bound on how many there are, and on the time in which one must say something.
//!
//! Anybody who reaches the address can open connections and be silent. So a connection is a stranger until a request
//! on it had a token, and when there are too many the oldest stranger goes: whoever has a token gets through.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServerHandler;
use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::LAST_WORDS;
use super::front::Front;

/// Connections at a time: a process may usually have 1 024 files, and runs need some.
const MAX_CONNECTIONS: usize = 256;
/// How long the header of a request may take, and a connection be without one.
const HEADER_TIME: Duration = Duration::from_secs(30);
/// The bytes and the fields that a header may have.
const MAX_HEADER: usize = 32 << 10;
const MAX_FIELDS: usize = 64;
/// How long a machine may not acknowledge what it was sent, in milliseconds.
const UNHEARD: u32 = 30_000;
/// How often sessions are looked after.
const SWEEP: Duration = Duration::from_secs(1);
/// How long is waited when the system has no more files.
const NO_FILES: Duration = Duration::from_millis(100);

/// What listens, and those who came.
pub(super) struct Connections<S> {
    listener: TcpListener,
    front: Arc<Front<S>>,
    open: JoinSet<()>,
    strangers: Arc<Strangers>,
    count: u64,
}

/// Connections on which no request had a token, oldest first.
#[derive(Default)]
struct Strangers(Mutex<VecDeque<(u64, AbortHandle)>>);

impl<S: ServerHandler> Connections<S> {
    pub(super) fn new(listener: TcpListener, front: Arc<Front<S>>) -> Self {
        Self { listener, front, open: JoinSet::new(), strangers: Arc::default(), count: 0 }
    }

    /// Lets connections in until it is told to stop.
    pub(super) async fn serve(&mut self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        let mut sweeping = pin!(sweep(Arc::clone(&self.front)));
        loop {
            tokio::select! {
                () = &mut stop => return,
                never = &mut sweeping => match never {},
                _ = self.open.join_next(), if !self.open.is_empty() => {}
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => self.admit(stream),
                    Err(error) => {
                        tracing::warn!(%error, "a connection cannot be accepted");
                        self.strangers.drop_oldest();
                        sleep(NO_FILES).await;
                    }
                },
            }
        }
    }

    /// Waits for answers that are being written, but not for ever.
    pub(super) async fn end(&mut self) {
        let all = async { while self.open.join_next().await.is_some() {} };
        if timeout(LAST_WORDS, all).await.is_err() {
            self.open.shutdown().await;
        }
    }

    fn admit(&mut self, stream: TcpStream) {
        if self.open.len() >= MAX_CONNECTIONS && !self.strangers.drop_oldest() {
            tracing::warn!("{MAX_CONNECTIONS} connections are open, no more are accepted");
            return;
        }
        let unheard = sockopt::set_tcp_user_timeout(&stream, UNHEARD);
        if let Err(error) = unheard.map_err(Into::into).and_then(|()| stream.set_nodelay(true)) {
            tracing::debug!(%error, "a connection has gone");
            return;
        }
        self.count += 1;
        let number = self.count;
        let (front, strangers) = (Arc::clone(&self.front), Arc::clone(&self.strangers));
        let handle = self.open.spawn(converse(stream, front, move || strangers.forget(number)));
        self.strangers.lock().push_back((number, handle));
    }
}

impl Strangers {
    /// Ends the connection of the oldest, if there is one.
    fn drop_oldest(&self) -> bool {
        let oldest = self.lock().pop_front();
        oldest.is_some_and(|(_, handle)| {
            handle.abort();
            true
        })
    }

    fn forget(&self, number: u64) {
        let mut strangers = self.lock();
        if let Ok(place) = strangers.binary_search_by_key(&number, |(number, _)| *number) {
            strangers.remove(place);
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(u64, AbortHandle)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks after sessions, which may take a while.
async fn sweep<S: ServerHandler>(front: Arc<Front<S>>) -> Infallible {
    let mut times = interval(SWEEP);
    times.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        times.tick().await;
        front.sweep().await;
    }
}

/// Answers the requests of one connection; `known` is called when one has a token, and at the end.
async fn converse<S: ServerHandler>(stream: TcpStream, front: Arc<Front<S>>, known: impl Fn()) {
    let answering = service_fn(|request| {
        let front = &front;
        let known = &known;
        async move { Ok::<_, Infallible>(front.answer(request, known).await) }
    });
    let mut settings = http1::Builder::new();
    settings
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(MAX_HEADER)
        .max_headers(MAX_FIELDS);
    if let Err(error) = settings.serve_connection(TokioIo::new(stream), answering).await {
        tracing::debug!(%error, "a connection ended early");
    }
    known();
}
