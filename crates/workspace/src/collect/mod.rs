//! Collecting what a run made: by patterns, within limits, through no link.

mod found;
mod look;
mod pattern;
mod take;
mod whole;

pub(crate) use look::look;
pub use pattern::PatternError;
pub(crate) use pattern::Patterns;
pub(crate) use take::{Collected, Collector, Ran};
