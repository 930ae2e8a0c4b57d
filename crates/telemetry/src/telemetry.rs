//! From the first span to the last.

use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use metier_net::{Client, ClientOptions, NetError, shown_text};
use metier_secrets::Redactor;
use thiserror::Error;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::collector::Collector;
use crate::export::{ExportError, Outbox, Worker};
use crate::ids::Parent;
use crate::settings::Settings;

/// How long the end of the process waits for spans that were not sent yet.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why spans cannot be sent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// There is no HTTP client.
    #[error("cannot send spans")]
    Client(#[from] NetError),
    /// The system gives no thread, or nothing to wait with.
    #[error("cannot send spans in the background")]
    Background(#[source] io::Error),
    /// Somebody else collects spans already.
    #[error("spans are collected already")]
    Taken,
}

/// Spans that did not arrive.
#[derive(Debug, Error)]
#[error("spans were not delivered to `{endpoint}`")]
pub struct Undelivered {
    /// Where they were to go, without what may be secret.
    pub endpoint: String,
    /// Why.
    #[source]
    pub cause: ExportError,
}

/// Spans on their way. They are sent until [`Telemetry::finish`].
#[derive(Debug)]
pub struct Telemetry {
    outbox: Outbox,
    endpoint: String,
    deadline: watch::Sender<Option<Instant>>,
    /// Falls silent when everything was sent.
    done: mpsc::Receiver<()>,
}

/// Collects and sends the spans of this process from now on. Those that have no parent here belong
/// below `parent`. Spans that end after there is a redactor have its values masked.
///
/// # Errors
///
/// When the system lacks something, or spans are collected already.
pub fn start(
    settings: Settings,
    parent: Option<Parent>,
    redactor: &'static OnceLock<Redactor>,
) -> Result<Telemetry, StartError> {
    let (outbox, queue) = Outbox::new();
    let collector = Collector::new(outbox.clone(), parent).masked_by(redactor);
    let telemetry = Telemetry::begin(settings, outbox, queue)?;
    tracing::subscriber::set_global_default(collector).map_err(|_taken| StartError::Taken)?;
    Ok(telemetry)
}

impl Telemetry {
    pub(crate) fn begin(
        settings: Settings,
        outbox: Outbox,
        queue: tokio::sync::mpsc::Receiver<crate::span::Span>,
    ) -> Result<Self, StartError> {
        let options =
            ClientOptions { connect_timeout: settings.timeout, ..ClientOptions::STANDARD };
        let client = Client::new(&options)?;
        let endpoint = shown_text(&settings.endpoint);
        let (deadline, later) = watch::channel(None);
        let worker = Worker { client, settings, outbox: outbox.clone(), deadline: later };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(StartError::Background)?;
        let (ended, done) = mpsc::channel();
        let work = move || {
            runtime.block_on(worker.work(queue));
            // A name that is still being looked up must not keep the process.
            runtime.shutdown_background();
            drop::<mpsc::Sender<()>>(ended);
        };
        let thread = thread::Builder::new().name("telemetry".to_owned()).spawn(work);
        thread.map_err(StartError::Background)?;
        Ok(Self { outbox, endpoint, deadline, done })
    }

    /// Sends what was not sent yet, and waits for that, but not long.
    ///
    /// # Errors
    ///
    /// When spans did not arrive, now or before.
    pub fn finish(self) -> Result<(), Undelivered> {
        self.finish_within(PATIENCE)
    }

    pub(crate) fn finish_within(self, patience: Duration) -> Result<(), Undelivered> {
        self.outbox.close();
        self.deadline.send_replace(Some(Instant::now() + patience));
        let is_late = self.done.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
        let cause = self.outbox.failure().or(is_late.then_some(ExportError::Late));
        match cause {
            Some(cause) => Err(Undelivered { endpoint: self.endpoint, cause }),
            None => Ok(()),
        }
    }
}
