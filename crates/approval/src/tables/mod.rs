//! What is known about programs: data, and the little code that reads it.
//!
//! Nothing here looks at a machine. A table says which uses of a program are known to be harmless; what
//! it does not name is not, so an option that nobody thought of fails closed.

mod filters;
mod harmless;
mod kinds;
mod options;
mod outputs;
mod packers;
mod scripts;
mod uses;
mod variables;
mod wrappers;
mod writers;

pub(crate) use filters::{Fault, filter};
pub(crate) use kinds::{Kind, base_name, is_privileged, kind_of};
pub(crate) use scripts::kind_in;
pub(crate) use uses::{
    Because, beyond, has_covered_use, is_configured_by_folder, is_git, is_ordered_by_folder,
    uncovered,
};
pub use variables::{is_allowed_variable, is_loader_variable, names_installation};
pub(crate) use wrappers::{Inner, inner_of};
pub(crate) use writers::{Destination, Extent, Source, Writes, writes};

#[cfg(test)]
mod tests;
