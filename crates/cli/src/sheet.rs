//! What a person is shown who has to decide, at the terminal: every row has a word that says what it is.

use metier_agent::host::Sheet;

use crate::output::{Output, style, styled};

/// The key for an answer for good, which stands for the word at the terminal.
const ALWAYS: &str = "[a]";

/// Prints a question, for a person at the terminal.
pub(crate) fn print(sheet: &Sheet, output: Output) {
    output.insist(&styled(style::HEADING, &sheet.heading));
    for (name, text) in &sheet.rows {
        let name = if *name == "always" { ALWAYS } else { name };
        output.row(style::DIM, &format!("  {name:<6}"), text);
    }
}
