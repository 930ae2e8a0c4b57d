//! A small lexer for Rust: words, texts and signs, without comments and without code that is for tests.
//!
//! It knows as much of the language as the checks of sources need: where texts, characters and comments begin and
//! end, and how long an item is. Macros are read as they are written.

use std::iter::Peekable;
use std::str::Chars;

/// A piece of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SourceToken {
    /// Its line, from 1.
    pub(super) line: usize,
    /// What it is.
    pub(super) kind: TokenKind,
}

/// The kind of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A keyword, a name or a number.
    Word(String),
    /// A text, with line breaks that are continued taken out.
    Text(String),
    /// Anything else.
    Sign(char),
}

/// A source without its tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ShippedSource {
    /// Everything that is compiled into the product.
    pub(super) tokens: Vec<SourceToken>,
    /// Modules for tests that are in other files.
    pub(super) test_modules: Vec<String>,
}

/// Items that end with a block or a semicolon. Others, such as variants and fields, end with a comma too.
const ITEMS: &[&str] = &[
    "async",
    "const",
    "enum",
    "extern",
    "fn",
    "impl",
    "macro_rules",
    "mod",
    "static",
    "struct",
    "trait",
    "type",
    "union",
    "unsafe",
    "use",
];

impl ShippedSource {
    /// Reads a source.
    pub(super) fn of(text: &str) -> Self {
        let tokens = tokens(text);
        let mut source = Self::default();
        let mut at = 0;
        while at < tokens.len() {
            match test_attribute(&tokens[at..]) {
                Some(length) => {
                    let item = &tokens[at + length..];
                    let end = item_length(item);
                    source.test_modules.extend(outer_module(&item[..end]));
                    at += length + end;
                }
                None => {
                    source.tokens.push(tokens[at].clone());
                    at += 1;
                }
            }
        }
        source
    }
}

impl SourceToken {
    /// Whether it is this word.
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(&self.kind, TokenKind::Word(it) if it == word)
    }

    /// Whether it is this sign.
    pub(super) fn is_sign(&self, sign: char) -> bool {
        self.kind == TokenKind::Sign(sign)
    }
}

/// The length of `#[cfg(test)]`, or of a condition that needs `test` among others.
fn test_attribute(tokens: &[SourceToken]) -> Option<usize> {
    let begins = tokens.len() > 3
        && tokens[0].is_sign('#')
        && tokens[1].is_sign('[')
        && tokens[2].is_word("cfg");
    let end = block_length(tokens.get(1..).filter(|_| begins)?);
    let condition = &tokens[1..=end];
    let is_for_tests = condition.iter().any(|it| it.is_word("test"));
    let is_also_for_others = condition.iter().any(|it| it.is_word("not") || it.is_word("any"));
    (is_for_tests && !is_also_for_others).then_some(end + 1)
}

/// The name of a module that is in another file.
fn outer_module(item: &[SourceToken]) -> Option<String> {
    let at = item.iter().position(|it| it.is_word("mod"))?;
    match (item.get(at + 1).map(|it| &it.kind), item.get(at + 2)) {
        (Some(TokenKind::Word(name)), Some(end)) if end.is_sign(';') => Some(name.clone()),
        _ => None,
    }
}

/// The length of the item at the beginning, with its other attributes.
fn item_length(tokens: &[SourceToken]) -> usize {
    let mut at = 0;
    while tokens.get(at).is_some_and(|it| it.is_sign('#')) {
        at += 1 + block_length(&tokens[at + 1..]);
    }
    let mut first = at;
    if tokens.get(first).is_some_and(|it| it.is_word("pub")) {
        first += 1;
        if tokens.get(first).is_some_and(|it| it.is_sign('(')) {
            first += block_length(&tokens[first..]);
        }
    }
    let is_item = tokens.get(first).is_some_and(|it| ITEMS.iter().any(|word| it.is_word(word)));
    while let Some(token) = tokens.get(at) {
        match token.kind {
            TokenKind::Sign(';') => return at + 1,
            TokenKind::Sign(',') if !is_item => return at + 1,
            // The end of what the field or variant is in.
            TokenKind::Sign('}' | ')' | ']') => return at,
            TokenKind::Sign('{') => {
                at += block_length(&tokens[at..]);
                // The groups of a `use` end with a semicolon.
                let is_ended = tokens.get(at).is_some_and(|it| it.is_sign(';') || it.is_sign(','));
                return if is_ended { at + 1 } else { at };
            }
            TokenKind::Sign('(' | '[') => at += block_length(&tokens[at..]),
            _ => at += 1,
        }
    }
    at
}

/// The length of a block that begins here, with its brackets.
fn block_length(tokens: &[SourceToken]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Sign('(' | '[' | '{') => depth += 1,
            TokenKind::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

fn tokens(text: &str) -> Vec<SourceToken> {
    let mut lexer = Lexer { rest: text.chars().peekable(), line: 1 };
    let mut tokens = Vec::new();
    while let Some(first) = lexer.next() {
        let line = lexer.line;
        let kind = match first {
            '/' if lexer.rest.peek() == Some(&'/') => {
                while lexer.rest.peek().is_some_and(|it| *it != '\n') {
                    lexer.next();
                }
                continue;
            }
            '/' if lexer.rest.peek() == Some(&'*') => {
                lexer.skip_comment();
                continue;
            }
            '"' => TokenKind::Text(lexer.text()),
            '\'' => match lexer.skip_character() {
                true => continue,
                false => TokenKind::Sign('\''),
            },
            it if it.is_whitespace() => continue,
            it if is_in_word(it) => {
                let word = lexer.word(it);
                match lexer.rest.peek() {
                    Some('"') if ["b", "c"].contains(&&*word) => {
                        lexer.next();
                        TokenKind::Text(lexer.text())
                    }
                    Some('"' | '#') if ["r", "br", "cr"].contains(&&*word) => lexer.raw(word),
                    Some('\'') if word == "b" => {
                        lexer.next();
                        lexer.skip_character();
                        continue;
                    }
                    _ => TokenKind::Word(word),
                }
            }
            sign => TokenKind::Sign(sign),
        };
        tokens.push(SourceToken { line, kind });
    }
    tokens
}

fn is_in_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

struct Lexer<'a> {
    rest: Peekable<Chars<'a>>,
    line: usize,
}

impl Lexer<'_> {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.next();
        self.line += usize::from(next == Some('\n'));
        next
    }

    fn word(&mut self, first: char) -> String {
        let mut word = String::from(first);
        while let Some(next) = self.rest.next_if(|it| is_in_word(*it)) {
            word.push(next);
        }
        word
    }

    /// Skips a comment whose `/` was read.
    fn skip_comment(&mut self) {
        let (mut depth, mut before) = (0, '/');
        while let Some(next) = self.next() {
            match (before, next) {
                ('/', '*') => depth += 1,
                ('*', '/') => depth -= 1,
                _ => {
                    before = next;
                    continue;
                }
            }
            if depth == 0 {
                return;
            }
            before = ' ';
        }
    }

    /// Skips a character whose first quote was read. A lifetime is none.
    fn skip_character(&mut self) -> bool {
        let mut ahead = self.rest.clone();
        match (ahead.next(), ahead.next()) {
            (Some('\\'), _) => {
                self.next();
                self.next();
            }
            (_, Some('\'')) => {
                self.next();
            }
            _ => return false,
        }
        while self.next().is_some_and(|it| it != '\'') {}
        true
    }

    /// Reads a text whose first quote was read.
    fn text(&mut self) -> String {
        let mut text = String::new();
        while let Some(next) = self.next() {
            match next {
                '"' => break,
                '\\' => match self.next() {
                    Some('\n') => {
                        while self.rest.peek().is_some_and(|it| it.is_whitespace()) {
                            self.next();
                        }
                    }
                    Some('n') => text.push('\n'),
                    escaped => text.extend(escaped),
                },
                other => text.push(other),
            }
        }
        text
    }

    /// Reads a raw text whose prefix was read, or a raw name.
    fn raw(&mut self, prefix: String) -> TokenKind {
        let mut hashes = 0;
        while self.rest.next_if_eq(&'#').is_some() {
            hashes += 1;
        }
        if self.rest.next_if_eq(&'"').is_none() {
            return TokenKind::Word(prefix);
        }
        let end = format!("\"{}", "#".repeat(hashes));
        let mut text = String::new();
        while let Some(next) = self.next() {
            text.push(next);
            if text.ends_with(&end) {
                text.truncate(text.len() - end.len());
                break;
            }
        }
        TokenKind::Text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of a source: words and signs as they are, texts between angle quotes.
    fn shipped(text: &str) -> String {
        let source = ShippedSource::of(text);
        let mut shown: Vec<String> = source
            .tokens
            .iter()
            .map(|it| match &it.kind {
                TokenKind::Word(word) => word.clone(),
                TokenKind::Text(text) => format!("«{text}»"),
                TokenKind::Sign(sign) => sign.to_string(),
            })
            .collect();
        shown.extend(source.test_modules.iter().map(|name| format!("[{name}]")));
        shown.join(" ")
    }

    #[test]
    fn comments_are_left_out_and_texts_are_not_taken_for_them() {
        insta::assert_snapshot!(
            shipped("a // b \"c\n/// `metier run`\nd /* e /* f */ \" */ g \"// h\" i"),
            @"a d g «// h» i"
        );
    }

    #[test]
    fn texts_of_every_kind_are_read() {
        insta::assert_snapshot!(
            shipped("\"a \\\"b\\\" \\\n    c\" r\"d\\\" r#\"e \"f\"\"# b\"g\" br\"h\" c\"i\" r#type"),
            @r##"«a "b" c» «d\» «e "f"» «g» «h» «i» r type"##
        );
    }

    #[test]
    fn characters_and_lifetimes_do_not_begin_texts() {
        insta::assert_snapshot!(
            shipped(r#"'"' '\'' '\u{22}' b'"' &'a str "x" 'b: loop"#),
            @"& ' a str «x» ' b : loop"
        );
    }

    #[test]
    fn tests_are_left_out_and_no_more() {
        insta::assert_snapshot!(
            shipped(
                "a; #[cfg(test)] mod tests { fn f() { \"x\" } } b;\n\
                 #[cfg(test)] #[allow(x)] pub(crate) mod scratch; c;\n\
                 #[cfg(test)] use d::{e, f}; g;\n\
                 enum H { #[cfg(test)] I(J, K), L, #[cfg(test)] M }\n\
                 match n { #[cfg(test)] O => { p } q => r }\n\
                 #[cfg(test)] pub(crate) const fn s<T, U>() -> [u8; 2] { \"t\" } u"
            ),
            @"a ; b ; c ; g ; enum H { L , } match n { q = > r } u [scratch]"
        );
    }

    #[test]
    fn what_is_not_only_for_tests_stays() {
        insta::assert_snapshot!(
            shipped("#[cfg(not(test))] a; #[cfg(any(test, fuzz))] b; #[cfg(all(test, unix))] c; d"),
            @"# [ cfg ( not ( test ) ) ] a ; # [ cfg ( any ( test , fuzz ) ) ] b ; d"
        );
    }

    #[test]
    fn tokens_know_their_lines() {
        let lines: Vec<usize> =
            tokens("a\n\"b\nc\" d\n/*\n*/ e").iter().map(|it| it.line).collect();
        assert_eq!(lines, [1, 2, 3, 5]);
    }
}
