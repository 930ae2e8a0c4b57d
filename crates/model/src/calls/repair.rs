//! Arguments that are nearly JSON.
//!
//! Mended is what can be read in one way only: fences around it, a string that holds the object,
//! trailing commas, single or typographic quotes, keys without quotes, Python's constants, line
//! ends within strings, brackets that are missing or left over at the end. A string that is not
//! closed is not mended: nobody knows what else it would have said.

use std::iter::Peekable;
use std::str::Chars;

use crate::raw::{RawObject, is_object};

/// Longer arguments must be JSON as they are; weak models do not write so much.
const MAX_BYTES: usize = 256 * 1024;

/// How many layers of fences and strings are taken off.
const MAX_LAYERS: usize = 3;

/// Whether the model had finished what it was writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It had, so brackets that are missing were forgotten.
    Finished,
    /// It was cut off, so anything may be missing.
    CutOff,
}

/// The text of the JSON object that is meant, or `None` if that is not clear.
///
/// What is an object already is returned byte for byte.
pub(crate) fn repair(text: &str, ending: Ending) -> Option<String> {
    if is_object(text) {
        return Some(text.to_owned());
    }
    if text.trim().is_empty() {
        return (ending == Ending::Finished).then(|| "{}".to_owned());
    }
    if text.len() > MAX_BYTES {
        return None;
    }
    let mut text = text.trim().to_owned();
    for _ in 0..MAX_LAYERS {
        if let Some(inner) = unwrapped(&text) {
            text = inner;
        }
    }
    if is_object(&text) {
        return Some(text);
    }
    let mended = Mending::of(&text, ending)?;
    let object = RawObject::parse(&mended)?;
    (!object.has_duplicates()).then_some(mended)
}

/// What is inside a fence or a JSON string.
fn unwrapped(text: &str) -> Option<String> {
    if text.starts_with('"') {
        let inner: String = serde_json::from_str(text).ok()?;
        return Some(inner.trim().to_owned());
    }
    fenced(text).map(|inner| inner.trim().to_owned())
}

/// The content of text that is one fenced block and nothing else.
pub(super) fn fenced(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("```")?.strip_suffix("```")?;
    let (info, content) = inner.split_once('\n')?;
    let known = ["", "json", "json5", "jsonc", "tool_call", "tool_code", "tool_use"];
    (known.contains(&info.trim()) && !content.contains("```")).then_some(content)
}

/// Writes JSON while it reads something like it.
struct Mending<'a> {
    input: Peekable<Chars<'a>>,
    output: String,
    open: Vec<char>,
}

impl<'a> Mending<'a> {
    fn of(text: &'a str, ending: Ending) -> Option<String> {
        if !text.starts_with('{') {
            return None;
        }
        let mut mending =
            Self { input: text.chars().peekable(), output: String::new(), open: Vec::new() };
        while let Some(character) = mending.input.next() {
            mending.take(character)?;
            if mending.open.is_empty() {
                let mut rest = mending.input;
                // Brackets that were closed once too often.
                let harmless = |c: char| c.is_whitespace() || c == '}' || c == ']';
                return rest.all(harmless).then_some(mending.output);
            }
        }
        mending.close(ending)
    }

    fn take(&mut self, character: char) -> Option<()> {
        match character {
            '{' | '[' => {
                self.open.push(if character == '{' { '}' } else { ']' });
                self.output.push(character);
            }
            '}' | ']' => {
                (self.open.pop()? == character).then_some(())?;
                self.drop_comma();
                self.output.push(character);
            }
            '"' => self.string('"')?,
            '\'' => self.string('\'')?,
            '“' | '”' => self.string('”')?,
            _ if character.is_alphabetic() || character == '_' => self.word(character),
            _ => self.output.push(character),
        }
        Some(())
    }

    /// A string up to its quote, rewritten with the quotes of JSON.
    fn string(&mut self, quote: char) -> Option<()> {
        self.output.push('"');
        loop {
            match self.input.next()? {
                character if character == quote && self.ends_here(quote) => break,
                '\\' => match self.input.next()? {
                    '\'' => self.output.push('\''),
                    escaped => self.output.extend(['\\', escaped]),
                },
                '"' => self.output.push_str("\\\""),
                '\n' => self.output.push_str("\\n"),
                '\r' => self.output.push_str("\\r"),
                '\t' => self.output.push_str("\\t"),
                character => self.output.push(character),
            }
        }
        self.output.push('"');
        Some(())
    }

    /// An apostrophe within single quotes is not the end of them.
    fn ends_here(&self, quote: char) -> bool {
        quote == '"' || {
            let mut rest = self.input.clone();
            rest.find(|c| !c.is_whitespace()).is_none_or(|c| matches!(c, ',' | ':' | '}' | ']'))
        }
    }

    /// A word outside of strings: a constant, or a key that lacks quotes.
    fn word(&mut self, first: char) {
        let mut word = String::from(first);
        let more = |c: &char| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.');
        while let Some(character) = self.input.next_if(more) {
            word.push(character);
        }
        let mut rest = self.input.clone();
        let is_key = rest.find(|c| !c.is_whitespace()) == Some(':');
        match word.as_str() {
            _ if is_key => self.output.push_str(&format!("\"{word}\"")),
            "True" => self.output.push_str("true"),
            "False" => self.output.push_str("false"),
            "None" | "undefined" => self.output.push_str("null"),
            // Within a number, or nothing that JSON knows: the parser will tell.
            _ => self.output.push_str(&word),
        }
    }

    fn drop_comma(&mut self) {
        let kept = self.output.trim_end();
        if let Some(kept) = kept.strip_suffix(',') {
            self.output.truncate(kept.len());
        }
    }

    fn close(mut self, ending: Ending) -> Option<String> {
        if ending == Ending::CutOff {
            return None;
        }
        self.drop_comma();
        while let Some(bracket) = self.open.pop() {
            self.output.push(bracket);
        }
        Some(self.output)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_can_be_read_in_one_way_is_mended() {
        let cases = [
            ("", "{}"),
            (" {\"a\" : 1.0} ", " {\"a\" : 1.0} "),
            (r#"{"a":1,"a":2}"#, r#"{"a":1,"a":2}"#),
            (r#"{"a":[1,2,],}"#, r#"{"a":[1,2]}"#),
            (r#"{'a': 'it''s'}"#, r#"{"a": "it''s"}"#),
            (r#"{'a': 'it's "x"', 'b': 1}"#, r#"{"a": "it's \"x\"", "b": 1}"#),
            (r#"{“a”: “b”}"#, r#"{"a": "b"}"#),
            (
                r"{skill: 'x', all: True, none: None}",
                r#"{"skill": "x", "all": true, "none": null}"#,
            ),
            (r#"{"a":{"b":[1"#, r#"{"a":{"b":[1]}}"#),
            (r#"{"a":1,"#, r#"{"a":1}"#),
            (r#"{"a":1}}"#, r#"{"a":1}"#),
            ("```json\n{\"a\":1}\n```", r#"{"a":1}"#),
            (r#""{\"a\":1}""#, r#"{"a":1}"#),
            (r#""\"{\\\"a\\\":1}\"""#, r#"{"a":1}"#),
            ("{\"a\":\"two\nlines\"}", r#"{"a":"two\nlines"}"#),
            (r#"{"a":1e5,"b":-2.5E+3,}"#, r#"{"a":1e5,"b":-2.5E+3}"#),
        ];
        for (text, expected) in cases {
            assert_eq!(repair(text, Ending::Finished).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_clear_is_left_alone() {
        let cases = [
            "x",
            "[1]",
            "12",
            "null",
            r#"{"a":"unclosed"#,
            r#"{"a""#,
            r#"{"a":"#,
            r#"{"a":1]"#,
            r#"{"a":1} {"b":2}"#,
            r#"{"a":x}"#,
            r#"{a:1,'a':2}"#,
            r#"call {"a":1}"#,
            r#"{"a" 1}"#,
        ];
        for text in cases {
            assert_eq!(repair(text, Ending::Finished), None, "{text}");
        }
    }

    #[test]
    fn what_was_cut_off_is_not_completed() {
        for text in ["", r#"{"path":"a","content":[1"#, r#"{"a":1,"#] {
            assert_eq!(repair(text, Ending::CutOff), None, "{text}");
        }
        assert_eq!(repair(r#"{"a":1,}"#, Ending::CutOff).as_deref(), Some(r#"{"a":1}"#));
    }

    proptest! {
        #[test]
        fn whatever_comes_out_is_an_object(text in r#"\{?[a-c'":,\[\]{}\\ \n0-9“”`]{0,40}\}?"#) {
            if let Some(mended) = repair(&text, Ending::Finished) {
                prop_assert!(is_object(&mended), "{} became {}", text, mended);
            }
        }
    }
}
