//! The tokens of the vocabulary and their ranks, as laid out by the build script.
//!
//! An open-addressing hash table: a slot holds a rank and a few bits of the
//! hash; the bytes of the token with that rank decide. A token is merged before
//! all tokens of higher rank. Tables are read as little-endian numbers from
//! byte arrays, so they need no alignment and nothing prepares them.

use super::layout::{RANK_BITS, place};

/// Length of the longest token.
pub(crate) const LONGEST_TOKEN: usize = 128;

/// The hash table: a tag and a rank plus one in each slot, zero where empty.
static SLOTS: &[[u8; 4]] = numbers(include_bytes!(concat!(env!("OUT_DIR"), "/slots.bin")));
/// Where the bytes of each rank start; one more entry says where the last end.
static STARTS: &[[u8; 4]] = numbers(include_bytes!(concat!(env!("OUT_DIR"), "/starts.bin")));
/// The bytes of all tokens, by rank.
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/bytes.bin"));

/// Returns the rank of the token with exactly these bytes.
pub(crate) fn rank(bytes: &[u8]) -> Option<u32> {
    if bytes.len() > LONGEST_TOKEN {
        return None;
    }
    let place = place(bytes);
    for slot in &SLOTS[place.home..] {
        let slot = u32::from_le_bytes(*slot);
        let rank = (slot & ((1 << RANK_BITS) - 1)).checked_sub(1)?;
        if slot >> RANK_BITS == place.tag && token(rank) == bytes {
            return Some(rank);
        }
    }
    None
}

/// The bytes of a token.
fn token(rank: u32) -> &'static [u8] {
    let rank = rank as usize;
    let start = u32::from_le_bytes(STARTS[rank]);
    let end = u32::from_le_bytes(STARTS[rank + 1]);
    &BYTES[start as usize..end as usize]
}

const fn numbers(bytes: &'static [u8]) -> &'static [[u8; 4]] {
    bytes.as_chunks().0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_is_found_under_its_rank() {
        for expected in 0..STARTS.len() as u32 - 1 {
            assert_eq!(rank(token(expected)), Some(expected));
        }
    }

    #[test]
    fn every_byte_is_a_token() {
        for byte in 0..=u8::MAX {
            assert!(rank(&[byte]).is_some(), "{byte}");
        }
    }

    #[test]
    fn the_longest_token_is_as_long_as_said() {
        let longest = STARTS
            .array_windows()
            .map(|[start, end]| u32::from_le_bytes(*end) - u32::from_le_bytes(*start));
        assert_eq!(longest.max(), Some(LONGEST_TOKEN as u32));
    }

    #[test]
    fn bytes_that_are_no_token_have_no_rank() {
        for bytes in [&b""[..], b"qzxj", b"\0\0\0\0\0\0\0", &[b' '; 127], &[b'\xff'; 9]] {
            assert_eq!(rank(bytes), None, "{bytes:?}");
        }
    }
}
