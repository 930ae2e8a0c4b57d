//! Connections to other servers.
//!
//! A server is a program that is started, or an address. What it says is what a stranger says: every list, text
//! and wait has a bound.
//!
//! [`Connection`] is opened and asked (`connection`, `lists`, `call`); `program` and `lines` carry its messages
//! over pipes, `web` and `events` over HTTP.

mod call;
mod connection;
mod error;
mod events;
mod faults;
mod handler;
mod lines;
mod lists;
mod messages;
mod peer;
mod program;
mod streams;
mod text;
mod trouble;
mod web;

pub use connection::Connection;
pub use error::ClientError;
pub use faults::{McpAnswerFault, McpSkillFault, McpToolFault};
pub use peer::{
    ClientMeans, Patience, Peer, Progress, Reply, ServerInfo, SkillProblem, Skills, Tool, Tools,
    Way,
};
