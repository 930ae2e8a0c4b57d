//! Finding skills by what a person asks: BM25 over names, descriptions and headings.
//!
//! One index serves the model's `skill_search`, `metier skills search` and the
//! lint that finds descriptions in each other's way.

mod analysis;
mod index;
mod near;
mod related;
mod skills;

pub use analysis::headings;
pub use index::{Document, Hit, Index};
pub use near::edit_distance;
pub use skills::SkillIndex;
