//! What a program writes, as a terminal may have it.
//!
//! Text and colours pass, and so does what a progress bar does to its own line. Whatever else would
//! drive the terminal is written out instead: titles, the clipboard, other screens, lines further
//! up, and questions that a terminal answers as if somebody had typed. Fonts are left out.

use super::plain::{is_unsafe, write_out};
use super::rendition::passing_rendition;

/// Longest sequence that is waited for.
const MAX_SEQUENCE: usize = 64;
/// Ends of sequences that stay in their line: erase, go to a column, right, left.
const MOVES: [char; 4] = ['K', 'G', 'C', 'D'];

/// What a terminal does with sequences.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abilities {
    /// It shows colours, and is wanted to.
    pub colors: bool,
    /// It can move within a line.
    pub moves: bool,
}

/// One stream on its way to a terminal, in whatever pieces it comes.
#[derive(Debug)]
pub(crate) struct Screen {
    abilities: Abilities,
    /// Bytes of a character that has not come in full.
    partial: Vec<u8>,
    /// A sequence that has not come in full.
    sequence: String,
    is_colored: bool,
    is_at_start: bool,
}

impl Screen {
    /// A stream that has written nothing yet.
    pub(crate) fn new(abilities: Abilities) -> Self {
        let (partial, sequence) = (Vec::new(), String::new());
        Self { abilities, partial, sequence, is_colored: false, is_at_start: true }
    }

    /// Whether the stream has left a colour on.
    pub(crate) fn is_colored(&self) -> bool {
        self.is_colored
    }

    /// Whether the stream is at the beginning of a line.
    pub(crate) fn is_at_start(&self) -> bool {
        self.is_at_start
    }

    /// What may go to the terminal of the next bytes.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.partial);
        all.extend_from_slice(bytes);
        let mut shown = String::with_capacity(all.len());
        let mut rest = &all[..];
        while !rest.is_empty() {
            let (valid, invalid) = match std::str::from_utf8(rest) {
                Ok(text) => (text.len(), Some(0)),
                Err(error) => (error.valid_up_to(), error.error_len()),
            };
            let (text, after) = rest.split_at(valid);
            String::from_utf8_lossy(text).chars().for_each(|it| self.take(it, &mut shown));
            let Some(invalid) = invalid else {
                after.clone_into(&mut self.partial);
                break;
            };
            if invalid > 0 {
                self.take(char::REPLACEMENT_CHARACTER, &mut shown);
            }
            rest = &after[invalid..];
        }
        shown
    }

    /// What is left when nothing more comes.
    pub(crate) fn end(&mut self) -> String {
        let mut shown = String::new();
        if !std::mem::take(&mut self.partial).is_empty() {
            self.take(char::REPLACEMENT_CHARACTER, &mut shown);
        }
        self.give_up(&mut shown);
        shown
    }

    fn take(&mut self, character: char, shown: &mut String) {
        if !self.sequence.is_empty() {
            return self.go_on(character, shown);
        }
        match character {
            '\u{1b}' => self.sequence.push(character),
            '\n' | '\r' | '\t' | '\u{8}' => shown.push(character),
            _ if is_unsafe(character) => write_out(character, shown),
            _ => shown.push(character),
        }
        if character != '\u{1b}' {
            self.is_at_start = character == '\n';
        }
    }

    /// Goes on with a sequence that has begun.
    fn go_on(&mut self, character: char, shown: &mut String) {
        let is_number = matches!(character, '0'..='9' | ';' | ':');
        match (self.sequence.len(), character) {
            (1, '[') => self.sequence.push('['),
            (2..MAX_SEQUENCE, _) if is_number => self.sequence.push(character),
            (2.., 'm') => {
                let sequence = std::mem::take(&mut self.sequence);
                let passing = passing_rendition(&sequence[2..]).filter(|_| self.abilities.colors);
                if let Some(parameters) = passing {
                    self.is_colored = !matches!(&*parameters, "" | "0");
                    shown.push_str(&format!("\u{1b}[{parameters}m"));
                }
            }
            (2.., last) if MOVES.contains(&last) => {
                let sequence = std::mem::take(&mut self.sequence);
                if self.abilities.moves {
                    self.is_at_start = false;
                    shown.push_str(&sequence);
                    shown.push(last);
                }
            }
            _ => {
                self.give_up(shown);
                self.take(character, shown);
            }
        }
    }

    /// Writes out what turned out not to be a sequence that passes.
    fn give_up(&mut self, shown: &mut String) {
        for character in std::mem::take(&mut self.sequence).chars() {
            self.is_at_start = false;
            if is_unsafe(character) { write_out(character, shown) } else { shown.push(character) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Abilities = Abilities { colors: true, moves: true };

    fn shown(text: &str, abilities: Abilities) -> String {
        let mut screen = Screen::new(abilities);
        let mut shown = screen.pass(text.as_bytes());
        shown.push_str(&screen.end());
        let mut again = Screen::new(abilities);
        let pieces = text.bytes().map(|byte| again.pass(&[byte])).collect::<String>();
        assert_eq!(pieces + &again.end(), shown, "it does not matter in which pieces it comes");
        shown
    }

    #[test]
    fn text_colours_and_progress_bars_pass() {
        for text in [
            "a\tb\nnaïve 技能 👩‍💻\n",
            "\u{1b}[1;31mred\u{1b}[0m and \u{1b}[38;2;1;2;3mmore\u{1b}[m",
            " 10%\r 20%\u{1b}[K\u{8}\u{1b}[2K\u{1b}[5G\u{1b}[3D\u{1b}[C",
        ] {
            assert_eq!(shown(text, ALL), text);
        }
    }

    #[test]
    fn fonts_are_left_out() {
        assert_eq!(
            shown("\u{1b}[11ma\u{1b}[1;12;38;5;11mb\u{1b}[m", ALL),
            "a\u{1b}[1;38;5;11mb\u{1b}[m"
        );
        let mut screen = Screen::new(ALL);
        screen.pass(b"\x1b[31ma\x1b[0;11m");
        assert!(!screen.is_colored());
    }

    #[test]
    fn what_drives_the_terminal_is_written_out() {
        let cases = [
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("\u{1b}]52;c;cm0=\u{1b}\\", "\\u{1b}]52;c;cm0=\\u{1b}\\"),
            ("\u{1b}[6n\u{1b}[c", "\\u{1b}[6n\\u{1b}[c"),
            ("\u{1b}[2A\u{1b}[H\u{1b}[2J", "\\u{1b}[2A\\u{1b}[H\\u{1b}[2J"),
            ("\u{1b}[?1049h\u{1b}[?25l", "\\u{1b}[?1049h\\u{1b}[?25l"),
            ("\u{1b}c\u{1b}(0\u{e}", "\\u{1b}c\\u{1b}(0\\u{e}"),
            ("\u{9b}2J\u{202e}", "\\u{9b}2J\\u{202e}"),
            ("\u{1b}\u{1b}[31m", "\\u{1b}\u{1b}[31m"),
            ("\u{1b}[3\nA", "\\u{1b}[3\nA"),
            ("\u{1b}P", "\\u{1b}P"),
            ("cut \u{1b}[3", "cut \\u{1b}[3"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text, ALL), expected);
        }
        let long = format!("\u{1b}[{}m", "1;".repeat(100));
        assert!(shown(&long, ALL).starts_with("\\u{1b}[1;1;"));
    }

    #[test]
    fn a_terminal_that_cannot_or_shall_not_gets_text_alone() {
        let nothing = Abilities { colors: false, moves: false };
        assert_eq!(shown("\u{1b}[31ma\u{1b}[K\u{1b}[0mb", nothing), "ab");
        let moves = Abilities { colors: false, moves: true };
        assert_eq!(shown("\u{1b}[31ma\u{1b}[K", moves), "a\u{1b}[K");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let mut screen = Screen::new(ALL);
        assert_eq!(screen.pass(b"a\xff\x9b2J\xc3"), "a\u{fffd}\u{fffd}2J");
        assert_eq!(screen.pass(b"\xa9\xe2\x82"), "é");
        assert_eq!(screen.end(), "\u{fffd}");
    }

    #[test]
    fn the_place_in_the_line_is_known() {
        let at_start = |text: &str| {
            let mut screen = Screen::new(ALL);
            screen.pass(text.as_bytes());
            screen.is_at_start()
        };
        assert!(at_start("") && at_start("a\n") && at_start("a\n\u{1b}[31m"));
        assert!(!at_start("a") && !at_start("a\r") && !at_start("\n\u{1b}[9C"));
    }
}
