//! What each rule means, with an example that breaks it and one that keeps it.
//!
//! There is one text for each code, `texts/M001.txt` and so on: first what the rule means and why it
//! matters, then the parts of the two examples. A part begins with a line of its own:
//!
//! - `=== bad PATH` and `=== good PATH`: a file, with the lines that follow. In them `\u{200B}` stands for a character, `\xE9` for a byte,
//!   and `… 500 more lines like this one` for copies of the line above. Paths begin in the folder where
//!   commands are run, or with `~/` in the home directory.
//! - `=== bad PATH -> TARGET`: a symlink.
//! - `=== bad $`: commands that show the difference, one a line. Without them it is [`LINT`].
//!
//! The texts are part of the program: a code without one does not compile. The tests of the command
//! line write each example to a folder and run its commands.

mod example;
mod read;
#[cfg(test)]
mod tests;

pub use example::{Content, Example, ExampleFile, LINT};
pub use read::explain;

use crate::diagnostic::Code;

/// What a rule means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The rule.
    pub code: Code,
    /// What it means and why it matters, in a few sentences.
    pub meaning: &'static str,
    /// What breaks it.
    pub bad: Example,
    /// What keeps it.
    pub good: Example,
}
