//! Stores of artifacts: one suite for all of them, and what is particular to each.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start savers of their own and read what they are told through variables"
)]

mod conformance;
mod crash;
mod directory;
mod memory;
mod names;
mod support;
