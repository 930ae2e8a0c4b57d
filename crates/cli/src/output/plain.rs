//! Text from skills and files, made safe for a terminal.
//!
//! A skill must not be able to move the cursor, change the title, hide a line or reverse the order
//! of what a person reads.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Text on one line, with everything that is not visible written out.
pub(crate) fn plain(text: &str) -> String {
    escaped(text, false)
}

/// Text of several lines, with tabs and line breaks kept.
pub(crate) fn plain_block(text: &str) -> String {
    escaped(text, true)
}

/// Plain text in lines of at most so many columns, broken at spaces.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut used = 0;
    for word in plain(text).split(' ') {
        let needed = word.width();
        if used > 0 && used + 1 + needed > width {
            lines.push('\n');
            used = 0;
        } else if used > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += needed;
    }
    lines
}

/// A line in columns of a terminal: what does not fit goes on below, set in, so that no part of a
/// name can look like a line of its own. It breaks after a blank where one is near the end, and
/// every blank stays, so that nothing is shown as two words that is one.
pub(crate) fn hanging(line: &str, width: usize, indent: usize) -> String {
    let mut text = String::with_capacity(line.len());
    let mut used = 0;
    // Where the last word of the row begins.
    let mut word = None;
    for character in line.chars() {
        let needed = character.width().unwrap_or_default();
        if used + needed > width {
            let near = width.saturating_sub(indent) / 2;
            let word = word.take().filter(|at| text[*at..].width() <= near);
            let rest = word.filter(|_| character != ' ').map(|at| text.split_off(at));
            let rest = rest.unwrap_or_default();
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            text.push_str(&rest);
            used = indent + rest.width();
        }
        text.push(character);
        used += needed;
        if character == ' ' {
            word = Some(text.len());
        }
    }
    text
}

fn escaped(text: &str, keep_lines: bool) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if keep_lines && characters.peek() == Some(&'\n') => {}
            '\n' | '\t' if keep_lines => safe.push(character),
            _ if is_unsafe(character) => write_out(character, &mut safe),
            _ => safe.push(character),
        }
    }
    safe
}

/// Whether a text can be shown as it is.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.chars().any(is_unsafe)
}

/// Writes a character as its number.
pub(super) fn write_out(character: char, to: &mut String) {
    let _infallible = write!(to, "\\u{{{:x}}}", u32::from(character));
}

/// Whether a character is not what it looks like, or drives a terminal.
pub(super) fn is_unsafe(character: char) -> bool {
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
    fn lines_break_at_spaces_and_by_columns() {
        assert_eq!(wrapped("one two three", 7), "one two\nthree");
        assert_eq!(wrapped("技能 技能", 5), "技能\n技能");
    }

    #[test]
    fn what_does_not_fit_goes_on_set_in() {
        assert_eq!(hanging("short", 5, 2), "short");
        assert_eq!(hanging("a long name", 6, 2), "a long\n   nam\n  e");
        assert_eq!(hanging("技能技能", 5, 2), "技能\n  技\n  能");
    }

    #[test]
    fn a_line_goes_on_with_a_whole_word_if_that_is_not_too_long() {
        assert_eq!(hanging("run one two three", 12, 2), "run one two \n  three");
        assert_eq!(hanging("run one twofold", 12, 2), "run one \n  twofold");
        assert_eq!(hanging("run onetwothree", 12, 2), "run onetwoth\n  ree");
        assert_eq!(hanging("run one four five", 12, 2), "run one four\n   five");
    }

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
