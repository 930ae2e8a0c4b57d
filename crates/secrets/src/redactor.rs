//! The redactor: the values of all keys, ready to be looked for.

use std::borrow::Cow;
use std::fmt;
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;
use thiserror::Error;

use crate::automaton::FormAutomaton;
use crate::encoding::Encoding;
use crate::forms::{forms, is_skipped};
use crate::reader::RedactedReader;
use crate::reading::{MAX_GAP, Reading, Search};
use crate::stream::RedactionStream;

/// Shortest value that is masked, in bytes other than white space. Shorter ones are placeholders and everyday words:
/// masking `test` or `true` wherever they occur would make text unreadable, and a key that short protects nothing.
pub const MIN_SECRET_BYTES: usize = 8;
/// Longest value, in bytes: a certificate chain with its private key.
pub const MAX_SECRET_BYTES: usize = 16 << 10;
/// Most values: every skill of a large configuration with several variables.
pub const MAX_SECRETS: usize = 1024;
/// Bytes of all values together. The tables take about 400 bytes of memory for each.
pub const MAX_TOTAL_BYTES: usize = 64 << 10;

/// The text that stands for a value.
pub const REPLACEMENT: &str = "****";

/// Values that no redactor can be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RedactorError {
    /// There are too many values.
    #[error("there are {count} keys to mask; the limit is {MAX_SECRETS}")]
    TooMany {
        /// How many.
        count: usize,
    },
    /// A value is too long.
    #[error("a key to mask has {bytes} bytes; the limit is {MAX_SECRET_BYTES}")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// The values are too long together.
    #[error("the keys to mask have {bytes} bytes together; the limit is {MAX_TOTAL_BYTES}")]
    TooMuch {
        /// How long they are.
        bytes: usize,
    },
}

/// The values of all configured keys, which it replaces by `****`.
///
/// Clones share their tables. [`Redactor::default`] knows no value and changes nothing.
#[derive(Clone, Default)]
pub struct Redactor {
    pub(crate) tables: Option<Arc<RedactionTables>>,
}

/// What a search needs.
pub(crate) struct RedactionTables {
    pub(crate) automaton: FormAutomaton,
    /// For each byte, whether a search must look at it while nothing has begun.
    pub(crate) wakes: Box<[bool; 256]>,
    /// For each byte, whether an escape of an encoding begins with it.
    pub(crate) escapes: Box<[bool; 256]>,
    max_gap: usize,
}

impl Redactor {
    /// Makes a redactor of these values. Those [too short](Self::is_too_short) are left out.
    ///
    /// # Errors
    ///
    /// When there are too many, or too many bytes.
    pub fn new<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> Result<Self, RedactorError> {
        let values = values.into_iter().filter(|value| !Self::is_too_short(value.as_ref()));
        let mut values: Vec<String> = values.map(|value| value.as_ref().to_owned()).collect();
        values.sort();
        values.dedup();
        let count = values.len();
        if count > MAX_SECRETS {
            return Err(RedactorError::TooMany { count });
        }
        if let Some(long) = values.iter().find(|value| value.len() > MAX_SECRET_BYTES) {
            return Err(RedactorError::TooLong { bytes: long.len() });
        }
        let bytes = values.iter().map(String::len).sum();
        if bytes > MAX_TOTAL_BYTES {
            return Err(RedactorError::TooMuch { bytes });
        }
        if values.is_empty() {
            return Ok(Self::default());
        }
        let forms: Vec<Vec<u8>> = values.iter().flat_map(|value| forms(value)).collect();
        Ok(Self { tables: Some(Arc::new(RedactionTables::new(&forms, longest_gap(&values)))) })
    }

    /// Whether a value is too short to be masked.
    pub fn is_too_short(value: &str) -> bool {
        value.bytes().filter(|byte| !is_skipped(*byte)).count() < MIN_SECRET_BYTES
    }

    /// Whether it knows no value.
    pub fn is_empty(&self) -> bool {
        self.tables.is_none()
    }

    /// Returns the text without any of the values.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.redact_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(match String::from_utf8(bytes) {
                Ok(text) => text,
                // Only where a form ends within a character, of which a part is left.
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            }),
        }
    }

    /// Returns the bytes without any of the values.
    pub fn redact_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mut stream = self.stream();
        let first = stream.push(bytes);
        let last = stream.finish();
        match first {
            Cow::Borrowed(_) => Cow::Borrowed(bytes),
            Cow::Owned(mut all) => {
                all.extend_from_slice(&last);
                if all == bytes { Cow::Borrowed(bytes) } else { Cow::Owned(all) }
            }
        }
    }

    /// Returns the beginning of a text without any of the values, where the rest is not shown. An end that may be
    /// the beginning of a value is left out.
    pub fn redact_beginning(&self, text: &str) -> String {
        self.stream().push_text(text)
    }

    /// Returns JSON without any of the values: neither in texts, nor in numbers and names of fields.
    pub fn redact_json(&self, value: Value) -> Value {
        self.redact_value(value, &|name| self.redact(&name).into_owned())
    }

    /// The same where all names of fields are the program's own. They stay as they are: a value that happens to be one of
    /// them does not take a field away.
    pub fn redact_values(&self, value: Value) -> Value {
        self.redact_value(value, &|name| name)
    }

    fn redact_value(&self, value: Value, rename: &dyn Fn(String) -> String) -> Value {
        if self.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.redact(&text).into_owned()),
            Value::Number(number) => match self.redact(&number.to_string()) {
                Cow::Borrowed(_) => Value::Number(number),
                Cow::Owned(masked) => Value::String(masked),
            },
            Value::Array(items) => {
                items.into_iter().map(|item| self.redact_value(item, rename)).collect()
            }
            Value::Object(fields) => {
                let masked = |(name, value): (String, Value)| {
                    (rename(name), self.redact_value(value, rename))
                };
                fields.into_iter().map(masked).collect()
            }
            other => other,
        }
    }

    /// Returns a reader that gives what another gives, without any of the values.
    pub fn reader<R: Read>(&self, inner: R) -> RedactedReader<R> {
        RedactedReader::new(self.stream(), inner)
    }

    /// Begins a stream.
    pub fn stream(&self) -> RedactionStream {
        RedactionStream::new(self.clone())
    }
}

impl RedactionTables {
    fn new(forms: &[Vec<u8>], longest_gap: usize) -> Self {
        let automaton = FormAutomaton::new(forms);
        let (mut wakes, mut escapes) = (Box::new([false; 256]), Box::new([false; 256]));
        let idle = Reading::new();
        for byte in 0..=u8::MAX {
            let mut encodings = Encoding::ESCAPED.into_iter();
            let is_needed = encodings.any(|it| idle.needs(it, byte, &automaton));
            wakes[usize::from(byte)] = is_needed || automaton.begins(byte);
            escapes[usize::from(byte)] = Encoding::ESCAPED.iter().any(|it| it.is_special(byte));
        }
        Self { automaton, wakes, escapes, max_gap: longest_gap + MAX_GAP }
    }

    pub(crate) fn search<'a>(&'a self, found: &'a mut Vec<Range<u64>>) -> Search<'a> {
        Search { automaton: &self.automaton, max_gap: self.max_gap, found }
    }
}

/// The most bytes in a row that are skipped within a value.
fn longest_gap(values: &[String]) -> usize {
    let gaps = values.iter().flat_map(|value| value.as_bytes().split(|byte| !is_skipped(*byte)));
    gaps.map(<[u8]>::len).max().unwrap_or_default()
}

impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(REPLACEMENT)
    }
}
