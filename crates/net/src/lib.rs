//! The only HTTP client of the project.
//!
//! Whatever goes over the network goes through here, so that bounds hold everywhere: a download has a
//! time limit, an answer that comes in pieces one for the silence between them, and every body a size
//! limit. Redirects of downloads are few and never leave HTTPS; a request that carries credentials
//! follows none. Nothing is read from the environment: proxies and addresses are given by the caller.
//!
//! This crate sends and fetches bytes. What they mean, where they are kept and when they are stale is
//! the business of others.
//!
//! ```
//! use std::io::{Read, Write};
//! use std::net::TcpListener;
//!
//! use metier_net::{Client, ClientOptions, Download, DownloadRequest, NetError};
//!
//! // A server that has one file, and gives it twice.
//! let listener = TcpListener::bind("127.0.0.1:0")?;
//! let url = format!("http://{}/note.txt", listener.local_addr()?);
//! std::thread::spawn(move || {
//!     for mut connection in listener.incoming().take(2).flatten() {
//!         let _request = connection.read(&mut [0; 4096]);
//!         let answer = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nhello\n";
//!         let _sent = connection.write_all(answer.as_bytes());
//!     }
//! });
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let request = DownloadRequest { url: &url, etag: None, last_modified: None };
//! let mut file = Vec::new();
//! let client = Client::new(&ClientOptions::STANDARD)?;
//! let Download::Fetched(fetched) = client.download(&request, &mut file).await? else { panic!() };
//! assert_eq!((fetched.bytes, file.as_slice()), (6, &b"hello\n"[..]));
//!
//! // What is larger than it may be is refused.
//! let small = Client::new(&ClientOptions { max_bytes: 5, ..ClientOptions::STANDARD })?;
//! let refused = small.download(&request, &mut Vec::new()).await;
//! assert!(matches!(refused, Err(NetError::TooLarge { .. })), "{refused:?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
