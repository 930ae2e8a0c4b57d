//! The Model Context Protocol.
//!
//! - [`server`] answers requests; [`stdio`] and [`http`] carry them.
//! - [`foreign`] gives tools of other servers to our agent, through the client in `metier-mcp`.

mod bounds;
mod calls;
pub mod foreign;
pub mod http;
mod lines;
mod memory;
pub mod server;
pub mod stdio;
mod stuck;

pub use server::Server;
