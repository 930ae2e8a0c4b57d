//! Other ways in.
//!
//! [`mcp`] speaks the Model Context Protocol as a server: it gives the skills of this machine to other agents. The
//! client and the messages that both sides speak are in `metier-mcp`; these two crates alone know the crate of the
//! protocol.

pub mod mcp;
