//! Where skills are: sources, the walk through a root, and the headers found there.
//!
//! Finding is separate from choosing: this module reports every skill of every
//! root, and the [`crate::library`] decides which of them counts.

mod bundled;
mod plugin;
mod record;
mod scan;
mod source;
#[cfg(test)]
mod tests;
mod walk;

pub use bundled::{BundledFile, BundledSkill};
pub use plugin::{Plugin, find_plugins};
pub use scan::{Found, RootScan, ScanOptions, read_skill, scan};
pub use source::{Absence, Links, Root, Source};
pub use walk::find_skill_files;

pub(crate) use record::{MAX_SKILL_FILE_BYTES, judge as judge_bytes};
pub(crate) use scan::in_parallel;
#[cfg(test)]
pub(crate) use walk::MAX_FOLDERS;
