//! Options of a connection.

use std::time::Duration;

/// Options of connections to servers.
#[derive(Clone, Debug)]
pub struct McpClientOptions {
    /// The HTTP client.
    pub http: metier_net::Client,
    /// Limits on waiting for a server.
    pub timeouts: McpTimeouts,
}

/// Limits on waiting for a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McpTimeouts {
    /// The time from the start of a server until it answers; some download themselves first.
    pub open: Duration,
    /// The time for an answer that needs no work, such as a list. A list of several pages has four times as long.
    pub answer: Duration,
    /// The time for a call of a tool.
    pub call: Duration,
}

impl McpTimeouts {
    /// The documented timeouts.
    pub const STANDARD: Self = Self {
        open: Duration::from_mins(1),
        answer: Duration::from_secs(30),
        call: Duration::from_mins(5),
    };
}
