//! The Model Context Protocol.
//!
//! - [`server`] answers requests; [`stdio`] and [`http`] carry them.

mod bounds;
mod calls;
pub mod http;
mod lines;
mod memory;
pub mod server;
pub mod stdio;
mod stuck;

pub use server::Server;
