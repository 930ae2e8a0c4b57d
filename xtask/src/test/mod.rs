//! The one command that tests everything: `cargo xtask test`.
//!
//! A table of steps ([`steps`]) is run in order ([`runner`]), the output of each
//! goes straight through, and the end is a table with a closing line that counts
//! ([`summary`]). Nothing is left out in silence: a step that could not run, and a
//! test that could not ([`skips`]), is counted as skipped, and skips fail the run
//! where nobody would read about them.

mod runner;
mod skips;
mod steps;
mod summary;

pub(crate) use self::runner::{Options, run};
#[cfg(test)]
pub(crate) use self::skips::say as skip;
pub(crate) use self::summary::Outcome;
