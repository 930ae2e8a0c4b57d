//! The skills inside the binary.

use metier_skill::discover::{BundledFile, BundledSkill};

/// Every skill of `skills/`, by folder.
pub(crate) const BUNDLED: &[BundledSkill] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));
