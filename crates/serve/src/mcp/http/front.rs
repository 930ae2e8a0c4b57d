//! What every request passes: the token first, before anything is parsed, then its path, the names of host and page, its
//! size and its form.
//!
//! The crate of the protocol judges names, headers and sessions. Of its answers one is changed: text that is no
//! message is refused in the words of JSON-RPC.

use std::convert::Infallible;
use std::sync::Arc;

use http::header::{
    ALLOW, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, ORIGIN, WWW_AUTHENTICATE,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use metier_mcp::line::MessageEnvelope;
use rmcp::ServerHandler;
use rmcp::model::{ErrorData, JsonRpcError, RequestId};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Serialize;
use tokio::time::timeout;

use super::host;
use super::origin::{self, OriginError};
use super::pages;
use super::sessions::Sessions;
use super::token::Tokens;
use super::{BODY_TIME, Guest, PATH};
use crate::mcp::bounds::{INITIALIZE, MESSAGE, MessageTooLarge};
use crate::mcp::calls::{CallBudget, RequestShare};
use crate::mcp::lines::{refusal, refused_call};
use crate::mcp::memory::AnswerBudget;

/// What is answered.
pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// What messages are written in.
const JSON: &str = "application/json";
/// The methods that the path has.
pub(super) const METHODS: &str = "GET, POST, DELETE";

/// Answers requests, whoever they are of.
pub(super) struct Front<S> {
    tokens: Tokens,
    /// A house for each token, in their order.
    houses: Vec<House<S>>,
}

/// What belongs to one token.
struct House<S> {
    sessions: Arc<Sessions>,
    /// Requests whose answers are being sent, which are all that bounds calls without a session.
    answering: CallBudget,
    /// The memory that its answers may take.
    memory: AnswerBudget,
    /// Opens sessions.
    opening: StreamableHttpService<S, Sessions>,
    /// Answers everything else.
    passing: StreamableHttpService<S, Sessions>,
}

impl<S: ServerHandler> Front<S> {
    /// Returns a front that takes as many calls of each token, in sessions and without.
    pub(super) fn new(
        tokens: Tokens,
        share: usize,
        config: &StreamableHttpServerConfig,
        factory: &Arc<impl Fn(Guest) -> S + Send + Sync + 'static>,
    ) -> Self {
        let memories = AnswerBudget::of_tokens(tokens.len());
        let houses = memories.into_iter().enumerate().map(|(token, memory)| {
            let sessions = Arc::new(Sessions::new(share));
            let service = |guest: Guest| {
                let factory = Arc::clone(factory);
                let make = move || Ok(factory(guest));
                StreamableHttpService::new(make, Arc::clone(&sessions), config.clone())
            };
            let (opening, passing) =
                (service(Guest::Session(token)), service(Guest::Passing(token)));
            House { sessions, answering: CallBudget::new(share), memory, opening, passing }
        });
        Self { houses: houses.collect(), tokens }
    }

    /// Cancels the calls of clients that have gone.
    pub(super) async fn sweep(&self) {
        for house in &self.houses {
            house.sessions.sweep().await;
        }
    }

    /// Ends all sessions.
    pub(super) async fn close(&self) {
        for house in &self.houses {
            house.sessions.close_all().await;
        }
    }

    /// Answers a request; `admit` is called with the place of its token when it has one, and says whether the token may
    /// use one more connection.
    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
        admit: impl FnOnce(usize) -> bool,
    ) -> Answer {
        let (mut parts, body) = request.into_parts();
        let Some(token) = self.tokens.presented(&parts.headers) else {
            return unread(self.answer_stranger(&parts).await, &body);
        };
        if !admit(token) {
            let text = "Too many connections are open with this token";
            return closing(plain(StatusCode::SERVICE_UNAVAILABLE, text));
        }
        if parts.uri.path() != PATH {
            return unread(plain(StatusCode::NOT_FOUND, "Not found"), &body);
        }
        let house = &self.houses[token];
        if let Some(refusal) = house.judged(&parts).await {
            return unread(refusal, &body);
        }
        parts.headers.remove(AUTHORIZATION);
        let origin = parts.headers.get(ORIGIN).cloned();
        let answer = match parts.method {
            Method::POST => match read(body).await {
                Ok(body) => house.post(parts, body).await,
                Err(answer) => *answer,
            },
            Method::GET | Method::DELETE => {
                let answer = house.passing.handle(whole(parts, Bytes::new())).await;
                unread(answer, &body)
            }
            _ => {
                let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed");
                answer.headers_mut().insert(ALLOW, HeaderValue::from_static(METHODS));
                unread(answer, &body)
            }
        };
        pages::shown(answer, origin)
    }

    /// Answers whoever has no token, which a browser has not when it asks what a page may do.
    async fn answer_stranger(&self, parts: &Parts) -> Answer {
        if let Some(origin) = pages::asking(parts)
            && parts.uri.path() == PATH
            && self.houses[0].judged(parts).await.is_none()
        {
            return pages::may_ask(origin);
        }
        let mut answer = plain(StatusCode::UNAUTHORIZED, "A token is required");
        answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        answer
    }
}

impl<S: ServerHandler> House<S> {
    /// How a request is refused for the host it names or the page it is of, before its body is read: by the crate of
    /// the protocol, which looks at those first and then has no such method.
    async fn judged(&self, parts: &Parts) -> Option<Answer> {
        if let Err(error) = host::check(&parts.uri, &parts.headers) {
            return Some(plain(error.status(), error.to_string()));
        }
        if let Err(error) = origin::check(&parts.headers) {
            return Some(plain(OriginError::STATUS, error.to_string()));
        }
        let mut question = Request::new(Full::<Bytes>::default());
        *question.method_mut() = Method::OPTIONS;
        *question.uri_mut() = parts.uri.clone();
        for name in [HOST, ORIGIN] {
            for value in parts.headers.get_all(&name) {
                question.headers_mut().append(name.clone(), value.clone());
            }
        }
        let answer = self.passing.handle(question).await;
        (answer.status() != StatusCode::METHOD_NOT_ALLOWED).then_some(answer)
    }

    async fn post(&self, mut parts: Parts, body: Bytes) -> Answer {
        if !is_json(&parts.headers) {
            return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Messages are application/json");
        }
        if let Err(error) = MESSAGE.check(&body) {
            return too_large(error);
        }
        let envelope: MessageEnvelope = match serde_json::from_slice(&body) {
            Ok(envelope) => envelope,
            Err(error) => return refused(refusal(&error), None),
        };
        let id = envelope.request_id();
        if envelope.method.as_deref() == Some("initialize") {
            return self.initialize(parts, body, id).await;
        }
        let Some(id) = id else {
            return reworded(self.passing.handle(whole(parts, body)).await, None);
        };
        match self.answering.reserve() {
            Ok(reserved) => {
                let share = RequestShare::new(reserved, self.memory.answer());
                parts.extensions.insert(share.clone());
                let answer = self.passing.handle(whole(parts, body)).await;
                keeping(reworded(answer, Some(id)), share)
            }
            // As in a session: the call is refused, and the connection is well.
            Err(error) => json(StatusCode::OK, &refused_call(&error, &id)),
        }
    }

    async fn initialize(&self, parts: Parts, body: Bytes, id: Option<RequestId>) -> Answer {
        if INITIALIZE.check(&body).is_err() {
            return too_large(MessageTooLarge::Initialize);
        }
        if !self.sessions.have_room() {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "Too many sessions are in use");
        }
        reworded(self.opening.handle(whole(parts, body)).await, id)
    }
}

/// Keeps a share until the last of an answer was sent, or its client has gone. What handles the request keeps it as well.
fn keeping(answer: Answer, share: RequestShare) -> Answer {
    answer.map(|body| {
        let keep = move |frame| {
            let _kept = &share;
            frame
        };
        body.map_frame(keep).boxed()
    })
}

/// Reads a body, within bounds.
async fn read(body: Incoming) -> Result<Bytes, Box<Answer>> {
    let is_too_large = body.size_hint().lower() > MESSAGE.bytes as u64;
    let reading = timeout(BODY_TIME, Limited::new(body, MESSAGE.bytes).collect());
    let read = if is_too_large { None } else { Some(reading.await) };
    let answer = match read {
        Some(Ok(Ok(body))) => return Ok(body.to_bytes()),
        Some(Ok(Err(error))) if !error.is::<LengthLimitError>() => {
            plain(StatusCode::BAD_REQUEST, "The message did not come whole")
        }
        None | Some(Ok(Err(_))) => too_large(MessageTooLarge::Bytes(MESSAGE.bytes)),
        Some(Err(_)) => plain(StatusCode::REQUEST_TIMEOUT, "The message did not come in time"),
    };
    Err(Box::new(closing(answer)))
}

/// An answer to a request whose body is not read.
fn unread(answer: Answer, body: &Incoming) -> Answer {
    if body.is_end_stream() { answer } else { closing(answer) }
}

/// The last answer of a connection. What is left of a body is not waited for, and a client that was not told would send
/// its next request where nobody hears it.
fn closing(mut answer: Answer) -> Answer {
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

fn whole(parts: Parts, body: Bytes) -> Request<Full<Bytes>> {
    Request::from_parts(parts, Full::new(body))
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    value.split(';').next().is_some_and(|it| it.trim().eq_ignore_ascii_case(JSON))
}

/// The crate of the protocol says of JSON that is no message that its type is not supported.
fn reworded(answer: Answer, id: Option<RequestId>) -> Answer {
    if answer.status() != StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return answer;
    }
    refused(ErrorData::invalid_request("this is no message of the protocol", None), id)
}

fn refused(data: ErrorData, id: Option<RequestId>) -> Answer {
    json(StatusCode::BAD_REQUEST, &JsonRpcError::new(id, data))
}

fn json(status: StatusCode, message: &impl Serialize) -> Answer {
    let text = serde_json::to_vec(message).expect("an error has only text for keys");
    let mut answer = plain(status, text);
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    answer
}

fn too_large(error: MessageTooLarge) -> Answer {
    plain(StatusCode::PAYLOAD_TOO_LARGE, error.to_string())
}

pub(super) fn plain(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(text.into()).boxed());
    *answer.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_given_back_with_the_answer_that_has_it() {
        let budget = CallBudget::new(1);
        let reserved = budget.reserve().expect("a place");
        let memory = AnswerBudget::of_tokens(1)[0].answer();
        let share = RequestShare::new(reserved, memory);
        let answer = keeping(plain(StatusCode::OK, "text"), share);
        assert!(budget.reserve().is_err());
        drop(answer);
        assert!(budget.reserve().is_ok());
    }
}
