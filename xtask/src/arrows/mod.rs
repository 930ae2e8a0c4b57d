//! Who may use whom: the arrows between the crates, as a table and a check.
//!
//! Arrows point down only, so a crate can be read, tested and replaced with
//! nothing but what is below it. Deciding is pure; reading the manifests is left
//! to cargo. Beside it stands the check of what only front ends do ([`front_end`]).

mod check;
mod front_end;
#[cfg(test)]
mod front_end_tests;
mod house;
mod lexer;
mod metadata;
#[cfg(test)]
mod tests;

pub(crate) use self::check::run;
