//! Skills that other servers offer.
//!
//! A server tells of a skill by its header and a complete list of its files with digests and sizes. That is all there
//! is until somebody needs the skill: [`RemoteSkill::read`] judges what was told, [`RemoteStore`] keeps the files of
//! those that were needed, each verified when it came and again when it is used. Who asks servers is not known here.
//!
//! A skill is known by what we call its server and by its address there; its name is a label that others may have too.

mod address;
mod offer;
mod skill;
mod store;
#[cfg(test)]
mod tests;

pub use address::decoded;
pub use offer::{MAX_BYTES, MAX_FILES, Offer, OfferedFile, RemoteFault};
pub use skill::{RemoteFile, RemoteSkill};
pub use store::{RemoteStore, StoreError};
