//! The text of an error of a program that uses the crate, for a model or a person who sees nothing else of it.

use std::error::Error;

/// Returns the text of an error, followed by those of its causes that it does not have itself.
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let why = error.to_string();
        // Some say themselves what caused them.
        if !text.contains(&why) {
            text.push_str(&format!(": {why}"));
        }
        cause = error.source();
    }
    text
}
