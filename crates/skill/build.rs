//! Turns the `o200k_base` vocabulary into tables the crate embeds.
//!
//! Reading the vocabulary when a program starts costs more than counting the
//! tokens of a thousand descriptions. Here it is read once, at build time, and
//! laid out so that the tables can be searched where they lie in the binary:
//! nothing is unpacked, sorted or allocated at run time.
//!
//! The sets of characters come from the regular expression parser that the
//! reference tokenizers use, so the two cannot disagree about new characters.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use layout::{BLOCK_LENGTH, HOME_SLOTS, RANK_BITS, set};
use regex_syntax::hir::{Class, HirKind};

#[path = "src/tokens/layout.rs"]
mod layout;

/// What each bit of the character table stands for in the pattern.
const CHARACTER_SETS: [(u8, &str); 7] = [
    (set::LEAD, r"[^\r\n\p{L}\p{N}]"),
    (set::HEAD, r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"),
    (set::TAIL, r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"),
    (set::NUMBER, r"\p{N}"),
    (set::SYMBOL, r"[^\s\p{L}\p{N}]"),
    (set::SPACE, r"\s"),
    (set::BREAK, r"[\r\n]"),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/tokens/layout.rs");
    #[expect(clippy::disallowed_methods, reason = "Cargo tells build scripts where to write so")]
    let directory = std::env::var_os("OUT_DIR").ok_or("`OUT_DIR` is not set")?;
    let directory = Path::new(&directory);
    write_vocabulary(directory, &tokens()?)?;
    write_characters(directory)
}

/// The bytes of every ordinary token; the index is the rank.
fn tokens() -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let encoding = tiktoken::get_encoding("o200k_base").ok_or("the vocabulary is not there")?;
    let size = u32::try_from(encoding.vocab_size())?;
    let tokens: Vec<_> = (0..size).map(|rank| encoding.decode(&[rank])).collect();
    if tokens.iter().any(Vec::is_empty) || size >= 1 << RANK_BITS {
        return Err("the ranks of the vocabulary are not what the table expects".into());
    }
    Ok(tokens)
}

/// Writes the hash table, and the bytes of all tokens with where each ends.
///
/// Tokens lie in the order of their ranks, which is roughly the order of their
/// frequency: a short text touches few pages.
fn write_vocabulary(directory: &Path, tokens: &[Vec<u8>]) -> Result<(), Box<dyn Error>> {
    let mut slots = vec![0_u32; usize::try_from(HOME_SLOTS)?];
    let mut starts = vec![0_u32];
    let mut bytes = Vec::new();
    for (token, rank) in tokens.iter().zip(1_u32..) {
        bytes.extend_from_slice(token);
        starts.push(u32::try_from(bytes.len())?);
        insert(&mut slots, token, rank);
    }
    // A search that reaches the end must find an empty slot there.
    slots.push(0);
    fs::write(directory.join("slots.bin"), little_endian(&slots))?;
    fs::write(directory.join("starts.bin"), little_endian(&starts))?;
    fs::write(directory.join("bytes.bin"), bytes)?;
    Ok(())
}

/// Puts a token into the first empty slot from its home on, growing the table
/// at its end rather than wrapping around.
fn insert(slots: &mut Vec<u32>, token: &[u8], rank_plus_one: u32) {
    let place = layout::place(token);
    let value = place.tag << RANK_BITS | rank_plus_one;
    match slots[place.home..].iter_mut().find(|slot| **slot == 0) {
        Some(slot) => *slot = value,
        None => slots.push(value),
    }
}

fn little_endian(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Writes which sets each character belongs to, in two stages: the number of a
/// block for every [`BLOCK_LENGTH`] characters, and each distinct block once.
fn write_characters(directory: &Path) -> Result<(), Box<dyn Error>> {
    let mut sets = vec![0_u8; 0x11_0000];
    for (bit, pattern) in CHARACTER_SETS {
        for (first, last) in ranges(pattern)? {
            for sets in &mut sets[first as usize..=last as usize] {
                *sets |= bit;
            }
        }
    }
    let mut numbers: HashMap<&[u8], u8> = HashMap::new();
    let mut indices = Vec::new();
    let mut blocks = Vec::new();
    for block in sets.chunks(BLOCK_LENGTH) {
        let next = u8::try_from(numbers.len())?;
        let number = *numbers.entry(block).or_insert_with(|| {
            blocks.extend_from_slice(block);
            next
        });
        indices.push(number);
    }
    fs::write(directory.join("block_indices.bin"), indices)?;
    fs::write(directory.join("blocks.bin"), blocks)?;
    Ok(())
}

/// The characters a pattern for one character matches.
fn ranges(pattern: &str) -> Result<Vec<(char, char)>, Box<dyn Error>> {
    match regex_syntax::parse(pattern)?.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            Ok(class.iter().map(|range| (range.start(), range.end())).collect())
        }
        _ => Err(format!("`{pattern}` is not a set of characters").into()),
    }
}
