//! Other ways in.
//!
//! [`mcp`] speaks the Model Context Protocol: as a server it gives the skills of this machine to other agents, as a
//! client it gives the tools and skills of other servers to ours. It is the only module that knows the crate of the
//! protocol.

pub mod mcp;
