//! The only HTTP client of the project.
//!
//! Whatever goes over the network goes through here, so that bounds hold everywhere: a download has a
//! time limit, an answer that comes in pieces one for the silence between them, and every body a size
//! limit. Redirects of downloads are few and never leave HTTPS; a request that carries credentials
//! follows none. Nothing is read from the environment: proxies and addresses are given by the caller.
//!
//! This crate sends and fetches bytes. What they mean, where they are kept and when they are stale is
//! the business of others.

mod client;
mod download;
mod error;
mod location;
mod post;
mod retry_after;
mod roots;

#[cfg(test)]
mod post_tests;
#[cfg(test)]
mod tests;

pub use client::{Client, ClientOptions};
pub use download::{Download, DownloadRequest, Downloaded};
pub use error::{NetError, RedirectFault, UrlFault};
pub use location::{check_address, keeps_secrets, shown_text};
pub use post::{Answer, BareRequest, PostRequest};
