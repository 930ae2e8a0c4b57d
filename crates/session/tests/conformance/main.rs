//! Stores of sessions: one suite for all of them, and what is particular to each.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start writers of their own and read what they are told through variables"
)]

mod suite;

mod crash;
mod deciders;
mod disk;
mod lines;
mod memory;
mod sqlite;
mod support;
mod wire;
