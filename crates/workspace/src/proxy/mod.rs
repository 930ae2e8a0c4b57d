//! The only way out of a confined program that was granted a few addresses.
//!
//! The program has no network but a socket that leads here. It speaks HTTP (`CONNECT`, or plain
//! requests for `http://…`) or SOCKS5, and gets through to what [`AllowList`] names and nowhere
//! else. Names are looked up here, and a connection goes to the very address that was judged, so
//! an allowed name cannot be turned into a way to private addresses. Nothing is decrypted.
//!
//! What was refused is remembered ([`Proxy::refused`]) for the report of a run. Where the socket
//! comes from, and which variables tell the program about it, is left to the executors.

mod address;
mod allow;
mod http;
mod refusal;
mod relay;
mod request;
mod server;
mod socks;
mod target;

#[cfg(test)]
mod tests;

pub use allow::{AllowList, ParseError};
pub use refusal::{Reason, Refusal};
pub use server::{Proxy, ProxyOptions};
pub use target::TargetFault;
