//! Connections to other servers.
//!
//! A server is a program that is started, or an address. What it says is what a stranger says: every list, text
//! and wait has a bound.
//!
//! [`McpConnection`] is opened and asked (`connection`, `lists`, `call`); `program` and `lines` carry its messages
//! over pipes, `web` and `events` over HTTP.

mod address;
mod call;
mod connection;
mod error;
mod events;
mod faults;
mod handler;
mod lines;
mod lists;
mod messages;
mod options;
mod program;
mod results;
mod streams;
mod text;
mod trouble;
mod web;

pub use address::{McpServerAddress, McpTransport};
pub use connection::McpConnection;
pub use error::McpClientError;
pub use faults::{McpAnswerFault, McpSkillFault, McpToolFault};
pub use options::{McpClientOptions, McpTimeouts};
pub use results::{
    McpCallProgress, McpServerInfo, McpSkillList, McpSkillProblem, McpTool, McpToolList,
    McpToolResult,
};
