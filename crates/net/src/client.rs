//! How the client is set up.
//!
//! Redirects, size and total time are handled here and in `download`, not by the HTTP library, so
//! that each refusal has its own error.

use std::time::Duration;

use reqwest::{Proxy, redirect};

use crate::NetError;
use crate::roots;

/// What the client may spend, and the way out.
///
/// There is no `Default`: start from [`ClientOptions::STANDARD`] and say what differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientOptions<'a> {
    /// How long a connection may take to come about, TLS included.
    pub connect_timeout: Duration,
    /// How long a download may take from the first byte sent to the last one written, with all
    /// redirects.
    pub total_timeout: Duration,
    /// How large a body may be.
    pub max_bytes: u64,
    /// How many redirects are followed.
    pub max_redirects: usize,
    /// The proxy for all requests. Variables such as `HTTPS_PROXY` are not looked at.
    pub proxy: Option<&'a str>,
}

impl ClientOptions<'_> {
    /// The bounds that the documentation promises, without a proxy.
    pub const STANDARD: Self = Self {
        connect_timeout: Duration::from_secs(30),
        total_timeout: Duration::from_secs(5 * 60),
        max_bytes: 64 * 1024 * 1024,
        max_redirects: 5,
        proxy: None,
    };
}

/// An HTTP client with its bounds; cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) http: reqwest::Client,
    pub(crate) connect_timeout: Duration,
    pub(crate) total_timeout: Duration,
    pub(crate) max_bytes: u64,
    pub(crate) max_redirects: usize,
}

impl Client {
    /// Sets up a client; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Fails if the proxy is not a URL.
    pub fn new(options: &ClientOptions<'_>) -> Result<Self, NetError> {
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(roots::tls())
            .user_agent(USER_AGENT)
            .connect_timeout(options.connect_timeout)
            .redirect(redirect::Policy::none())
            .referer(false)
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
            .no_proxy();
        if let Some(proxy) = options.proxy {
            builder = builder.proxy(Proxy::all(proxy).map_err(NetError::Proxy)?);
        }
        Ok(Self {
            http: builder.build().map_err(NetError::Setup)?,
            connect_timeout: options.connect_timeout,
            total_timeout: options.total_timeout,
            max_bytes: options.max_bytes,
            max_redirects: options.max_redirects,
        })
    }
}

const USER_AGENT: &str = concat!("metier/", env!("CARGO_PKG_VERSION"));
