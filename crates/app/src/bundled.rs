//! The skills inside the library, of which the binary is made.

use metier_skill::discover::{BundledFile, BundledSkill};

/// Every skill of `skills/`, by folder.
pub(crate) const BUNDLED: &[BundledSkill] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));
