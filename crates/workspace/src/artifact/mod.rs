//! Artifacts: files that outlive the run that made them, in numbered versions.
//!
//! An artifact belongs to a session or, if its name begins with `user:`, to a user. Saving never
//! replaces: it adds a version, and a number once given is never given again, so a reference
//! `artifact://name@version` in an old conversation means the same bytes or nothing.
//!
//! [`ArtifactStore`] is the trait, [`MemoryStore`] and [`DirectoryStore`] are stores. What an
//! artifact is about, who may see it and when it is thrown away is decided by the callers.
//!
//! ```
//! use metier_workspace::artifact::{About, ArtifactKey, ArtifactRef, ArtifactStore, MemoryStore, Owner};
//! use tokio::io::AsyncReadExt;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = MemoryStore::new();
//! let owner = Owner::new("shop", "ada", "monday")?;
//! let report = ArtifactKey::new(&owner, "out/report.txt")?;
//! let text = About::new("text/plain")?;
//! store.save(&report, &mut "first".as_bytes(), &text).await?;
//! let saved = store.save(&report, &mut "second".as_bytes(), &text).await?;
//! assert_eq!(saved.version, 1);
//!
//! // The first version is still what it was.
//! let reference = ArtifactRef::parse("artifact://out/report.txt@0")?;
//! let mut loaded = store.load(&reference.key(&owner), reference.version()).await?;
//! let mut content = String::new();
//! loaded.content.read_to_string(&mut content).await?;
//! assert_eq!(content, "first");
//! # Ok(())
//! # }
//! ```

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
