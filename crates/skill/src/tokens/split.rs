//! Cuts a text into the pieces that tokens never cross.
//!
//! The vocabulary was made with this pattern, tried in order at each place:
//!
//! ```text
//! LEAD? HEAD* TAIL+ (?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! LEAD? HEAD+ TAIL* (?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! NUMBER{1,3}
//! " "? SYMBOL+ [\r\n/]*
//! SPACE* BREAK+
//! SPACE+ (?!\S)
//! SPACE+
//! ```
//!
//! where the capitals are the [sets](super::layout::set) of characters, which
//! overlap: marks are in four of them. One function here stands for each line
//! or pair of lines, and says where its longest match ends after the
//! backtracking a regular expression would do. Every character is in the first
//! set of some line, so pieces follow each other without gaps. No function
//! looks at a character more than a fixed number of times over the whole text.

use super::layout::{BLOCK_LENGTH, set};

/// The block of each [`BLOCK_LENGTH`] characters.
static BLOCK_INDICES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/block_indices.bin"));
/// The sets of each character of each distinct block; ASCII comes first.
static BLOCKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/blocks.bin"));

/// Returns the pieces of a text, in order and without gaps.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = Character::at(rest, 0)?;
        let (piece, after) = rest.split_at(piece_end(rest, first));
        rest = after;
        Some(piece)
    })
}

/// A character as far as the pattern cares.
#[derive(Clone, Copy)]
struct Character {
    sets: u8,
    end: usize,
}

impl Character {
    /// The character that starts at a position, if the text goes on there.
    #[inline]
    fn at(text: &str, start: usize) -> Option<Self> {
        let byte = *text.as_bytes().get(start)?;
        if byte.is_ascii() {
            return Some(Self { sets: BLOCKS[usize::from(byte)], end: start + 1 });
        }
        Self::beyond_ascii(text, start)
    }

    fn beyond_ascii(text: &str, start: usize) -> Option<Self> {
        let character = text[start..].chars().next()?;
        let number = character as usize;
        let block = usize::from(BLOCK_INDICES[number / BLOCK_LENGTH]);
        let sets = BLOCKS[block * BLOCK_LENGTH + number % BLOCK_LENGTH];
        Some(Self { sets, end: start + character.len_utf8() })
    }

    fn is(self, set: u8) -> bool {
        self.sets & set != 0
    }
}

/// Where the piece ends that starts with the first character of a text.
fn piece_end(text: &str, first: Character) -> usize {
    if let Some(end) = word_end(text, first) {
        return contraction_end(text, end);
    }
    if first.is(set::NUMBER) {
        return number_end(text, first);
    }
    symbols_end(text, first).unwrap_or_else(|| space_end(text))
}

/// The first two lines of the pattern, without the contraction.
fn word_end(text: &str, first: Character) -> Option<usize> {
    let start = if first.is(set::LEAD) { first.end } else { 0 };
    match letters(text, start) {
        Letters::Word(end) => Some(end),
        // A mark that leads no word is one itself, and the line which says so comes first.
        _ if first.is(set::LEAD) && first.is(set::TAIL) => Some(first.end),
        Letters::Capitals(end) => Some(end),
        Letters::None => None,
    }
}

/// How the letters from a position on match.
enum Letters {
    /// The first line matches up to here.
    Word(usize),
    /// Only the second line matches, up to here.
    Capitals(usize),
    /// Neither does.
    None,
}

fn letters(text: &str, start: usize) -> Letters {
    let mut end = start;
    let mut last_in_both = None;
    while let Some(character) = Character::at(text, end) {
        if !character.is(set::HEAD) {
            if character.is(set::TAIL) {
                return Letters::Word(run_end(text, character.end, set::TAIL));
            }
            break;
        }
        end = character.end;
        if character.is(set::TAIL) {
            last_in_both = Some(end);
        }
    }
    // `HEAD*` took everything; it gives back up to the last character that `TAIL+` can take.
    match last_in_both {
        Some(end) => Letters::Word(end),
        None if end > start => Letters::Capitals(end),
        None => Letters::None,
    }
}

/// Where the contraction ends that starts at a position; the position if there is none.
fn contraction_end(text: &str, start: usize) -> usize {
    let Some(rest) = text.as_bytes()[start..].strip_prefix(b"'") else {
        return start;
    };
    let letters = match rest {
        [b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => 1,
        [b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..] => 2,
        [b'l' | b'L', b'l' | b'L', ..] => 2,
        // The long `ſ` is a lower-case `S` as well.
        [0xc5, 0xbf, ..] => 2,
        _ => return start,
    };
    start + 1 + letters
}

/// Up to three numbers.
fn number_end(text: &str, first: Character) -> usize {
    let mut end = first.end;
    for _ in 1..3 {
        match Character::at(text, end).filter(|next| next.is(set::NUMBER)) {
            Some(next) => end = next.end,
            None => break,
        }
    }
    end
}

/// Symbols, perhaps after one space, with line breaks and slashes that follow.
fn symbols_end(text: &str, first: Character) -> Option<usize> {
    let symbol = if text.starts_with(' ') { Character::at(text, first.end)? } else { first };
    if !symbol.is(set::SYMBOL) {
        return None;
    }
    let end = run_end(text, symbol.end, set::SYMBOL);
    let follows = |byte: &&u8| matches!(byte, b'\r' | b'\n' | b'/');
    Some(end + text.as_bytes()[end..].iter().take_while(follows).count())
}

/// White space: up to its last line break, or else all of it, but the last
/// character stays for the word after it if there are others.
fn space_end(text: &str) -> usize {
    let mut after_break = None;
    let mut before_last = 0;
    let mut end = 0;
    while let Some(character) = Character::at(text, end).filter(|next| next.is(set::SPACE)) {
        before_last = end;
        end = character.end;
        if character.is(set::BREAK) {
            after_break = Some(end);
        }
    }
    match after_break {
        Some(end) => end,
        None if end == text.len() || before_last == 0 => end,
        None => before_last,
    }
}

/// Where the run of characters of a set ends.
fn run_end(text: &str, start: usize, set: u8) -> usize {
    let mut end = start;
    while let Some(character) = Character::at(text, end).filter(|next| next.is(set)) {
        end = character.end;
    }
    end
}

#[cfg(test)]
mod tests;
