//! How many tokens a text costs a model.
//!
//! Counts with the `o200k_base` vocabulary. It is exact for the models that use
//! that vocabulary and an estimate for all others; scaling the estimate, saying
//! that it is one, and asking a provider for the true number belong to callers.
//!
//! A text is cut into pieces by a fixed pattern (`split`), and the bytes of a
//! piece are joined into tokens (`merge`), the lowest rank of the `vocabulary`
//! first. The vocabulary is laid out at build time (`layout`) and read where it
//! lies in the binary, so the first count of a process costs no more than the
//! next one, and short texts are counted without allocating.

mod count;
mod layout;
mod merge;
mod split;
#[cfg(test)]
mod tests;
mod vocabulary;

pub use count::{ENCODING, count};
pub(crate) use split::pieces;
