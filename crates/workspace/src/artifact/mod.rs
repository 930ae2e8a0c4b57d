//! Artifacts: files that outlive the run that made them, in numbered versions.
//!
//! An artifact belongs to a session or, if its name begins with `user:`, to a user. Saving never
//! replaces: it adds a version, and a number once given is never given again, so a reference
//! `artifact://name@version` in an old conversation means the same bytes or nothing.
//!
//! [`ArtifactStore`] is the trait, [`MemoryStore`] and [`DirectoryStore`] are stores. What an
//! artifact is about, who may see it and when it is thrown away is decided by the callers.

mod directory;
mod error;
mod folder;
mod intake;
mod key;
mod memory;
mod reference;
mod staging;
mod store;
mod verified;
mod versions;

pub use directory::DirectoryStore;
pub use error::ArtifactError;
pub use key::{ArtifactKey, ArtifactName, Owner, Scope};
pub use memory::MemoryStore;
pub use reference::ArtifactRef;
pub use store::{About, ArtifactStore, Listed, Loaded, VersionInfo};
