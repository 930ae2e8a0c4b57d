//! Sending a request whose answer arrives piece by piece.
//!
//! For servers that answer as they go, such as those of models: what is bounded is the silence
//! between two pieces, not the whole time. Such a request may carry credentials, so it is never sent
//! on to where a redirect points. A status other than success is an answer like any other: what it
//! means is for the caller to say.

use std::fmt;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Response, Url};
use tokio::time::timeout;

use crate::download::is_redirect;
use crate::location::{self, host, shown};
use crate::{Client, NetError, RedirectFault, retry_after};

/// What to send.
///
/// `Debug` shows the names of the headers, never their values.
#[derive(Clone)]
pub struct PostRequest<'a> {
    /// The address: `http` or `https`, without user name and password.
    pub url: &'a str,
    /// Headers beside those of every request; their values are taken for secrets.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body.
    pub body: Vec<u8>,
    /// How long the server may be silent, before the answer begins and between its pieces.
    pub idle_timeout: Duration,
    /// How large the answer may be.
    pub max_bytes: u64,
}

impl fmt::Debug for PostRequest<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("PostRequest")
            .field("url", &location::shown_text(self.url))
            .field("headers", &names)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .field("idle_timeout", &self.idle_timeout)
            .field("max_bytes", &self.max_bytes)
            .finish()
    }
}

/// What to ask for, without a body.
///
/// `Debug` shows the names of the headers, never their values.
#[derive(Clone)]
pub struct BareRequest<'a> {
    /// The address: `http` or `https`, without user name and password.
    pub url: &'a str,
    /// Headers beside those of every request; their values are taken for secrets.
    pub headers: &'a [(&'a str, &'a str)],
    /// How long the server may be silent, before the answer begins and between its pieces.
    pub idle_timeout: Duration,
    /// How large the answer may be.
    pub max_bytes: u64,
}

impl fmt::Debug for BareRequest<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("BareRequest")
            .field("url", &location::shown_text(self.url))
            .field("headers", &names)
            .field("idle_timeout", &self.idle_timeout)
            .field("max_bytes", &self.max_bytes)
            .finish()
    }
}

/// An answer whose body is still to come. Dropping it ends the connection.
#[derive(Debug)]
pub struct Answer {
    url: Url,
    response: Response,
    idle_timeout: Duration,
    max_bytes: u64,
    received: u64,
}

impl Client {
    /// Sends a body and waits for the head of the answer, whatever its status.
    ///
    /// # Errors
    ///
    /// Fails if the address or a header is not valid, if the server cannot be reached, stays silent
    /// or redirects.
    pub async fn post(&self, request: PostRequest<'_>) -> Result<Answer, NetError> {
        let PostRequest { url, headers, body, idle_timeout, max_bytes } = request;
        let head = BareRequest { url, headers, idle_timeout, max_bytes };
        self.exchange(Method::POST, head, Some(body)).await
    }

    /// Asks for something that comes piece by piece, whatever the status of the answer.
    ///
    /// # Errors
    ///
    /// As [`Client::post`].
    pub async fn get(&self, request: BareRequest<'_>) -> Result<Answer, NetError> {
        self.exchange(Method::GET, request, None).await
    }

    /// Asks for something to be deleted, whatever the status of the answer.
    ///
    /// # Errors
    ///
    /// As [`Client::post`].
    pub async fn delete(&self, request: BareRequest<'_>) -> Result<Answer, NetError> {
        self.exchange(Method::DELETE, request, None).await
    }

    async fn exchange(
        &self,
        method: Method,
        request: BareRequest<'_>,
        body: Option<Vec<u8>>,
    ) -> Result<Answer, NetError> {
        let url = location::parse(request.url, None)
            .map_err(|source| NetError::Url { url: location::shown_text(request.url), source })?;
        let headers = secret_headers(request.headers)?;
        let mut sending = self.http.request(method, url.clone()).headers(headers);
        if let Some(body) = body {
            sending = sending.body(body);
        }
        let sending = sending.send();
        let silent = || NetError::Silent { host: host(&url), limit: request.idle_timeout };
        let response = timeout(request.idle_timeout, sending)
            .await
            .map_err(|_elapsed| silent())?
            .map_err(|error| NetError::sending(&url, self.connect_timeout, error))?;
        if is_redirect(response.status()) {
            return Err(NetError::Redirect {
                url: shown(&url),
                source: RedirectFault::NotForCredentials,
            });
        }
        Ok(Answer {
            url,
            response,
            idle_timeout: request.idle_timeout,
            max_bytes: request.max_bytes,
            received: 0,
        })
    }
}

impl Answer {
    /// The status, such as 200.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// The value of a header, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// How long the server asks us to wait before the next request, if it does.
    pub fn retry_after(&self) -> Option<Duration> {
        retry_after::asked(|name| self.header(name))
    }

    /// The next piece of the body, or `None` at its end.
    ///
    /// # Errors
    ///
    /// Fails if the server falls silent, the connection breaks or the body is too large.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>, NetError> {
        let waited = timeout(self.idle_timeout, self.response.chunk()).await;
        let silent =
            |_elapsed| NetError::Silent { host: host(&self.url), limit: self.idle_timeout };
        let chunk =
            waited.map_err(silent)?.map_err(|error| NetError::receiving(&self.url, error))?;
        self.received += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        if self.received > self.max_bytes {
            return Err(NetError::TooLarge { url: shown(&self.url), limit: self.max_bytes });
        }
        Ok(chunk.map(Into::into))
    }

    /// The first bytes of the body, for an answer that is an error: as many as there are up to a
    /// bound. What breaks off is given as far as it came.
    pub async fn beginning(mut self, max_bytes: usize) -> Vec<u8> {
        let mut body = Vec::new();
        while body.len() < max_bytes {
            match self.chunk().await {
                Ok(Some(chunk)) => body.extend(chunk),
                Ok(None) | Err(_) => break,
            }
        }
        body.truncate(max_bytes);
        body
    }
}

/// Headers that the HTTP library will not show either.
fn secret_headers(headers: &[(&str, &str)]) -> Result<HeaderMap, NetError> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let invalid = || NetError::Header { name: (*name).to_owned() };
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_error| invalid())?;
        let mut value = HeaderValue::from_str(value).map_err(|_error| invalid())?;
        value.set_sensitive(true);
        map.insert(key, value);
    }
    Ok(map)
}
