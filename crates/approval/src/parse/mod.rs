//! From text to a plan, and back.
//!
//! A command is read by the rules of the shell: tokens as POSIX recognises them, with what bash adds, from
//! left to right, once. What comes out is a plan only if bash would do exactly that; anything
//! that bash decides while it runs (expansions, substitutions, patterns, jobs, its own commands) is named and refused, and
//! so is what it would reject. In doubt a text is refused.
//!
//! - [`lexer`] cuts the text into words and operators; [`word`] takes the quotes off.
//! - [`grammar`] puts commands together; [`names`] knows which words are no programs.
//! - [`folders`] follows `cd`.
//! - [`render`] writes plans as text that is read as the same plan.
//!
//! Every byte is looked at a bounded number of times, nothing recurses, and everything is counted.

mod folders;
mod grammar;
mod lexer;
mod names;
mod problem;
mod render;
#[cfg(test)]
mod tests;
mod word;

pub use grammar::{MAX_BYTES, MAX_COMMANDS, MAX_VARIABLES, MAX_WORDS, parse};
pub use problem::NotAnalysable;
pub use render::quote;
