//! Operations on the state of a principal that are not part of a turn.

pub mod cleanup;
pub mod exec;
pub mod sessions;
pub mod trust;
