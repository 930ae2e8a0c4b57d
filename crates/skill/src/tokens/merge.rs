//! Joins the bytes of a piece into tokens and counts them.
//!
//! Of all neighbours that together are a token, the two whose token has the
//! lowest rank are joined, the leftmost first, until no two can be. Short
//! pieces, nearly all of them, look at every neighbour for each step and need
//! no memory but the stack. Longer ones keep the candidates in a heap, so that
//! a hostile file costs little more per byte than a friendly one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocabulary::rank;

/// Longest piece, in bytes, whose parts are on the stack and searched in turn.
const SHORT_PIECE: usize = 32;

/// Longest piece, in bytes, that is merged as a whole.
///
/// No text that someone wrote has such pieces. The limit bounds the memory to
/// some thirty mebibytes and lets positions be 32 bits wide.
const LONG_PIECE: usize = 1 << 20;

/// Stands for two neighbours that are not a token together.
const NO_TOKEN: u32 = u32::MAX;

/// Counts the tokens of pieces and keeps its memory for the next long one.
#[derive(Debug, Default)]
pub(crate) struct Merger {
    parts: Vec<Part>,
    candidates: BinaryHeap<Reverse<Candidate>>,
}

/// Bytes that are joined already. Its index is where they start.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    /// Where the part before starts.
    previous: u32,
    /// Where the part after starts, or the end of the piece.
    next: u32,
    /// Rank of this part joined with the next one.
    rank: u32,
}

/// Two neighbours that could be joined; those to join first are the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    rank: u32,
    start: u32,
}

impl Merger {
    /// Returns the number of tokens in a piece of a text.
    pub(crate) fn count(&mut self, piece: &[u8]) -> usize {
        if rank(piece).is_some() {
            return 1;
        }
        if piece.len() <= SHORT_PIECE {
            return count_short(piece);
        }
        piece.chunks(LONG_PIECE).map(|chunk| self.count_long(chunk)).sum()
    }

    fn count_long(&mut self, piece: &[u8]) -> usize {
        self.parts.clear();
        self.parts.resize(piece.len(), Part::default());
        separate(&mut self.parts, piece);
        self.candidates
            .extend((0..).zip(&self.parts).filter_map(|(start, part)| part.candidate(start)));

        let mut count = piece.len();
        while let Some(Reverse(candidate)) = self.candidates.pop() {
            let start = candidate.start;
            // Parts change after they became candidates; only the latest rank counts.
            if self.parts[start as usize].rank != candidate.rank {
                continue;
            }
            join(&mut self.parts, piece, start);
            count -= 1;
            let part = self.parts[start as usize];
            self.candidates.extend(part.candidate(start));
            if start > 0 {
                let previous = self.parts[part.previous as usize];
                self.candidates.extend(previous.candidate(part.previous));
            }
        }
        count
    }
}

impl Part {
    /// This part with the next one, if they can be joined.
    fn candidate(self, start: u32) -> Option<Reverse<Candidate>> {
        (self.rank != NO_TOKEN).then_some(Reverse(Candidate { rank: self.rank, start }))
    }
}

/// Counts the tokens of a piece of at most [`SHORT_PIECE`] bytes.
fn count_short(piece: &[u8]) -> usize {
    let mut parts = [Part::default(); SHORT_PIECE];
    let parts = &mut parts[..piece.len()];
    separate(parts, piece);
    let mut count = piece.len();
    while let Some(start) = lowest(parts) {
        join(parts, piece, start);
        count -= 1;
    }
    count
}

/// The leftmost part that has the lowest rank together with the next one.
fn lowest(parts: &[Part]) -> Option<u32> {
    let (start, part) = (0..).zip(parts).min_by_key(|(_, part)| part.rank)?;
    (part.rank != NO_TOKEN).then_some(start)
}

/// Makes every byte a part.
fn separate(parts: &mut [Part], piece: &[u8]) {
    for (start, part) in (0..).zip(parts.iter_mut()) {
        *part = Part { previous: start - u32::from(start > 0), next: start + 1, rank: NO_TOKEN };
    }
    for (part, pair) in parts.iter_mut().zip(piece.windows(2)) {
        part.rank = rank(pair).unwrap_or(NO_TOKEN);
    }
}

/// Joins a part with the next one, and ranks it and the one before it anew.
fn join(parts: &mut [Part], piece: &[u8], start: u32) {
    let part = parts[start as usize];
    let removed = &mut parts[part.next as usize];
    removed.rank = NO_TOKEN;
    let next = removed.next;
    if let Some(after) = parts.get_mut(next as usize) {
        after.previous = start;
    }
    parts[start as usize].next = next;
    parts[start as usize].rank = rank_with_next(parts, piece, start);
    if start > 0 {
        parts[part.previous as usize].rank = rank_with_next(parts, piece, part.previous);
    }
}

/// The rank of a part joined with the next one.
fn rank_with_next(parts: &[Part], piece: &[u8], start: u32) -> u32 {
    let next = parts[start as usize].next;
    let Some(last) = parts.get(next as usize) else {
        return NO_TOKEN;
    };
    rank(&piece[start as usize..last.next as usize]).unwrap_or(NO_TOKEN)
}
