//! Calls of tools as models and servers really write them.
//!
//! Everything here is pure. A reply's calls are tidied once, when the reply is whole: names become
//! those of existing tools, missing ids are made, arguments that are nearly JSON are mended where
//! there is only one way to read them, repetitions are left out, and a reply that is nothing but
//! the JSON of a call becomes that call. A conversation is tidied before it is sent: every call
//! is followed by its result, every result follows its call. What is not clear stays as it is.

mod names;
mod pairs;
mod repair;
mod spelling;
mod tidy;

pub(crate) use names::resolve;
pub(crate) use pairs::pair;
pub(crate) use repair::Ending;
pub(crate) use spelling::{Spelled, read, unquoted};
pub(crate) use tidy::{Tidy, made_id, names, tidy};
