//! The files of a skill: what is in its folder, its docs, its digest.
//!
//! There is one listing. What it leaves out (caches, version control, links that
//! lead outside) is in no digest, is offered to nobody and is staged nowhere.

mod digest;
mod docs;
mod identity;
mod memo;
#[cfg(test)]
mod tests;
mod tokens;
mod tree;

pub use digest::{Digest, DigestCache, FileDigests, TreeDigests, digest_of};
pub(crate) use digest::{combine, digest_of_file, entry_digest};
pub(crate) use docs::boundary_before;
pub use docs::{Doc, MAX_DOC_BYTES, is_doc};
pub use identity::Identity;
pub use memo::Memo;
pub use tokens::{TokenCache, token_count};
pub use tree::{FileEntry, FileKind, Tree, TreeError, list};

pub(crate) use tree::{is_left_out, open_regular, open_without_waiting};
