//! What an Agent Skill is, where skills are, which are usable, and what a model is told of them.
//!
//! - [`header`] reads a `SKILL.md`; [`diagnostic`] is what can be wrong with one; [`fix`] mends it.
//! - [`files`] lists a skill's folder, reads its docs and makes its digest.
//! - [`discover`] finds skills in roots; [`library`] chooses and judges them; [`catalog`] tells a
//!   model about them; [`search`] finds the ones that are not told.
//! - [`remote`] is about skills that other servers offer.
//! - [`lint`] looks at whole skills; [`examples`] finds the commands they show; [`archive`] unpacks
//!   archives of them; [`install`] plans how to get the programs they need.
//! - [`mod@reference`] judges in the words of the format's reference tool.
//!
//! Everything is synchronous, prints nothing, and is given what it must know: no environment
//! variable is read and no home directory is known here.

pub mod archive;
pub mod catalog;
pub mod diagnostic;
pub mod discover;
pub mod examples;
pub mod files;
pub mod fix;
pub mod header;
pub mod install;
pub mod library;
pub mod lint;
pub mod name;
pub mod problem;
pub mod reference;
pub mod remote;
pub mod search;
pub mod text;
pub mod tokens;

mod cache;
#[cfg(test)]
mod scratch;
