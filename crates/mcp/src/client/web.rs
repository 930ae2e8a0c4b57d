//! Servers at an address: the protocol over streamable HTTP, through the only HTTP client of the project.
//!
//! Sessions, resuming and repeating are the business of the crate of the protocol; here requests are sent within
//! bounds, and answers told apart.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use metier_net::{Answer, BareRequest, NetError, PostRequest};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::common::http_header::{HEADER_LAST_EVENT_ID, HEADER_SESSION_ID};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;
use thiserror::Error;

use super::lines::MAX_MESSAGE;
use super::streams::Streams;
use super::{events, messages};

/// How long a stream for whatever may come is waited for.
const QUIET: Duration = Duration::from_secs(60 * 60);
/// How long the end of a session is waited for.
const FAREWELL: Duration = Duration::from_secs(5);
/// How much may come over one stream, in bytes. One that lasts is asked for again.
const MAX_STREAM: u64 = 1 << 30;
/// How much is read of what comes with a status that is no success, in bytes.
const MAX_REFUSAL: usize = 64 << 10;
/// How long the name of a session may be, in bytes.
const MAX_NAME: usize = 1 << 10;
/// What can be wrong with an answer.
#[derive(Debug, Error)]
pub(super) enum Fault {
    /// There is none.
    #[error("no answer")]
    Network(#[source] NetError),
    /// It is none.
    #[error("status {0}")]
    Status(u16),
}

type Failure = StreamableHttpError<Fault>;

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Client(fault)
    }
}

/// Sends requests to one server.
#[derive(Clone, Debug)]
pub(super) struct Web {
    pub(super) http: metier_net::Client,
    /// The person's own, which are secrets.
    pub(super) headers: Arc<Headers>,
    /// How long an answer may be silent.
    pub(super) silence: Duration,
    /// The streams that were asked for.
    pub(super) streams: Arc<Streams>,
}

/// Headers whose values are not shown.
pub(super) struct Headers(pub(super) Vec<(String, String)>);

impl std::fmt::Debug for Headers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl StreamableHttpClient for Web {
    type Error = Fault;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let mut extra = vec![("content-type", "application/json"), ("accept", BOTH)];
        extra.extend(session.as_deref().map(|session| (HEADER_SESSION_ID, session)));
        let headers = self.headers(&custom_headers, &extra);
        let request = PostRequest {
            url: &uri,
            headers: &headers,
            body: serde_json::to_vec(&message)?,
            idle_timeout: self.silence,
            max_bytes: MAX_STREAM,
        };
        let answer = self.http.post(request).await.map_err(Fault::Network)?;
        self.judge(answer, &message, session.is_some()).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let headers = self.headers(&custom_headers, &[(HEADER_SESSION_ID, &session)]);
        let request =
            BareRequest { url: &uri, headers: &headers, idle_timeout: FAREWELL, max_bytes: 0 };
        match self.http.delete(request).await.map_err(Fault::Network)?.status() {
            // A server need not let its sessions be ended.
            200..=299 | 404 | 405 => Ok(()),
            status => Err(Fault::Status(status).into()),
        }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let pause = self.streams.next().ok_or(StreamableHttpError::ServerDoesNotSupportSse)?;
        tokio::time::sleep(pause).await;
        let mut extra = vec![("accept", EVENTS)];
        extra.extend(session.as_deref().map(|session| (HEADER_SESSION_ID, session)));
        extra.extend(last_event.as_deref().map(|event| (HEADER_LAST_EVENT_ID, event)));
        let headers = self.headers(&custom_headers, &extra);
        let (idle_timeout, max_bytes) = (QUIET, MAX_STREAM);
        let request = BareRequest { url: &uri, headers: &headers, idle_timeout, max_bytes };
        let answer = self.http.get(request).await.map_err(Fault::Network)?;
        match answer.status() {
            200 if is(&answer, EVENTS) => Ok(self.events(answer)),
            200 => Err(StreamableHttpError::UnexpectedContentType(None)),
            405 => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status => Err(Fault::Status(status).into()),
        }
    }
}

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
const BOTH: &str = "application/json, text/event-stream";

impl Web {
    /// All headers of a request. Later ones win: what the protocol says is never overruled.
    fn headers<'a>(
        &'a self,
        custom: &'a HashMap<HeaderName, HeaderValue>,
        extra: &[(&'a str, &'a str)],
    ) -> Vec<(&'a str, &'a str)> {
        let own = self.headers.0.iter().map(|(name, value)| (&**name, &**value));
        let custom =
            custom.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
        own.chain(custom).chain(extra.iter().copied()).collect()
    }

    fn events(&self, answer: Answer) -> BoxStream<'static, Result<Sse, SseError>> {
        events::stream(answer, MAX_MESSAGE, Arc::clone(&self.streams))
    }

    /// Tells what an answer to a message is.
    async fn judge(
        &self,
        answer: Answer,
        message: &ClientJsonRpcMessage,
        in_session: bool,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let is_question = matches!(message, ClientJsonRpcMessage::Request(_));
        let session = answer.header(HEADER_SESSION_ID).filter(|it| it.len() <= MAX_NAME);
        let session = session.map(str::to_owned);
        match answer.status() {
            202 | 204 => Ok(StreamableHttpPostResponse::Accepted),
            404 if in_session => Err(StreamableHttpError::SessionExpired),
            200..=299 if is(&answer, EVENTS) => {
                Ok(StreamableHttpPostResponse::Sse(self.events(answer), session))
            }
            // Nothing is expected but that it arrived.
            200..=299 if !is_question => Ok(StreamableHttpPostResponse::Accepted),
            200..=299 if is(&answer, JSON) => {
                let body = whole(answer).await?;
                let message = messages::read(&body).map_err(|_error| no_message(&body))?;
                Ok(StreamableHttpPostResponse::Json(message, session))
            }
            200..=299 => Err(no_message(&answer.beginning(MAX_REFUSAL).await)),
            status => refusal(status, answer, message, session).await,
        }
    }
}

/// What a status that is no success says. Reasons in the protocol's own words are kept.
async fn refusal(
    status: u16,
    answer: Answer,
    message: &ClientJsonRpcMessage,
    session: Option<String>,
) -> Result<StreamableHttpPostResponse, Failure> {
    let fault = || Failure::from(Fault::Status(status));
    let ClientJsonRpcMessage::Request(request) = message else { return Err(fault()) };
    if matches!(status, 401 | 403 | 429) {
        return Err(fault());
    }
    let body = answer.beginning(MAX_REFUSAL).await;
    let mut reason = match messages::read(&body) {
        Ok(ServerJsonRpcMessage::Error(error)) => error,
        // Older servers refuse to be asked what they are in their own ways.
        _ if is_discovery(&request.request) && status < 500 => {
            let error = ErrorData::invalid_request(format!("status {status}"), None);
            match ServerJsonRpcMessage::error(error, None) {
                ServerJsonRpcMessage::Error(error) => error,
                _ => return Err(fault()),
            }
        }
        _ => return Err(fault()),
    };
    reason.id = Some(request.id.clone());
    Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(reason), session))
}

fn is_discovery(request: &ClientRequest) -> bool {
    matches!(request, ClientRequest::DiscoverRequest(_))
}

/// Whether an answer is of a kind.
fn is(answer: &Answer, kind: &str) -> bool {
    let value = answer.header("content-type").unwrap_or_default();
    value.split(';').next().is_some_and(|it| it.trim().eq_ignore_ascii_case(kind))
}

async fn whole(mut answer: Answer) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(Fault::Network)? {
        body.extend(chunk);
        if body.len() > MAX_MESSAGE {
            let what = Cow::Borrowed("a message of more than 32 MiB");
            return Err(StreamableHttpError::UnexpectedServerResponse(what));
        }
    }
    Ok(body)
}

fn no_message(body: &[u8]) -> Failure {
    let shown = super::text::excerpt(&String::from_utf8_lossy(body));
    let what = if shown.is_empty() { "nothing".to_owned() } else { shown };
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(what))
}
