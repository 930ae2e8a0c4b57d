//! Connections: a bound on how many there are, and on the time in which one must say something.
//!
//! Anybody who reaches the address can open connections and be silent. So a connection is a stranger until a request
//! on it had a token, and when there are too many the oldest stranger goes: whoever has a token gets through. Some places
//! are for strangers alone. When tokens have all others, the one with the most connections gives one up for one that has
//! fewer, so that no token keeps another out ([`places`](super::places)).

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServerHandler;
use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinSet, yield_now};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::LAST_WORDS;
use super::front::Front;
use super::places::Places;

/// How long the header of a request may take, and a connection be without one.
const HEADER_TIME: Duration = Duration::from_secs(30);
/// The bytes and the fields that a header may have.
const MAX_HEADER: usize = 32 << 10;
const MAX_FIELDS: usize = 64;
/// How long a machine may not acknowledge what it was sent, in milliseconds.
const UNHEARD: u32 = 30_000;
/// How often sessions are looked after.
const SWEEP: Duration = Duration::from_secs(1);
/// Connections that are accepted before those that were are looked at: fewer than strangers always have room for.
const ACCEPTED_AT_ONCE: usize = 16;
/// How long is waited when the system has no more files.
const NO_FILES: Duration = Duration::from_millis(100);

/// What listens, and those who came.
pub(super) struct Connections<S> {
    listener: TcpListener,
    front: Arc<Front<S>>,
    open: JoinSet<()>,
    places: Arc<Places>,
    count: u64,
}

impl<S: ServerHandler> Connections<S> {
    pub(super) fn new(listener: TcpListener, front: Arc<Front<S>>, most: usize) -> Self {
        let places = Arc::new(Places::new(most));
        Self { listener, front, open: JoinSet::new(), places, count: 0 }
    }

    /// Lets connections in until it is told to stop.
    pub(super) async fn serve(&mut self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        let mut sweeping = pin!(sweep(Arc::clone(&self.front)));
        let mut accepted_at_once = 0;
        loop {
            if accepted_at_once >= ACCEPTED_AT_ONCE {
                accepted_at_once = 0;
                // Those that were accepted read what has arrived.
                yield_now().await;
            }
            tokio::select! {
                biased;
                () = &mut stop => return,
                never = &mut sweeping => match never {},
                _ = self.open.join_next(), if !self.open.is_empty() => {}
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        accepted_at_once += 1;
                        self.admit(stream).await;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a connection cannot be accepted");
                        self.places.drop_oldest_stranger();
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

    async fn admit(&mut self, stream: TcpStream) {
        while self.places.are_full() && !self.places.drop_oldest_stranger() {
            if !self.places.have_unbegun() {
                tracing::warn!("too many connections are open, and no more are accepted");
                return;
            }
            yield_now().await;
        }
        let unheard = sockopt::set_tcp_user_timeout(&stream, UNHEARD);
        if let Err(error) = unheard.map_err(Into::into).and_then(|()| stream.set_nodelay(true)) {
            tracing::debug!(%error, "a connection has gone");
            return;
        }
        self.count += 1;
        let number = self.count;
        let (front, places) = (Arc::clone(&self.front), Arc::clone(&self.places));
        let open = &mut self.open;
        self.places.add(number, || open.spawn(converse(stream, front, places, number)));
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

/// Answers the requests of one connection.
async fn converse<S: ServerHandler>(
    stream: TcpStream,
    front: Arc<Front<S>>,
    places: Arc<Places>,
    number: u64,
) {
    // Then it is known what has arrived, and what begins now reads it at once.
    yield_now().await;
    places.begin(number);
    let answering = service_fn(|request| {
        let (front, places) = (&front, &places);
        async move {
            Ok::<_, Infallible>(front.answer(request, |token| places.own(number, token)).await)
        }
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
    places.forget(number);
}
