//! The Model Context Protocol.
//!
//! - [`server`] answers requests; [`stdio`] and [`http`] carry them.
//! - [`client`] connects to other servers; [`foreign`] gives their tools to our agent.
//! - [`skills`] has the messages of the extension for skills, which both sides speak.

mod bounds;
mod calls;
pub mod client;
pub mod foreign;
pub mod http;
mod line;
mod lines;
mod memory;
pub mod server;
pub mod skills;
pub mod stdio;
mod stuck;

pub use server::Server;
