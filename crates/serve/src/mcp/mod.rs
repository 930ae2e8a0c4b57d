//! The Model Context Protocol.
//!
//! - [`server`] answers requests; [`stdio`] and [`http`] carry them.
//! - [`client`] connects to other servers.
//! - [`skills`] has the messages of the extension for skills, which both sides speak.

pub mod client;
pub mod http;
pub mod server;
pub mod skills;
pub mod stdio;

pub use server::Server;
