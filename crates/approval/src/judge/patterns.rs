//! Patterns of arguments, compared in bounded time.

use std::cell::OnceCell;

use regex_lite::{Regex, RegexBuilder};

use super::paths::Budget;

/// Longest pattern of arguments.
const MAX_LENGTH: usize = 1024;
/// Longest arguments that are compared with a pattern.
const MAX_ARGUMENTS: usize = 4 << 10;
/// How much memory patterns take, and what comparing a byte with such a pattern costs. Larger ones are not read.
const SIZES: &[(usize, usize)] = &[(1 << 10, 1), (4 << 10, 4), (16 << 10, 16), (64 << 10, 64)];
/// What comparing may cost, for one verdict.
const MAX_COST: usize = 512 << 10;

/// Patterns of arguments, each read when it is first needed.
pub(super) struct Patterns {
    read: Vec<OnceCell<Option<Pattern>>>,
    budget: Budget,
}

/// A pattern of arguments.
pub(super) struct Pattern {
    regex: Regex,
    cost: usize,
}

impl Patterns {
    pub(super) fn new(count: usize) -> Self {
        let read = (0..count).map(|_| OnceCell::new()).collect();
        Self { read, budget: Budget::new(MAX_COST) }
    }

    /// Whether arguments match a pattern; none if it cannot be read.
    pub(super) fn is_match(&self, place: usize, text: &str, arguments: &str) -> Option<bool> {
        let pattern = self.read.get(place)?.get_or_init(|| read(text)).as_ref()?;
        let cost = pattern.cost * (arguments.len() + 1);
        Some(
            arguments.len() <= MAX_ARGUMENTS
                && self.budget.spend(cost)
                && pattern.regex.is_match(arguments),
        )
    }

    /// Whether nothing more is compared.
    pub(super) fn is_spent(&self) -> bool {
        self.budget.is_spent()
    }
}

/// A pattern for all the arguments. It must be one by itself, so that no sign in it ends the group around it.
pub(super) fn read(text: &str) -> Option<Pattern> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    let (most, _) = SIZES.last()?;
    let build = |text: &str, most: usize| RegexBuilder::new(text).size_limit(most).build().ok();
    build(text, *most)?;
    let whole = format!(r"\A(?:{text})\z");
    SIZES
        .iter()
        .find_map(|(most, cost)| build(&whole, *most).map(|regex| Pattern { regex, cost: *cost }))
}
