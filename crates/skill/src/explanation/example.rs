//! An example: files, and the commands that look at them.

use std::borrow::Cow;

/// The command that shows the difference when an example names none.
pub const LINT: &str = "metier skills lint .";

/// What a line begins with that stands for more like the one above it.
const MORE: &str = "… ";
/// How such a line ends, after the number.
const LIKE_THIS: &str = " more lines like this one";

/// A few files, and what to run beside them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Example {
    /// The files.
    pub files: Vec<ExampleFile>,
    /// Commands; the last one shows whether the rule is kept. None stand for [`LINT`].
    pub commands: Vec<&'static str>,
}

/// A file of an example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleFile {
    /// Where it is.
    pub path: &'static str,
    /// What is there.
    pub content: Content,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Text as people are shown it, with a line break at its end.
    Text(&'static str),
    /// A symlink, with what it says.
    Link(&'static str),
}

impl Example {
    /// The commands, in the order in which they are run.
    pub fn steps(&self) -> &[&'static str] {
        if self.commands.is_empty() { &[LINT] } else { &self.commands }
    }
}

impl Content {
    /// What the file really has in it: copies of lines and characters in place of what stands for them. A
    /// link has nothing.
    pub fn bytes(&self) -> Vec<u8> {
        let Self::Text(text) = self else { return Vec::new() };
        let mut bytes = Vec::with_capacity(text.len());
        let mut before: Cow<'_, [u8]> = Cow::Borrowed(b"");
        for line in text.split_inclusive('\n') {
            if let Some(count) = copies(line) {
                bytes.extend(before.repeat(count));
            } else {
                before = Cow::Owned(unescaped(line));
                bytes.extend_from_slice(&before);
            }
        }
        bytes
    }
}

/// How many copies of the line before it a line stands for, if it does.
fn copies(line: &str) -> Option<usize> {
    line.trim().strip_prefix(MORE)?.strip_suffix(LIKE_THIS)?.parse().ok()
}

/// A line with `\u{…}` and `\x…` as what they stand for.
fn unescaped(line: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(line.len());
    let mut rest = line;
    while let Some(place) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..place]);
        rest = &rest[place..];
        let length = match (character(rest), byte(rest)) {
            (Some((character, length)), _) => {
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                length
            }
            (None, Some(byte)) => {
                bytes.push(byte);
                r"\x00".len()
            }
            (None, None) => {
                bytes.push(b'\\');
                1
            }
        };
        rest = &rest[length..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

fn character(text: &str) -> Option<(char, usize)> {
    let (digits, _) = text.strip_prefix(r"\u{")?.split_once('}')?;
    let character = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)?;
    Some((character, r"\u{}".len() + digits.len()))
}

fn byte(text: &str) -> Option<u8> {
    u8::from_str_radix(text.strip_prefix(r"\x")?.get(..2)?, 16).ok()
}
