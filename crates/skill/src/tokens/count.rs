//! The count of a whole text: the sum over its pieces.

use super::merge::Merger;
use super::split::pieces;
use super::vocabulary::rank;

/// The name under which others know this way of counting.
pub const ENCODING: &str = "o200k_base";

/// Returns the number of tokens in a text.
///
/// Names of special tokens, such as `<|endoftext|>`, are ordinary text here.
/// The result is that of the reference tokenizer, except that a single piece
/// (a run without a place to cut, such as a million equal letters) longer than
/// a mebibyte is counted a mebibyte at a time. The work grows with the length
/// of the text times the logarithm of its longest piece.
#[must_use]
pub fn count(text: &str) -> usize {
    if is_word(text) && rank(text.as_bytes()).is_some() {
        return 1;
    }
    let mut merger = Merger::default();
    pieces(text).map(|piece| merger.count(piece.as_bytes())).sum()
}

/// Whether a text surely is one piece: small letters, perhaps with a space before them.
fn is_word(text: &str) -> bool {
    let letters = text.strip_prefix(' ').unwrap_or(text);
    letters.bytes().all(|byte| byte.is_ascii_lowercase())
}
