//! Installing what a skill needs: which ways there are on this machine, what each would do, and where
//! the programs go that it brings.
//!
//! Planning is pure: it is told of the machine and returns arguments or a download. Fetching and
//! running are the caller's. What is installed for a skill has a folder of its own, which no other skill
//! uses. Of the programs in it only those that were declared are linked into the folder that runs of
//! the skill find them in, so that a package cannot slip in others.

mod folder;
mod place;
mod plan;

#[cfg(test)]
mod tests;

pub use folder::{separate_shared_links, tool_folder, tool_links};
pub use place::{Linked, PlaceError, link_programs, place};
pub use plan::{
    Chosen, Command, DownloadPlan, InstallPlan, NodeManager, Obstacle, Offer, Situation, choose,
    offers,
};
