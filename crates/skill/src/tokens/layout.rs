//! What the build script and the crate must agree on to share one table.
//!
//! The build script compiles this file too: it places every token where
//! [`place`] says, and the crate looks for it there. Everything here is
//! therefore used by both sides, and a change moves both at once.

/// Slots among which the hash chooses.
///
/// Five slots for three tokens: a search for bytes that are no token, the
/// usual case while merging, ends after four slots on average, which is one
/// cache line.
pub(crate) const HOME_SLOTS: u64 = 320_000;

/// Low bits of a slot: the rank of its token plus one. An empty slot is zero.
pub(crate) const RANK_BITS: u32 = 18;

/// Characters per block of the two-stage character table.
pub(crate) const BLOCK_LENGTH: usize = 128;

/// Sets of characters the splitting pattern distinguishes, one bit each.
pub(crate) mod set {
    /// `[^\r\n\p{L}\p{N}]`: may stand in front of a word.
    pub(crate) const LEAD: u8 = 1;
    /// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`: the first part of a word.
    pub(crate) const HEAD: u8 = 1 << 1;
    /// `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`: the second part of a word.
    pub(crate) const TAIL: u8 = 1 << 2;
    /// `\p{N}`: a digit or another number.
    pub(crate) const NUMBER: u8 = 1 << 3;
    /// `[^\s\p{L}\p{N}]`: punctuation and everything without a better name.
    pub(crate) const SYMBOL: u8 = 1 << 4;
    /// `\s`: white space, line breaks included.
    pub(crate) const SPACE: u8 = 1 << 5;
    /// `[\r\n]`: the two line breaks the pattern knows.
    pub(crate) const BREAK: u8 = 1 << 6;
}

/// Where a token is looked for, and a few bits that tell it from neighbours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// First slot to look at; the search goes on until an empty slot.
    pub(crate) home: usize,
    /// What the bits of the slot above [`RANK_BITS`] must be.
    pub(crate) tag: u32,
}

/// The place of these bytes in the table.
pub(crate) fn place(bytes: &[u8]) -> Place {
    let hash = hash(bytes);
    let home = ((hash >> 32) * HOME_SLOTS) >> 32;
    let tag = (hash as u32) >> RANK_BITS;
    Place { home: home as usize, tag }
}

/// Mixes all bytes and their number.
///
/// What does not fill a word is read as a word of fixed size that overlaps the
/// one before it: there are few branches, and they follow the length only.
fn hash(bytes: &[u8]) -> u64 {
    let length = bytes.len() as u64;
    if let Some(last) = bytes.last_chunk() {
        let (words, _) = bytes.as_chunks();
        let state = words.iter().fold(length, |state, word| mix(state, u64::from_le_bytes(*word)));
        return mix(state, u64::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let state = mix(length, u64::from(u32::from_le_bytes(*first)));
        return mix(state, u64::from(u32::from_le_bytes(*last)));
    }
    mix(length, bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)))
}

/// One step: multiply, then let the high half reach the low one.
fn mix(state: u64, word: u64) -> u64 {
    let product = (state ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
    product ^ (product >> 32)
}
