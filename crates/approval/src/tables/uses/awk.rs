//! Scripts of `awk` that only choose, count and print.
//!
//! The language starts programs by `system` and by pipes, writes by `print` with `>` and reads by `getline`. A script
//! without any of the signs and words for that cannot.

use crate::tables::options::{NONE, Options, Order};

/// A separator and variables. Not `-f`, `-i`, `-l`, `-E`, which read scripts and load code.
const AWK: Options = Options { valued: "Fv", ..NONE };
/// Signs by which a script can do more than print: pipes, libraries and functions by name.
const SIGNS: [char; 2] = ['|', '@'];
/// Words of the language that start or read something. What contains one is not harmless, wherever it stands.
const WORDS: [&str; 2] = ["system", "getline"];

/// Whether `awk` is told nothing but to choose, count and print.
pub(super) fn is_harmless(arguments: &[String]) -> bool {
    let Ok(given) = AWK.read(arguments, Order::First) else { return false };
    let Some(script) = given.operands.first() else { return false };
    // Behind the script are files and `name=value`; some versions go on reading options there.
    let after = arguments.get(given.before + 1..).unwrap_or_default();
    !script.contains(SIGNS)
        && !script.contains("\\\n")
        && !may_write(script)
        && !WORDS.iter().any(|word| script.contains(word))
        && !after.iter().any(|word| word.starts_with('-') && word != "-")
}

/// Whether a script may write a file. What stands before all actions is a condition, in which nothing is printed, so that
/// `>` compares there, as it does in a script that prints nothing by that word.
fn may_write(script: &str) -> bool {
    let actions = script.find('{').map_or("", |begin| &script[begin..]);
    actions.contains('>') && script.contains("print")
}
