//! Whole requests and replies over a real socket: recorded streams are replayed by a server on the
//! loopback interface, split in different ways, and what it was sent is looked at.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]

mod chat;
mod errors;
mod messages;
mod replay;
mod requests;
mod responses;
