//! Connections to other servers.
//!
//! A server is a program that is started, or an address. What it says is what a stranger says: every list, text
//! and wait has a bound.

mod connection;
mod error;
mod peer;

pub use connection::Connection;
pub use error::ClientError;
pub use peer::{
    ClientMeans, Patience, Peer, Progress, Reply, ServerInfo, SkillProblem, Skills, Tool, Tools,
    Way,
};
