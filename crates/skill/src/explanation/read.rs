//! From the text of a rule to its [`Explanation`].

use crate::diagnostic::Code;
use crate::explanation::{Content, Example, ExampleFile, Explanation};

/// What a line begins with that begins a part of an example.
const PART: &str = "=== ";

/// What a rule means, with its examples.
pub fn explain(code: Code) -> Explanation {
    let text = code.explanation();
    let mut parts = parts(text).into_iter();
    let meaning = parts.next().map_or("", |(_, text)| text.trim());
    let mut explanation =
        Explanation { code, meaning, bad: Example::default(), good: Example::default() };
    for (head, text) in parts {
        let (side, what) = head.split_once(' ').unwrap_or((head, ""));
        let example = if side == "bad" { &mut explanation.bad } else { &mut explanation.good };
        match what.split_once(" -> ") {
            _ if what == "$" => example.commands.extend(text.lines()),
            Some((path, target)) => {
                example.files.push(ExampleFile { path, content: Content::Link(target) });
            }
            None => example.files.push(ExampleFile { path: what, content: Content::Text(text) }),
        }
    }
    explanation
}

/// The parts of a text, each with what stands on the line that begins it. The first has no such line.
fn parts(text: &'static str) -> Vec<(&'static str, &'static str)> {
    let mut parts = Vec::new();
    let (mut head, mut start, mut at) = ("", 0, 0);
    for line in text.split_inclusive('\n') {
        if let Some(next) = line.strip_prefix(PART) {
            parts.push((head, &text[start..at]));
            (head, start) = (next.trim_end(), at + line.len());
        }
        at += line.len();
    }
    parts.push((head, &text[start..]));
    parts
}
