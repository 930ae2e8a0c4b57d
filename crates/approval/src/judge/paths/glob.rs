//! Patterns of names and paths, compared in bounded time.

use std::cell::Cell;

/// Most signs of a pattern that stand for others.
const MAX_WILDCARDS: usize = 16;
/// Longest pattern.
const MAX_LENGTH: usize = 4096;

/// A pattern of names or paths.
#[derive(Debug)]
pub(in crate::judge) struct Glob(Vec<Sign>);

/// A sign of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// This character.
    This(char),
    /// `?`: a character other than `/`.
    One,
    /// `*`: any of those.
    Some,
    /// `**`: any characters.
    All,
}

/// Work that may still be done.
#[derive(Debug)]
pub(in crate::judge) struct Budget(Cell<usize>);

impl Budget {
    pub(in crate::judge) fn new(most: usize) -> Self {
        Self(Cell::new(most))
    }

    /// Whether so much may be done. Once it may not, nothing may.
    pub(in crate::judge) fn spend(&self, work: usize) -> bool {
        let left = self.0.get().saturating_sub(work);
        self.0.set(left);
        left > 0
    }

    pub(in crate::judge) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

impl Glob {
    /// A pattern in which `*` and `?` stand for signs other than `/`, and with paths `**` for all. None if it is
    /// too large to be compared.
    pub(in crate::judge) fn new(pattern: &str, is_path: bool) -> Option<Self> {
        if pattern.len() > MAX_LENGTH {
            return None;
        }
        let mut signs = Vec::with_capacity(pattern.len());
        for character in pattern.chars() {
            match (character, signs.last_mut()) {
                ('*', Some(last @ (Sign::Some | Sign::All))) if is_path => *last = Sign::All,
                ('*', Some(Sign::Some)) => {}
                ('*', _) => signs.push(Sign::Some),
                ('?', _) => signs.push(Sign::One),
                (other, _) => signs.push(Sign::This(other)),
            }
        }
        let wildcards = signs.iter().filter(|sign| !matches!(sign, Sign::This(_))).count();
        (wildcards <= MAX_WILDCARDS).then_some(Self(signs))
    }

    /// Whether a text is one of the pattern. Each star takes as little as it can, and only the last of its sort
    /// ever takes more: an earlier one could reach nothing that this one does not.
    pub(in crate::judge) fn is_like(&self, text: &[char], budget: &Budget) -> bool {
        if let (Some(Sign::This(end)), last) = (self.0.last(), text.last())
            && last != Some(end)
        {
            budget.spend(1);
            return false;
        }
        let (mut at, mut place) = (0, 0);
        // Where the pattern goes on behind a star, and how far that has reached.
        let mut some: Option<(usize, usize)> = None;
        let mut all: Option<(usize, usize)> = None;
        while budget.spend(1) {
            match (self.0.get(at), text.get(place)) {
                (None, None) => return true,
                (Some(Sign::Some), _) => {
                    at += 1;
                    some = Some((at, place));
                    continue;
                }
                (Some(Sign::All), _) => {
                    at += 1;
                    (some, all) = (None, Some((at, place)));
                    continue;
                }
                (Some(Sign::One), Some(character)) if *character != '/' => {
                    (at, place) = (at + 1, place + 1);
                    continue;
                }
                (Some(Sign::This(this)), Some(character)) if this == character => {
                    (at, place) = (at + 1, place + 1);
                    continue;
                }
                _ => {}
            }
            let is_within = |reach: usize| text.get(reach).is_some_and(|sign| *sign != '/');
            if let Some((behind, reach)) = some.filter(|(_, reach)| is_within(*reach)) {
                (at, place) = (behind, reach + 1);
                some = Some((at, place));
            } else if let Some((behind, reach)) = all.filter(|(_, reach)| *reach < text.len()) {
                (at, place) = (behind, reach + 1);
                (some, all) = (None, Some((at, place)));
            } else {
                return false;
            }
        }
        false
    }
}
