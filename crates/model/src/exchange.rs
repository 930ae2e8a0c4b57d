//! Models that answer over HTTP: one request with its attempts, from sending to the whole reply.
//!
//! An exchange is pulled: it works only while someone waits for its next event, and is over when
//! it is dropped, whatever it was doing. A request that failed in a way that may pass is sent
//! again, but never after a call was complete: the caller may have shown it, or begun to prepare it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream;
use metier_net::{Answer, Client, NetError, PostRequest};
use tokio::time::{sleep, timeout};

use crate::accumulator::{Accumulator, MAX_REPLY_BYTES};
use crate::calls::names;
use crate::endpoint::server;
use crate::error::safe;
use crate::fault::{Asked, Fault};
use crate::reading::{Reading, Stopped};
use crate::secret::without;
use crate::wire::{Progress, Speech};
use crate::{Format, Model, ModelError, Provider, Replies, ReplyEvent, Request, Retries, Secret};

/// How large an answer may be on the wire, where each token comes in a wrapping of its own.
const MAX_ANSWER_BYTES: u64 = 8 * MAX_REPLY_BYTES as u64;

/// How much of an error is read. They are a few hundred bytes, unless they are web pages.
const MAX_ERROR_BYTES: usize = 64 * 1024;

/// How long a server may take for the rest after it said why the reply ended: counts of tokens,
/// and the end of the stream, which some never send.
const GRACE: Duration = Duration::from_secs(5);

/// How many characters of an answer that is not understood are shown.
const SHOWN_CHARACTERS: usize = 120;

/// A model of a provider.
pub(crate) struct HttpModel {
    pub(crate) name: String,
    pub(crate) model: String,
    pub(crate) endpoint: String,
    pub(crate) headers: Vec<(String, Secret)>,
    /// What must not be in a message: the key, and headers that may hold one.
    pub(crate) secrets: Vec<Secret>,
    pub(crate) provider: Provider,
    pub(crate) client: Client,
    pub(crate) bounds: Bounds,
}

/// What a request may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) retries: Retries,
    pub(crate) idle_timeout: Duration,
}

impl fmt::Debug for HttpModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = formatter.debug_struct("HttpModel");
        debug.field("name", &self.name).field("provider", &self.provider).finish_non_exhaustive()
    }
}

#[async_trait]
impl Model for HttpModel {
    fn name(&self) -> &str {
        &self.name
    }

    async fn stream(&self, request: &Request) -> Result<Replies, ModelError> {
        let speech = Speech {
            model: &self.model,
            dialect: self.provider.dialect,
            parameters: &self.provider.parameters,
            return_reasoning: self.provider.return_reasoning,
        };
        let body = self.provider.format.encode(request, &speech);
        let post = Post {
            client: self.client.clone(),
            endpoint: self.endpoint.clone(),
            headers: self.headers.clone(),
            idle_timeout: self.bounds.idle_timeout,
            body: body.into_bytes(),
        };
        let subject = Subject {
            host: server(&self.endpoint).to_owned(),
            model: self.model.clone(),
            secrets: self.secrets.clone(),
            format: self.provider.format,
            tools: names(&request.tools).into_iter().map(str::to_owned).collect(),
            seed: request.messages.len() as u64,
        };
        Ok(exchange(Arc::new(post), subject, self.bounds.retries))
    }
}

/// Sends one request, as often as needed. Implemented by the network and, for tests of time, by a
/// list of answers.
#[async_trait]
pub(crate) trait Transport: fmt::Debug + Send + Sync {
    async fn send(&self) -> Result<Box<dyn Incoming>, NetError>;
}

/// An answer that arrives in pieces.
#[async_trait]
pub(crate) trait Incoming: Send {
    fn status(&self) -> u16;
    fn header(&self, name: &str) -> Option<&str>;
    /// How long the server asks us to wait.
    fn retry_after(&self) -> Option<Duration>;
    async fn chunk(&mut self) -> Result<Option<Vec<u8>>, NetError>;
    /// The first bytes of what is an error, as far as they come.
    async fn beginning(self: Box<Self>, max_bytes: usize) -> Vec<u8>;
}

struct Post {
    client: Client,
    endpoint: String,
    headers: Vec<(String, Secret)>,
    idle_timeout: Duration,
    body: Vec<u8>,
}

impl fmt::Debug for Post {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Post")
            .field("host", &server(&self.endpoint))
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Transport for Post {
    async fn send(&self) -> Result<Box<dyn Incoming>, NetError> {
        let headers: Vec<_> =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.reveal())).collect();
        let request = PostRequest {
            url: &self.endpoint,
            headers: &headers,
            body: self.body.clone(),
            idle_timeout: self.idle_timeout,
            max_bytes: MAX_ANSWER_BYTES,
        };
        Ok(Box::new(self.client.post(request).await?))
    }
}

#[async_trait]
impl Incoming for Answer {
    fn status(&self) -> u16 {
        self.status()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.header(name)
    }

    fn retry_after(&self) -> Option<Duration> {
        self.retry_after()
    }

    async fn chunk(&mut self) -> Result<Option<Vec<u8>>, NetError> {
        self.chunk().await
    }

    async fn beginning(self: Box<Self>, max_bytes: usize) -> Vec<u8> {
        (*self).beginning(max_bytes).await
    }
}

/// What an exchange is about.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) host: String,
    pub(crate) model: String,
    pub(crate) secrets: Vec<Secret>,
    pub(crate) format: Format,
    pub(crate) tools: Vec<String>,
    pub(crate) seed: u64,
}

/// Begins an exchange; nothing is sent before someone asks for the first event.
pub(crate) fn exchange(
    transport: Arc<dyn Transport>,
    subject: Subject,
    retries: Retries,
) -> Replies {
    let exchange = Exchange {
        transport,
        subject,
        retries,
        made: 0,
        waited: Duration::ZERO,
        pending: VecDeque::new(),
        state: State::Send,
    };
    Replies::new(stream::unfold(exchange, |mut exchange| async {
        let event = exchange.next().await?;
        Some((event, exchange))
    }))
}

struct Exchange {
    transport: Arc<dyn Transport>,
    subject: Subject,
    retries: Retries,
    /// How many attempts were begun.
    made: u32,
    /// How long all waits took.
    waited: Duration,
    /// What happened and was not yet handed over.
    pending: VecDeque<Result<ReplyEvent, ModelError>>,
    state: State,
}

enum State {
    Send,
    Wait(Duration),
    Read(Box<Reading>, Box<dyn Incoming>),
    Over,
}

/// Whether the caller may have acted on a part of the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Acted {
    No,
    Perhaps,
}

impl Exchange {
    async fn next(&mut self) -> Option<Result<ReplyEvent, ModelError>> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Some(event);
            }
            if matches!(self.state, State::Over) {
                return None;
            }
            self.step().await;
        }
    }

    /// Goes one step further. Nothing is lost if it is dropped while it waits: the state only
    /// changes when something arrived.
    async fn step(&mut self) {
        match &mut self.state {
            State::Over => {}
            State::Wait(wait) => {
                sleep(*wait).await;
                self.state = State::Send;
            }
            State::Send => match self.send().await {
                Ok((reading, answer)) => self.state = State::Read(reading, answer),
                Err(error) => self.failed(error, Acted::No),
            },
            State::Read(reading, answer) => {
                let chunk = if reading.has_stop() {
                    timeout(GRACE, answer.chunk()).await.unwrap_or(Ok(None))
                } else {
                    answer.chunk().await
                };
                let outcome = reading.take(chunk, &mut self.pending);
                let acted = if reading.has_finished_call() { Acted::Perhaps } else { Acted::No };
                match outcome {
                    Ok(Progress::More) => {}
                    Ok(Progress::Ended) => self.finish(),
                    Err(stopped) => self.failed(self.judge(stopped), acted),
                }
            }
        }
    }

    async fn send(&mut self) -> Result<(Box<Reading>, Box<dyn Incoming>), ModelError> {
        let answer = self.transport.send().await.map_err(|source| self.unreachable(source))?;
        if !(200..300).contains(&answer.status()) {
            let (status, retry_after) = (answer.status(), answer.retry_after());
            let fault = Fault::read(&answer.beginning(MAX_ERROR_BYTES).await);
            return Err(fault.judge(Some(status), retry_after, &self.subject.asked()));
        }
        let mut accumulator = Accumulator::new(self.subject.format, self.subject.seed);
        let id = ["x-request-id", "request-id"].iter().find_map(|name| answer.header(name));
        accumulator.request_id = id.map(str::to_owned);
        Ok((Box::new(Reading::new(self.subject.format, accumulator)), answer))
    }

    /// After a failure: the next attempt, or the end.
    fn failed(&mut self, error: ModelError, acted: Acted) {
        self.made += 1;
        let wait = if error.may_pass() && acted == Acted::No {
            self.retries.wait(self.made, self.waited, error.retry_after())
        } else {
            None
        };
        let Some(wait) = wait else {
            self.state = State::Over;
            self.pending.push_back(Err(error));
            return;
        };
        self.waited += wait;
        self.state = State::Wait(wait);
        self.pending.push_back(Ok(ReplyEvent::Retrying { wait, cause: error.to_string() }));
    }

    fn finish(&mut self) {
        if let State::Read(reading, _answer) = std::mem::replace(&mut self.state, State::Over) {
            let tools: Vec<_> = self.subject.tools.iter().map(String::as_str).collect();
            let (events, reply) = reading.finish(&tools);
            self.pending.extend(events.into_iter().map(Ok));
            self.pending.push_back(Ok(ReplyEvent::Done(reply)));
        }
    }

    fn judge(&self, stopped: Stopped) -> ModelError {
        match stopped {
            Stopped::Fault(fault) => fault.judge(None, None, &self.subject.asked()),
            Stopped::NotJson(beginning) => ModelError::NotJson {
                host: self.subject.host.clone(),
                beginning: safe(&without(&self.subject.secrets, &beginning), SHOWN_CHARACTERS),
            },
            Stopped::TooLarge(limit) => ModelError::TooLarge { limit },
            Stopped::Broken(source) => ModelError::Interrupted { source },
        }
    }

    fn unreachable(&self, source: NetError) -> ModelError {
        match source {
            NetError::Header { .. } | NetError::Url { .. } => ModelError::Setup(source),
            _ => ModelError::Unreachable { host: self.subject.host.clone(), source },
        }
    }
}

impl Subject {
    fn asked(&self) -> Asked<'_> {
        Asked { host: &self.host, model: &self.model, secrets: &self.secrets }
    }
}
