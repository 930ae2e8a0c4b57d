//! The only HTTP client of the project.
//!
//! Whatever goes over the network goes through here, so that bounds hold everywhere: every request
//! has a time limit, every body a size limit, redirects are few and never leave HTTPS, credentials
//! are never sent on to another address, and nothing is read from the environment. Proxies and addresses are given by the caller.
//!
//! This crate fetches bytes. What they mean, where they are kept and when they are stale is the
//! business of others.

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
pub use post::{Answer, PostRequest};
