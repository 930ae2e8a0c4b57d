//! The Model Context Protocol: its client, and the types that clients and servers of the project share.
//!
//! An [`McpConnection`] gives the tools, skills and files of one other server. [`skills`] has the messages of the
//! extension for skills and [`mod@line`] the lines in which messages go over pipes; the server in `metier-serve` uses
//! both. Offering tools of other servers to the agent, settings that name servers, and advice about
//! errors are left to the callers.

mod client;
pub mod line;
pub mod skills;

pub use client::{
    McpAnswerFault, McpCallProgress, McpClientError, McpClientOptions, McpConnection,
    McpServerAddress, McpServerInfo, McpSkillFault, McpSkillList, McpSkillProblem, McpTimeouts,
    McpTool, McpToolFault, McpToolList, McpToolResult, McpTransport,
};
