//! The files of a skill: what is in its folder, its docs, its digest.
//!
//! There is one listing. What it leaves out (caches, version control, links that
//! lead outside) is in no digest, is offered to nobody, is staged nowhere and is not watched.
//!
//! ```
//! use metier_skill::files::{DigestCache, digest_of, list};
//!
//! # let folder = tempfile::tempdir()?;
//! # let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text);
//! write("SKILL.md", "---\nname: pdf\ndescription: Reads PDF files.\n---\n\nSee forms.md.\n")?;
//! write("forms.md", "# Forms\n")?;
//! write("fill.py", "print('filled')\n")?;
//! let skill = list(folder.path())?;
//! assert_eq!(skill.docs().map(|doc| doc.path.as_str()).collect::<Vec<_>>(), ["forms.md"]);
//! assert_eq!(skill.resources().collect::<Vec<_>>(), [("fill.py", 16)]);
//! assert_eq!(skill.read_doc("forms.md")?.text, "# Forms\n");
//!
//! // One digest stands for everything in the folder.
//! let before = digest_of(&skill, &DigestCache::in_memory())?.whole;
//! write("fill.py", "print('changed')\n")?;
//! let after = digest_of(&list(folder.path())?, &DigestCache::in_memory())?.whole;
//! assert_ne!(before, after);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod digest;
mod docs;
mod identity;
mod memo;
#[cfg(test)]
mod tests;
mod tokens;
mod tree;

pub use digest::{Digest, DigestCache, FileDigests, TreeDigests, digest_of};
pub(crate) use digest::{combine, digest_of_file, digest_of_listed, entry_digest};
pub(crate) use docs::boundary_before;
pub use docs::{Doc, MAX_DOC_BYTES, is_doc};
pub(crate) use identity::COARSE_CLOCK_GRAIN;
pub use identity::Identity;
pub use memo::Memo;
pub use tokens::{TokenCache, token_count};
pub use tree::{FileEntry, FileKind, Tree, TreeError, list};

pub(crate) use tree::{is_left_out, open_regular, open_without_waiting};
