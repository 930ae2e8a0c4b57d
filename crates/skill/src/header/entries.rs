//! The top-level entries of a header, found without reading their values.

use crate::text::Span;

/// A top-level `key: value` with the lines that belong to it.
pub(crate) struct Entry {
    /// The whole entry.
    pub(crate) span: Span,
    /// The key.
    pub(crate) key: Span,
    /// The value, without blanks around it.
    pub(crate) value: Span,
}

/// More entries than this are left to the parser, which counts what it makes.
const MAX_ENTRIES: usize = 64;

/// The top-level entries, or nothing if there are many or some line at the margin is neither a
/// key, a comment nor the end of a value (a conflict marker, for instance): such a file is not
/// ours to guess at.
pub(crate) fn entries(header: &str) -> Option<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut offset = 0;
    for line in header.split_inclusive('\n') {
        let (start, end) = (offset, offset + line.len());
        offset = end;
        if let Some(key_length) = key_length(line) {
            if entries.len() == MAX_ENTRIES {
                return None;
            }
            let value = start + key_length + 1;
            entries.push(Entry {
                span: Span::new(start, end),
                key: Span::new(start, start + key_length),
                value: Span::new(value, end),
            });
            continue;
        }
        let continues = line.starts_with([' ', '\t', '}', ']', '#']) || line.trim().is_empty();
        match entries.last_mut() {
            Some(entry) if continues => {
                entry.span.end = end;
                entry.value.end = end;
            }
            None if line.starts_with('#') || line.trim().is_empty() => {}
            _ => return None,
        }
    }
    for entry in &mut entries {
        trim(&mut entry.value, header);
    }
    Some(entries)
}

/// The bytes before the colon when a line at the margin starts an entry.
fn key_length(line: &str) -> Option<usize> {
    if line.starts_with(' ') {
        return None;
    }
    let length = line.find(':')?;
    let key = &line[..length];
    let is_word = |character: char| character.is_alphanumeric() || "_-.".contains(character);
    let followed = line[length + 1..].chars().next().is_none_or(char::is_whitespace);
    (!key.is_empty() && key.chars().all(is_word) && followed).then_some(length)
}

fn trim(span: &mut Span, text: &str) {
    let value = span.slice(text);
    let leading = value.len() - value.trim_start().len();
    let start = span.start + leading;
    *span = Span::new(start, start.max(span.start + value.trim_end().len()));
}
