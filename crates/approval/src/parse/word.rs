//! Words: quotes come off, and whatever bash would put something else in place of is refused.

use super::names::is_name;
use super::problem::NotAnalysable;

/// A word without its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// What it says.
    pub(super) text: String,
    /// Where it begins, in bytes.
    pub(super) at: usize,
    /// Whether it was written without any quote.
    pub(super) is_bare: bool,
    /// How long the name is, if it has the form of an assignment: `NAME=…`.
    pub(super) name: Option<usize>,
    /// Whether it has the form `NAME+=…`.
    pub(super) is_appending: bool,
}

/// Whether a byte ends a word that is not quoted.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b'<' | b'>' | b'(' | b')')
}

/// Reads the word that begins at a byte that does not end one. Gives the word and where it ends.
pub(super) fn read(text: &str, at: usize) -> Result<(Word, usize), NotAnalysable> {
    let word = Word { text: String::new(), at, is_bare: true, name: None, is_appending: false };
    let mut reader = Reader { whole: text, at, word, last_bare: None, has_equals: false };
    while reader.step()? {}
    Ok((reader.word, reader.at))
}

struct Reader<'a> {
    whole: &'a str,
    /// Up to where it was read.
    at: usize,
    word: Word,
    /// The last byte, if it was not quoted.
    last_bare: Option<u8>,
    /// Whether there was a `=`. Only the first one can end a name.
    has_equals: bool,
}

impl<'a> Reader<'a> {
    /// Reads on. False at the end of the word.
    fn step(&mut self) -> Result<bool, NotAnalysable> {
        let plain = self.rest().bytes().take_while(|&byte| is_plain(byte)).count();
        if plain > 0 {
            self.take_bare(plain);
            return Ok(true);
        }
        let Some(byte) = self.peek(0) else { return Ok(false) };
        match byte {
            b'(' => return Err(self.parenthesis()),
            byte if ends_word(byte) => return Ok(false),
            b'\'' => self.single()?,
            b'"' => self.double()?,
            b'\\' => self.escape()?,
            b'$' if self.peek(1).is_none_or(|next| ends_word(next) && next != b'(') => {
                self.take_bare(1);
            }
            b'$' => return Err(self.problem(dollar(self.rest()))),
            b'`' => return Err(self.problem("a command substitution in backticks")),
            b'*' | b'?' => return Err(self.problem(format!("a glob `{}`", char::from(byte)))),
            b'[' => self.bracket()?,
            b'{' | b'}' => self.brace()?,
            b'~' => self.tilde()?,
            b'#' if self.is_at_start() => return Err(self.problem("a comment `#`")),
            b'=' => self.equals(),
            _ => self.take_bare(1),
        }
        Ok(true)
    }

    fn single(&mut self) -> Result<(), NotAnalysable> {
        let inside = self.at + 1;
        let Some(length) = self.whole[inside..].find('\'') else {
            return Err(self.problem("a quote `'` that is never closed"));
        };
        self.word.text.push_str(&self.whole[inside..inside + length]);
        self.quoted_until(inside + length + 1);
        Ok(())
    }

    fn double(&mut self) -> Result<(), NotAnalysable> {
        let opening = self.at;
        self.quoted_until(opening + 1);
        loop {
            let rest = self.rest();
            let special = rest.find(['"', '\\', '$', '`']);
            let Some(length) = special else {
                return Err(NotAnalysable::new("a quote `\"` that is never closed", opening));
            };
            self.word.text.push_str(&rest[..length]);
            self.at += length;
            let next = self.peek(1);
            match (rest.as_bytes()[length], next) {
                (b'"', _) => {
                    self.at += 1;
                    return Ok(());
                }
                (b'`', _) => return Err(self.problem("a command substitution in backticks")),
                (b'$', Some(b'"' | b' ' | b'\t' | b'\n')) => self.push_quoted('$', 1),
                (b'$', Some(b'\'')) => return Err(self.problem(DOLLAR)),
                (b'$', _) => return Err(self.problem(dollar(self.rest()))),
                (_, Some(b'\n')) => return Err(self.problem("a line continuation")),
                (_, Some(next @ (b'$' | b'`' | b'"' | b'\\'))) => {
                    self.push_quoted(char::from(next), 2);
                }
                _ => self.push_quoted('\\', 1),
            }
        }
    }

    fn escape(&mut self) -> Result<(), NotAnalysable> {
        match self.rest()[1..].chars().next() {
            None => Err(self.problem("a backslash with nothing after it")),
            Some('\n') => Err(self.problem("a line continuation")),
            Some(character) => {
                self.word.text.push(character);
                self.quoted_until(self.at + 1 + character.len_utf8());
                Ok(())
            }
        }
    }

    /// `[` is a word of its own, the program; anywhere else it begins a pattern.
    fn bracket(&mut self) -> Result<(), NotAnalysable> {
        if self.is_at_start() && self.peek(1).is_none_or(ends_word) {
            self.take_bare(1);
            return Ok(());
        }
        let is_element = || {
            let after = self.rest().split_once(']').map(|(_, after)| after);
            after.is_some_and(|after| after.starts_with('=') || after.starts_with("+="))
        };
        let what = if self.is_at_start() && self.is_whole("[[") {
            reserved("[[")
        } else if self.word.is_bare && is_name(&self.word.text) && is_element() {
            "an assignment to an element of an array `NAME[…]=`".to_owned()
        } else {
            "a glob `[`".to_owned()
        };
        Err(self.problem(what))
    }

    /// `{}` is a word of its own, which `find` wants; any other brace could be expanded.
    fn brace(&mut self) -> Result<(), NotAnalysable> {
        if !self.is_at_start() {
            return Err(self.problem("a brace expansion `{…}`"));
        }
        if self.is_whole("{}") {
            self.take_bare(2);
            return Ok(());
        }
        let is_descriptor = || {
            let inside = self.rest().strip_prefix('{').and_then(|rest| rest.split_once('}'));
            inside.is_some_and(|(name, after)| is_name(name) && after.starts_with(['<', '>']))
        };
        Err(self.problem(if self.is_whole("{") || self.is_whole("}") {
            "a group of commands `{ …; }`"
        } else if is_descriptor() {
            "a descriptor with a name `{name}>`"
        } else {
            "a brace expansion `{…}`"
        }))
    }

    fn tilde(&mut self) -> Result<(), NotAnalysable> {
        if self.is_at_start() {
            return Err(self.problem("`~` at the beginning of a word"));
        }
        if self.word.name.is_some() && matches!(self.last_bare, Some(b'=' | b':')) {
            return Err(self.problem("`~` after `=` or `:` in an assignment"));
        }
        self.take_bare(1);
        Ok(())
    }

    fn equals(&mut self) {
        if self.word.is_bare && !self.has_equals {
            let text = &self.word.text;
            let name = text.strip_suffix('+').unwrap_or(text);
            if is_name(name) {
                self.word.is_appending = name.len() < text.len();
                self.word.name = Some(name.len());
            }
        }
        self.has_equals = true;
        self.take_bare(1);
    }

    fn parenthesis(&self) -> NotAnalysable {
        let is_array = self.word.name.is_some() && self.last_bare == Some(b'=');
        self.problem(if is_array { "an array `NAME=(…)`" } else { "a function or a pattern `(`" })
    }

    fn rest(&self) -> &'a str {
        &self.whole[self.at..]
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.whole.as_bytes().get(self.at + ahead).copied()
    }

    fn is_at_start(&self) -> bool {
        self.at == self.word.at
    }

    /// Whether what is left of the word is just this.
    fn is_whole(&self, word: &str) -> bool {
        self.rest().starts_with(word) && self.peek(word.len()).is_none_or(ends_word)
    }

    fn take_bare(&mut self, length: usize) {
        let taken = &self.whole[self.at..self.at + length];
        self.word.text.push_str(taken);
        self.last_bare = taken.bytes().next_back();
        self.at += length;
    }

    fn push_quoted(&mut self, character: char, length: usize) {
        self.word.text.push(character);
        self.at += length;
    }

    fn quoted_until(&mut self, at: usize) {
        self.word.is_bare = false;
        self.last_bare = None;
        self.at = at;
    }

    fn problem(&self, what: impl Into<String>) -> NotAnalysable {
        NotAnalysable::new(what, self.at)
    }
}

/// What is said about a word of the grammar.
pub(super) fn reserved(word: &str) -> String {
    format!("`{word}` (only simple commands can be judged)")
}

/// Bytes that mean themselves wherever they are; all bytes of characters beyond ASCII do.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || !byte.is_ascii()
        || matches!(byte, b'_' | b'-' | b'.' | b'/' | b',' | b'+' | b'@' | b'%' | b'^' | b':')
}

/// What a `$` begins.
fn dollar(rest: &str) -> String {
    let after = &rest[1..];
    let name = after.bytes().take_while(|&byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let name = &after[..name.count()];
    if after.starts_with("((") {
        "arithmetic `$((…))`".to_owned()
    } else if after.starts_with('(') {
        "a command substitution `$(…)`".to_owned()
    } else if after.starts_with('{') {
        "an expansion `${…}`".to_owned()
    } else if after.starts_with('[') {
        "arithmetic `$[…]`".to_owned()
    } else if after.starts_with('\'') {
        "a quote with escapes `$'…'`".to_owned()
    } else if after.starts_with('"') {
        "a quote that is translated `$\"…\"`".to_owned()
    } else if is_name(name) && name.len() <= MAX_NAME_SHOWN {
        format!("a variable `${name}`")
    } else {
        DOLLAR.to_owned()
    }
}

/// What is said about a `$` of which nothing else is known.
const DOLLAR: &str = "a `$` that could begin an expansion";

/// Longest name of a variable that is repeated to a person.
const MAX_NAME_SHOWN: usize = 40;
