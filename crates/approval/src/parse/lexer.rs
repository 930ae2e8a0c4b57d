//! Tokens: words, redirections and what joins commands.

use super::problem::NotAnalysable;
use super::word::{self, Word};

/// The longest part of a text that has a meaning of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A word.
    Word(Word),
    /// A redirection, without its target.
    Redirect(Redirect),
    /// What stands between commands.
    Separator(Separator),
    /// The end of the text.
    End,
}

/// The beginning of a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Redirect {
    /// The descriptor that was written before it.
    pub(super) descriptor: Option<u8>,
    /// What it does.
    pub(super) operator: Operator,
}

/// What a redirection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>>`
    Append,
    /// `>&`
    Duplicate,
    /// `&>`
    WriteBoth,
    /// `&>>`
    AppendBoth,
}

/// What stands between commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    /// `|`
    Pipe,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `;`
    Semicolon,
    /// The end of a line.
    Newline,
}

impl Separator {
    /// How it is written, in words for a person.
    pub(super) fn written(self) -> &'static str {
        match self {
            Self::Pipe => "`|`",
            Self::And => "`&&`",
            Self::Or => "`||`",
            Self::Semicolon => "`;`",
            Self::Newline => "a new line",
        }
    }
}

/// Cuts a text into tokens.
#[derive(Debug)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// Whether the last token was a word.
    after_word: bool,
    /// Whether the last token was `>&`, after which a number is never the beginning of a redirection.
    after_duplicate: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, after_word: false, after_duplicate: false }
    }

    /// The next token, and where it begins.
    pub(super) fn next(&mut self) -> Result<(Token, usize), NotAnalysable> {
        while matches!(self.rest().first(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let at = self.at;
        let token = match self.rest().first() {
            None => Token::End,
            Some(b'<' | b'>') => self.redirect(None)?,
            Some(&byte) if word::ends_word(byte) => self.operator()?,
            Some(_) => self.word()?,
        };
        self.after_word = matches!(token, Token::Word(_));
        self.after_duplicate =
            matches!(token, Token::Redirect(Redirect { operator: Operator::Duplicate, .. }));
        Ok((token, at))
    }

    fn word(&mut self) -> Result<Token, NotAnalysable> {
        let (word, end) = word::read(self.text, self.at)?;
        self.at = end;
        let is_number = word.is_bare && word.text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || self.after_duplicate || !matches!(self.rest().first(), Some(b'<' | b'>')) {
            return Ok(Token::Word(word));
        }
        match word.text.as_str() {
            "0" => self.redirect(Some(0)),
            "1" => self.redirect(Some(1)),
            "2" => self.redirect(Some(2)),
            _ => Err(NotAnalysable::new("a descriptor other than 0, 1 and 2", word.at)),
        }
    }

    fn redirect(&mut self, descriptor: Option<u8>) -> Result<Token, NotAnalysable> {
        let (operator, length) = match self.rest() {
            [b'<', b'<', b'<', ..] => return Err(self.problem("a here-string `<<<`")),
            [b'<', b'<', ..] => return Err(self.problem("a here-document `<<`")),
            [b'<', b'(', ..] => return Err(self.problem("a process substitution `<(…)`")),
            [b'>', b'(', ..] => return Err(self.problem("a process substitution `>(…)`")),
            [b'<', b'>', ..] => {
                return Err(self.problem("a file for reading and writing `<>`"));
            }
            [b'<', b'&', ..] => return Err(self.problem("a copied input `<&`")),
            [b'<', ..] => (Operator::Read, 1),
            [_, b'>', ..] => (Operator::Append, 2),
            [_, b'|', ..] => return Err(self.problem("a file that is emptied in any case `>|`")),
            [_, b'&', ..] => (Operator::Duplicate, 2),
            _ => (Operator::Write, 1),
        };
        self.at += length;
        Ok(Token::Redirect(Redirect { descriptor, operator }))
    }

    fn operator(&mut self) -> Result<Token, NotAnalysable> {
        let both = |operator| Token::Redirect(Redirect { descriptor: None, operator });
        let (token, length) = match self.rest() {
            [b'\n', ..] => (Token::Separator(Separator::Newline), 1),
            [b';', b';' | b'&', ..] => {
                return Err(self.problem("`;;` or `;&`, which belongs to `case`"));
            }
            [b';', ..] => (Token::Separator(Separator::Semicolon), 1),
            [b'|', b'|', ..] => (Token::Separator(Separator::Or), 2),
            [b'|', b'&', ..] => return Err(self.problem("errors into a pipe `|&`")),
            [b'|', ..] => (Token::Separator(Separator::Pipe), 1),
            [b'&', b'&', ..] => (Token::Separator(Separator::And), 2),
            [b'&', b'>', b'>', ..] => (both(Operator::AppendBoth), 3),
            [b'&', b'>', ..] => (both(Operator::WriteBoth), 2),
            [b'&', ..] => return Err(self.problem("a command in the background `&`")),
            [b')', ..] => return Err(self.problem("a `)` that closes nothing")),
            [_, b'(', ..] => return Err(self.problem("an arithmetic command `((…))`")),
            _ if self.after_word => return Err(self.problem("a function or a pattern `(`")),
            _ => return Err(self.problem("a subshell `(…)`")),
        };
        self.at += length;
        Ok(token)
    }

    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn problem(&self, what: &str) -> NotAnalysable {
        NotAnalysable::new(what, self.at)
    }
}
