//! Why something was not fetched.
//!
//! URLs are shown without query and fragment, which may hold tokens, and never with a password.

use std::error::Error;
use std::io;
use std::time::Duration;

use reqwest::Url;
use thiserror::Error;

use crate::location::{host, shown};

/// Why something was not fetched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NetError {
    /// The client cannot be set up on this system.
    #[error("cannot set up the HTTP client")]
    Setup(#[source] reqwest::Error),
    /// The proxy is not a URL.
    #[error("the proxy is not a valid URL")]
    Proxy(#[source] reqwest::Error),
    /// The address is not one that is asked.
    #[error("the address `{url}` cannot be used")]
    Url {
        /// The address.
        url: String,
        /// What is wrong with it.
        source: UrlFault,
    },
    /// The name of the server is unknown.
    #[error("cannot find the server `{host}`")]
    Resolve {
        /// The server.
        host: String,
        /// What the system said.
        source: reqwest::Error,
    },
    /// The server does not take connections.
    #[error("cannot connect to `{host}`")]
    Connect {
        /// The server.
        host: String,
        /// What the system said.
        source: reqwest::Error,
    },
    /// The server cannot prove who it is, or does not speak TLS.
    #[error("cannot make a secure connection to `{host}`")]
    Tls {
        /// The server.
        host: String,
        /// What failed.
        source: reqwest::Error,
    },
    /// It took too long.
    #[error("`{url}` did not answer in full within {} s", limit.as_secs_f32())]
    TimedOut {
        /// What was fetched.
        url: String,
        /// How long it may take.
        limit: Duration,
    },
    /// The server stopped talking.
    #[error("`{host}` was silent for {} s", limit.as_secs_f32())]
    Silent {
        /// The server.
        host: String,
        /// How long it may be silent.
        limit: Duration,
    },
    /// A header to be sent is not one.
    #[error("the header `{name}` cannot be sent: it has characters that headers may not have")]
    Header {
        /// Its name; the value may be a secret.
        name: String,
    },
    /// The body is too large.
    #[error("`{url}` is larger than {limit} bytes")]
    TooLarge {
        /// What was fetched.
        url: String,
        /// How large it may be.
        limit: u64,
    },
    /// The server answered with something else than the body.
    #[error("`{url}` answered with status {status}")]
    Status {
        /// What was fetched.
        url: String,
        /// The status of the answer.
        status: u16,
    },
    /// The server sent us somewhere we do not go.
    #[error("the redirect of `{url}` is refused")]
    Redirect {
        /// What redirects.
        url: String,
        /// What is wrong with the redirect.
        source: RedirectFault,
    },
    /// The answer broke off, or was not HTTP.
    #[error("the answer of `{url}` is broken or incomplete")]
    Interrupted {
        /// What was fetched.
        url: String,
        /// What failed.
        source: reqwest::Error,
    },
    /// What arrived cannot be stored.
    #[error("cannot write what was downloaded")]
    Write(#[source] io::Error),
    /// The system gives no resources for networking.
    #[error("cannot start networking")]
    Runtime(#[source] io::Error),
}

/// What is wrong with a URL.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum UrlFault {
    /// It does not follow the grammar of URLs.
    #[error("it is not a valid URL")]
    Unreadable(#[source] Box<dyn Error + Send + Sync>),
    /// It is neither `http` nor `https`.
    #[error("its scheme `{scheme}` is neither http nor https")]
    Scheme {
        /// What it has instead.
        scheme: String,
    },
    /// It contains a user name or a password.
    #[error("it contains a user name or password")]
    Credentials,
}

/// What is wrong with a redirect.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RedirectFault {
    /// One more than allowed, or a circle.
    #[error("there were {limit} redirects before it")]
    TooMany {
        /// How many are followed.
        limit: usize,
    },
    /// From HTTPS to HTTP.
    #[error("it leads from https to http")]
    Downgrade,
    /// It does not say where to.
    #[error("it does not say where to")]
    NoLocation,
    /// The request carries credentials, which are for one server only.
    #[error("the request carries credentials, which are not sent on")]
    NotForCredentials,
    /// It leads to an address that is not asked.
    #[error("it leads to `{url}`")]
    Url {
        /// The address.
        url: String,
        /// What is wrong with it.
        source: UrlFault,
    },
}

impl NetError {
    /// Sorts a failure to send a request or to get the head of an answer.
    pub(crate) fn sending(url: &Url, connect_timeout: Duration, error: reqwest::Error) -> Self {
        let source = error.without_url();
        if source.is_timeout() {
            Self::TimedOut { url: shown(url), limit: connect_timeout }
        } else if source.is_dns() {
            Self::Resolve { host: host(url), source }
        } else if is_tls(&source) {
            Self::Tls { host: host(url), source }
        } else if source.is_connect() {
            Self::Connect { host: host(url), source }
        } else {
            Self::Interrupted { url: shown(url), source }
        }
    }

    /// Wraps a failure in the middle of a body.
    pub(crate) fn receiving(url: &Url, error: reqwest::Error) -> Self {
        Self::Interrupted { url: shown(url), source: error.without_url() }
    }
}

/// Whether TLS is what failed. An I/O error does not name what it wraps as its `source`, so it is
/// opened.
fn is_tls(error: &(dyn Error + 'static)) -> bool {
    if error.is::<rustls::Error>() {
        return true;
    }
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => is_tls(wrapped),
        None => error.source().is_some_and(is_tls),
    }
}
