//! Sending spans: a bounded queue, and a thread of its own that empties it.
//!
//! Whoever ends a span never waits: when the queue is full, the span is dropped. A batch that the
//! receiver may take later is sent again, for as long as nobody waits for the end.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use metier_net::{Client, NetError, PostRequest};
use thiserror::Error;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::otlp::{Batch, content_type};
use crate::settings::Settings;
use crate::span::Span;

/// Most spans that wait to be sent.
pub(crate) const MAX_WAITING: usize = 2048;
/// Most spans in one request.
pub(crate) const MAX_BATCH: usize = 512;
/// How long a span waits for others to go with.
const GATHERING: Duration = Duration::from_secs(5);
/// How often a batch is sent in all.
const MAX_ATTEMPTS: u32 = 5;
/// The wait before the second attempt; it doubles with each.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest a receiver may make us wait.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// How large an answer may be. Nobody reads it.
const MAX_ANSWER: u64 = 64 << 10;

/// Why a batch was not taken.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// It could not be sent.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The receiver does not take it.
    #[error("it answered with status {status}")]
    Status {
        /// The status of its answer.
        status: u16,
        /// How long it wants us to wait.
        retry_after: Option<Duration>,
    },
    /// There were more than it took in that time.
    #[error("there were more than it took")]
    TooMany,
    /// It was not answered before the process had to end.
    #[error("it did not answer in time")]
    Late,
}

/// Where spans are put that have ended.
#[derive(Clone, Debug)]
pub(crate) struct Outbox(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Is gone when nothing more is taken.
    queue: Mutex<Option<mpsc::Sender<Span>>>,
    /// Why spans did not arrive, first.
    failure: Mutex<Option<ExportError>>,
}

impl Outbox {
    /// An outbox, and the end of the queue that is to be emptied.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Span>) {
        let (sender, receiver) = mpsc::channel(MAX_WAITING);
        let shared = Shared { queue: Mutex::new(Some(sender)), failure: Mutex::default() };
        (Self(Arc::new(shared)), receiver)
    }

    /// Puts a span into the queue, if there is room.
    pub(crate) fn put(&self, span: Span) {
        let queue = self.0.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(queue) = &*queue else { return };
        if queue.try_send(span).is_err() {
            self.fail(ExportError::TooMany);
        }
    }

    /// Takes nothing more.
    pub(crate) fn close(&self) {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Why spans did not arrive, if some did not.
    pub(crate) fn failure(&self) -> Option<ExportError> {
        self.0.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn fail(&self, cause: ExportError) {
        let mut failure = self.0.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(cause);
    }
}

/// Empties the queue until it is closed.
pub(crate) struct Worker {
    pub(crate) client: Client,
    pub(crate) settings: Settings,
    pub(crate) outbox: Outbox,
    /// When everything must have been sent; set once the process is about to end.
    pub(crate) deadline: watch::Receiver<Option<Instant>>,
}

impl Worker {
    pub(crate) async fn work(self, mut queue: mpsc::Receiver<Span>) {
        while let Some(first) = queue.recv().await {
            let mut batch = vec![first];
            let gathering = async {
                while batch.len() < MAX_BATCH
                    && let Some(span) = queue.recv().await
                {
                    batch.push(span);
                }
            };
            // What was gathered until then is a batch, too.
            let _late = timeout(GATHERING, gathering).await;
            if let Err(cause) = self.deliver(&batch).await {
                self.outbox.fail(cause);
            }
        }
    }

    async fn deliver(&self, spans: &[Span]) -> Result<(), ExportError> {
        let batch = Batch { resource: &self.settings.resource, spans };
        let body = batch.encode(self.settings.protocol);
        for attempt in 1.. {
            let error = match self.send(body.clone()).await {
                Ok(()) => break,
                Err(error) => error,
            };
            let usual = FIRST_WAIT * 2_u32.pow(attempt - 1);
            let wait = error.retry_after().unwrap_or(usual).min(MAX_WAIT);
            let is_last = attempt == MAX_ATTEMPTS || !error.may_pass();
            if is_last || !self.can_wait(&error, wait).await {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Waits, unless the process is about to end and another attempt would keep it: a receiver that is
    /// not there will hardly come, and one that wants more time than there is will not get it.
    async fn can_wait(&self, error: &ExportError, wait: Duration) -> bool {
        let until = Instant::now() + wait;
        let mut deadline = self.deadline.clone();
        let no_more = async {
            let is_near = |deadline: &Option<Instant>| {
                deadline.is_some_and(|it| it <= until || matches!(error, ExportError::Net(_)))
            };
            if deadline.wait_for(is_near).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            biased;
            () = no_more => false,
            () = sleep(wait) => true,
        }
    }

    async fn send(&self, body: Vec<u8>) -> Result<(), ExportError> {
        let content_type = [("content-type", content_type(self.settings.protocol))];
        let own = self.settings.headers.iter().map(|(name, value)| (&**name, &**value));
        let headers: Vec<(&str, &str)> = content_type.into_iter().chain(own).collect();
        let request = PostRequest {
            url: &self.settings.endpoint,
            headers: &headers,
            body,
            idle_timeout: self.settings.timeout,
            max_bytes: MAX_ANSWER,
        };
        let answer = self.client.post(request).await?;
        if (200..300).contains(&answer.status()) {
            return Ok(());
        }
        Err(ExportError::Status { status: answer.status(), retry_after: answer.retry_after() })
    }
}

impl ExportError {
    /// Whether the same batch may be taken later: what OTLP says of each status.
    fn may_pass(&self) -> bool {
        match self {
            Self::Net(error) => !matches!(
                error,
                NetError::Url { .. } | NetError::Header { .. } | NetError::Redirect { .. }
            ),
            Self::Status { status, .. } => matches!(status, 429 | 502 | 503 | 504),
            Self::TooMany | Self::Late => false,
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
