//! Web pages: a browser asks whether a page may ask, and shows it only answers that say so.
//!
//! Which pages may is decided in [`super::front`], with everything else.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode};

use super::front::{Answer, METHODS, plain};

/// The headers of requests that pages may set, beside those that they always may.
const SENT: &str = "authorization, content-type, last-event-id, mcp-method, mcp-name, \
                    mcp-protocol-version, mcp-session-id";
/// The headers of answers that pages may see.
const SEEN: &str = "mcp-session-id";

/// The page on whose behalf a browser asks whether it may. It does so without a token.
pub(super) fn asking(parts: &Parts) -> Option<HeaderValue> {
    let is_asking = parts.method == Method::OPTIONS
        && parts.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    parts.headers.get(ORIGIN).filter(|_| is_asking).cloned()
}

/// What a browser is told of a page that may ask.
pub(super) fn may_ask(origin: HeaderValue) -> Answer {
    let mut answer = plain(StatusCode::NO_CONTENT, "");
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(SENT));
    shown(answer, Some(origin))
}

/// Lets the page that asked see an answer.
pub(super) fn shown(mut answer: Answer, origin: Option<HeaderValue>) -> Answer {
    if let Some(origin) = origin {
        let headers = answer.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(SEEN));
        headers.insert(VARY, HeaderValue::from_static("origin"));
    }
    answer
}
