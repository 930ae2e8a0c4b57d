//! Code that a model wrote into its reply instead of calling a tool.
//!
//! Somebody has to switch on that it is run. Even then only one block is, whole and in a language that is
//! known: which of several was meant, or what was cut off, is not for this program to guess. Finding the
//! block is pure; running it belongs to the [runner](crate::runner).

use metier_session::content::AssistantMessage;

/// Why an event is there that says what came of code.
pub const CAUSE: &str = "code";
/// The field of such an event with the same for renderers.
pub const STRUCTURED: &str = "structured";
/// The field with the name of the type of that.
pub const RESULT_TYPE: &str = "result_type";
/// The largest block that is run, in bytes: it is handed over in a variable, which systems bound.
const MAX_BYTES: usize = 100_000;
/// Most spaces before a fence; with more it is an indented block.
const MAX_INDENT: usize = 3;
/// Fewest characters of a fence.
const MIN_FENCE: usize = 3;

/// A block of code that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Its language.
    pub language: Language,
    /// Its lines.
    pub text: String,
}

/// A language that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// A shell.
    Bash,
    /// Python.
    Python,
}

impl Language {
    /// The program and the switch after which code is its argument.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Bash => "bash -c",
            Self::Python => "python3 -c",
        }
    }

    fn named(info: &str) -> Option<Self> {
        let word = info.split_whitespace().next()?.to_ascii_lowercase();
        match word.as_str() {
            "bash" | "sh" | "shell" => Some(Self::Bash),
            "python" | "python3" | "py" => Some(Self::Python),
            _ => None,
        }
    }
}

/// The code of a reply, if it has one block, and that can be run.
pub fn code_of(reply: &AssistantMessage) -> Option<Code> {
    only_block(&reply.text())
}

/// The beginning of a block.
struct Fence<'a> {
    indent: usize,
    letter: char,
    length: usize,
    info: &'a str,
}

/// The only block of a text.
fn only_block(text: &str) -> Option<Code> {
    let mut found: Option<Code> = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(fence) = opening(line) else { continue };
        if found.is_some() {
            return None;
        }
        let mut code = String::new();
        loop {
            // A block that is never closed was cut off.
            let line = lines.next()?;
            if is_closing(line, &fence) {
                break;
            }
            let spaces = line.len() - line.trim_start_matches(' ').len();
            code.push_str(&line[spaces.min(fence.indent)..]);
            code.push('\n');
        }
        found = Some(Code { language: Language::named(fence.info)?, text: code });
    }
    found.filter(|code| {
        let text = &code.text;
        !text.trim().is_empty() && text.len() <= MAX_BYTES && !text.contains('\0')
    })
}

fn opening(line: &str) -> Option<Fence<'_>> {
    let rest = line.trim_start_matches(' ');
    let indent = line.len() - rest.len();
    let letter = rest.chars().next().filter(|letter| matches!(letter, '`' | '~'))?;
    let info = rest.trim_start_matches(letter);
    let length = rest.len() - info.len();
    let is_fence = indent <= MAX_INDENT && length >= MIN_FENCE;
    // Code between backticks on one line is not a block.
    let is_inline = letter == '`' && info.contains('`');
    (is_fence && !is_inline).then_some(Fence { indent, letter, length, info })
}

fn is_closing(line: &str, fence: &Fence<'_>) -> bool {
    let rest = line.trim_start_matches(' ');
    let after = rest.trim_start_matches(fence.letter);
    line.len() - rest.len() <= MAX_INDENT
        && rest.len() - after.len() >= fence.length
        && after.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> String {
        match only_block(text) {
            Some(Code { language, text }) => format!("{language:?} {text:?}"),
            None => "nothing".to_owned(),
        }
    }

    #[test]
    fn one_whole_block_in_a_known_language_is_found() {
        let cases = [
            "Look:\n\n```bash\nls -l\n```\n\nThat is all.",
            "```Python title=x\nif 1:\n    print(1)\n```",
            "~~~sh\necho '```'\n~~~",
            "````bash\n```\n````",
            "  ```bash\n  a\n    b\n c\n  ```",
            "```bash\nls\n`````  ",
            // Another language, or none.
            "```\nls\n```",
            "```json\n{}\n```",
            "```bashful\nls\n```",
            // More than one, of whatever language.
            "```bash\nls\n```\n```bash\nrm x\n```",
            "```bash\nls\n```\n```text\nout\n```",
            "```text\nout\n```\n```bash\nls\n```",
            // Cut off, empty, or no block at all.
            "```bash\nls",
            "```bash\nls\n``",
            "```bash\n\n```",
            "```bash ls```",
            "    ```bash\n    ls\n    ```",
            "no code",
            "",
        ];
        let table: Vec<String> =
            cases.iter().map(|it| format!("{it:?} -> {}", found(it))).collect();
        insta::assert_snapshot!(table.join("\n"));
    }

    #[test]
    fn what_no_variable_can_hold_is_not_run() {
        let block = |text: &str| found(&format!("```bash\n{text}\n```"));
        assert_eq!(block(&"x".repeat(MAX_BYTES)), "nothing");
        assert_eq!(block("a\0b"), "nothing");
    }
}
