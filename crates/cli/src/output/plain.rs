//! Text from skills and files, made safe for a terminal.
//!
//! A skill must not be able to move the cursor, change the title, hide a line or reverse the order
//! of what a person reads.

use std::fmt::Write as _;

/// Text on one line, with everything that is not visible written out.
pub(crate) fn plain(text: &str) -> String {
    escaped(text, false)
}

/// Text of several lines, with tabs and line breaks kept.
pub(crate) fn plain_block(text: &str) -> String {
    escaped(text, true)
}

fn escaped(text: &str, keep_lines: bool) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if keep_lines && characters.peek() == Some(&'\n') => {}
            '\n' | '\t' if keep_lines => safe.push(character),
            _ if is_unsafe(character) => {
                let _infallible = write!(safe, "\\u{{{:x}}}", u32::from(character));
            }
            _ => safe.push(character),
        }
    }
    safe
}

fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_reaches_the_terminal_as_a_command() {
        assert_eq!(
            plain("a\u{1b}[31mb\r\n\u{202e}c\u{9b}2J"),
            "a\\u{1b}[31mb\\u{d}\\u{a}\\u{202e}c\\u{9b}2J"
        );
        assert_eq!(plain_block("a\tb\r\nc\u{7}"), "a\tb\nc\\u{7}");
        assert_eq!(plain("naïve 技能 👩‍💻"), "naïve 技能 👩‍💻");
    }
}
