//! What shells and `man` are told of the command line.

mod complete;
mod escape;
mod manual;
mod names;
mod scripts;

pub(super) use complete::complete;
pub(super) use manual::manual;
pub(super) use scripts::completions;
