//! The memory that answers take, from the moment in which they are made until they are sent.
//!
//! A client that sends requests and reads no answers keeps them in memory, and so does a file that is read as a whole to
//! become an answer. Small answers are bounded by their number; larger ones count in bytes, for their token and for all tokens.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use thiserror::Error;

/// Bytes of the answers of all tokens together.
const MAX_BYTES: u64 = 256 << 20;
/// Bytes of the answers of one of several tokens, so that none takes all of it.
const MAX_TOKEN_BYTES: u64 = MAX_BYTES / 2;
/// Bytes up to which an answer is not counted: as many answers as may wait have room for that.
const UNCOUNTED: u64 = 256 << 10;

/// The memory that answers to the requests of one token may take.
#[derive(Clone, Debug)]
pub(crate) struct AnswerBudget {
    token: ByteBudget,
    /// What it shares with other tokens.
    all: ByteBudget,
}

/// A number of bytes that several may use.
#[derive(Clone, Debug)]
struct ByteBudget {
    used: Arc<AtomicU64>,
    most: u64,
}

/// An answer that has to wait for others to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "there is no room for an answer of {} KiB beside others of this token or of all tokens that wait to be read",
    .0.div_ceil(1 << 10)
)]
pub(crate) struct AnswerTooLarge(u64);

/// The memory of one answer, given back when the last copy of this is dropped.
#[derive(Clone, Debug)]
pub(crate) struct AnswerMemory(Arc<HeldBytes>);

#[derive(Debug)]
struct HeldBytes {
    budget: AnswerBudget,
    bytes: Mutex<u64>,
}

impl AnswerBudget {
    /// Returns a budget for each of several tokens.
    pub(crate) fn of_tokens(tokens: usize) -> Vec<Self> {
        let all = ByteBudget::new(MAX_BYTES);
        let most = if tokens > 1 { MAX_TOKEN_BYTES } else { MAX_BYTES };
        let budget = || Self { token: ByteBudget::new(most), all: all.clone() };
        std::iter::repeat_with(budget).take(tokens).collect()
    }

    /// Returns the memory of an answer, which holds nothing yet.
    pub(crate) fn answer(&self) -> AnswerMemory {
        AnswerMemory(Arc::new(HeldBytes { budget: self.clone(), bytes: Mutex::default() }))
    }

    fn take(&self, bytes: u64) -> bool {
        let taken = self.token.take(bytes);
        if taken && !self.all.take(bytes) {
            self.token.give_back(bytes);
            return false;
        }
        taken
    }

    fn give_back(&self, bytes: u64) {
        self.token.give_back(bytes);
        self.all.give_back(bytes);
    }
}

impl ByteBudget {
    fn new(most: u64) -> Self {
        Self { used: Arc::default(), most }
    }

    fn take(&self, bytes: u64) -> bool {
        let more = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.most);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl AnswerMemory {
    /// Holds as many bytes for the answer, instead of those that it held before.
    ///
    /// # Errors
    ///
    /// When they are not free. It holds what it held before then.
    pub(crate) fn hold(&self, bytes: u64) -> Result<(), AnswerTooLarge> {
        let HeldBytes { budget, bytes: held } = &*self.0;
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = if bytes > UNCOUNTED { bytes } else { 0 };
        if wanted > *held && !budget.take(wanted - *held) {
            return Err(AnswerTooLarge(bytes));
        }
        budget.give_back(held.saturating_sub(wanted));
        *held = wanted;
        Ok(())
    }

    /// Holds what an answer takes: its values, and their text when it is sent.
    ///
    /// # Errors
    ///
    /// See [`AnswerMemory::hold`].
    pub(crate) fn hold_answer(&self, answer: &impl Serialize) -> Result<(), AnswerTooLarge> {
        self.hold(json_bytes(answer).saturating_mul(2))
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        let held = *self.bytes.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.budget.give_back(held);
    }
}

/// Returns how many bytes a value has as JSON, which is not kept.
fn json_bytes(value: &impl Serialize) -> u64 {
    struct Counter(u64);
    impl Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    match serde_json::to_writer(&mut counter, value) {
        Ok(()) => counter.0,
        // It will not be sent.
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_nobody_reads_are_bounded_by_bytes() {
        let budgets = AnswerBudget::of_tokens(2);
        let mut waiting = Vec::new();
        let refused = loop {
            let answer = budgets[0].answer();
            match answer.hold(48 << 20) {
                Ok(()) => waiting.push(answer),
                Err(refused) => break refused,
            }
        };
        assert_eq!(waiting.len(), 2, "of 128 MiB");
        insta::assert_snapshot!(refused, @"there is no room for an answer of 49152 KiB beside others of this token or of all tokens that wait to be read");
        let others = [(); 3].map(|()| budgets[1].answer());
        let held = others.each_ref().map(|it| it.hold(48 << 20).is_ok());
        assert_eq!(held, [true, true, false], "another token has its own");
        waiting.pop();
        assert_eq!(budgets[0].answer().hold(48 << 20), Ok(()), "it was read");
    }

    #[test]
    fn all_tokens_together_have_a_bound_too() {
        let budgets = AnswerBudget::of_tokens(3);
        let answers: Vec<_> = budgets.iter().map(AnswerBudget::answer).collect();
        assert!(answers[0].hold(MAX_TOKEN_BYTES).is_ok());
        assert!(answers[1].hold(MAX_TOKEN_BYTES).is_ok());
        assert!(answers[2].hold(1 << 20).is_err());
        assert_eq!(answers[2].hold(UNCOUNTED), Ok(()), "small answers always have room");
        drop(answers);
        assert_eq!(budgets[0].all.used.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn an_answer_holds_what_it_was_last_said_to_take() {
        let budget = &AnswerBudget::of_tokens(1)[0];
        let answer = budget.answer();
        answer.hold(MAX_BYTES).expect("room");
        assert!(answer.hold(MAX_BYTES + 1).is_err());
        answer.hold(1 << 20).expect("less");
        let copy = answer.clone();
        drop(answer);
        assert_eq!(budget.token.used.load(Ordering::Relaxed), 1 << 20);
        drop(copy);
        assert_eq!(budget.token.used.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn an_answer_counts_as_json() {
        assert_eq!(json_bytes(&"a\u{1}\n"), r#""a\u0001\n""#.len() as u64);
    }
}
