//! Guesses whether a program that has fallen silent waits for somebody, from what it wrote last.
//!
//! Pure, and only a guess: it is a hint for whoever reads the output.

use super::answer::{Interaction, InteractionKind};

/// Most of a line that is a hint, in characters.
pub(super) const MAX_HINT: usize = 200;

/// What asks for a number.
const SELECTIONS: [&str; 3] = ["enter the number", "choose a number", "select a number"];
/// What asks for something, wherever it is in a line.
const PHRASES: [&str; 4] = ["press enter", "type your", "[y/n]", "(y/n)"];
/// What a line ends with that waits for a command. Only a line without its end can be one: much
/// that is printed ends like this, too.
const SIGNS: [char; 8] = ['>', '$', '#', '%', '❯', '»', '›', '➜'];

/// The last lines of a program.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastLines<'a> {
    /// Lines that are over, oldest first.
    pub(super) ended: &'a [String],
    /// The one that is not.
    pub(super) open: &'a str,
}

/// What a program waits for, if it does.
pub(super) fn guess(lines: LastLines<'_>) -> Option<Interaction> {
    let is_open = !lines.open.trim().is_empty();
    let ended = lines.ended.iter().map(|line| line.trim());
    let last = if is_open {
        lines.open.trim()
    } else {
        ended.clone().rev().find(|line| !line.is_empty())?
    };
    let lower = last.to_lowercase();
    let choices = ended.chain([lines.open.trim()]).filter(|line| is_choice(line)).count();
    let kind = if choices >= 2 || SELECTIONS.iter().any(|phrase| lower.contains(phrase)) {
        InteractionKind::Selection
    } else if is_question(last, &lower) || (is_open && is_ready_sign(last)) {
        InteractionKind::Prompt
    } else {
        return None;
    };
    let hint = last.chars().take(MAX_HINT).collect();
    Some(Interaction { needs_input: true, kind, hint })
}

fn is_question(line: &str, lower: &str) -> bool {
    line.ends_with([':', '?', '：', '？']) || PHRASES.iter().any(|phrase| lower.contains(phrase))
}

/// The prompt of a shell or of an interpreter, `...` for a second line among them.
fn is_ready_sign(line: &str) -> bool {
    line.ends_with(SIGNS) || line == "..."
}

/// A line like `1. this` or `2) that`.
fn is_choice(line: &str) -> bool {
    let rest = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let digits = line.len() - rest.len();
    (1..=3).contains(&digits)
        && rest.starts_with(['.', ')'])
        && !rest[1..].starts_with(|next: char| next.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines as they were printed; the last one is open unless it is empty.
    fn outcome(printed: &str) -> String {
        let mut lines: Vec<String> = printed.split('\n').map(str::to_owned).collect();
        let open = lines.pop().unwrap_or_default();
        match guess(LastLines { ended: &lines, open: &open }) {
            Some(it) => format!("{:?} {}", it.kind, it.hint),
            None => "nothing".to_owned(),
        }
    }

    #[test]
    fn questions_and_signs_are_prompts() {
        for (printed, expected) in [
            ("Name: ", "Prompt Name:"),
            ("Name:\n\n", "Prompt Name:"),
            ("Go on? ", "Prompt Go on?"),
            (">>> ", "Prompt >>>"),
            ("bash-5.2$ ", "Prompt bash-5.2$"),
            ("Proceed [Y/n] ", "Prompt Proceed [Y/n]"),
            ("Press ENTER to go on", "Prompt Press ENTER to go on"),
            ("please type your name\n", "Prompt please type your name"),
        ] {
            assert_eq!(outcome(printed), expected, "{printed:?}");
        }
    }

    #[test]
    fn menus_are_selections() {
        for (printed, expected) in [
            ("1. tea\n2. coffee\nYour choice: ", "Selection Your choice:"),
            ("1) tea\n2) coffee\n#? ", "Selection #?"),
            ("Enter the number of a file\n", "Selection Enter the number of a file"),
            ("choose a number", "Selection choose a number"),
        ] {
            assert_eq!(outcome(printed), expected, "{printed:?}");
        }
    }

    #[test]
    fn other_lines_are_nothing() {
        for printed in
            ["", "\n", "done\n", "<p>\n", "100%\n", "Working...", "1.5\n2.5\n", "1. one\n"]
        {
            assert_eq!(outcome(printed), "nothing", "{printed:?}");
        }
    }

    #[test]
    fn hints_are_cut() {
        let long = format!("{}:", "é".repeat(300));
        assert_eq!(outcome(&long), format!("Prompt {}", "é".repeat(MAX_HINT)));
    }
}
