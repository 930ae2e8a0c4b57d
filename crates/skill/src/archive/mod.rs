//! Skill archives: from the bytes of a zip or tar file to a folder on disk.
//!
//! An archive is code from the internet, so nothing in it is believed. Names are judged before
//! anything is written, sizes are counted while they stream, and all writing happens through a
//! directory handle that cannot leave the folder being filled. The folder is built under a
//! temporary name beside its target and renamed into place: the target is either complete or absent.
//!
//! [`unpack`] is synchronous and knows no network. Fetching, caching and checking a digest belong to
//! the caller; finding skills in what was unpacked belongs to the scan.

mod error;
mod format;
mod limits;
mod path;
mod tarball;
mod tree;
mod unpack;
mod zipfile;

#[cfg(test)]
mod tests;

pub use error::{ArchiveError, Refusal};
pub use format::Format;
pub use limits::Limits;
pub use unpack::{LinkRule, UnpackRequest, Unpacked, unpack};
