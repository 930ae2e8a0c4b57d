//! JSON under comments and trailing commas: they are blanked out, byte for byte.

/// A text without comments and trailing commas, each other byte in its place.
pub(crate) struct BlankedJson {
    /// Without comments.
    pub(crate) uncommented: String,
    /// And without trailing commas.
    pub(crate) plain: String,
}

impl BlankedJson {
    /// Blanks a text; `None` if a comment or a string never ends.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let mut bytes = text.as_bytes().to_vec();
        if text.starts_with('\u{feff}') {
            bytes[..'\u{feff}'.len_utf8()].fill(b' ');
        }
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'"' => at = string_end(&bytes, at)?,
                b'/' => {
                    let end = comment_end(&bytes, at)?;
                    let blanked = bytes[at..end].iter_mut();
                    blanked.filter(|it| !it.is_ascii_whitespace()).for_each(|it| *it = b' ');
                    at = end;
                }
                _ => at += 1,
            }
        }
        let uncommented = String::from_utf8(bytes.clone()).ok()?;
        blank_trailing_commas(&mut bytes)?;
        Some(Self { uncommented, plain: String::from_utf8(bytes).ok()? })
    }
}

fn blank_trailing_commas(bytes: &mut [u8]) -> Option<()> {
    let (mut at, mut before) = (0, b'{');
    while at < bytes.len() {
        let byte = bytes[at];
        if byte == b'"' {
            at = string_end(bytes, at)?;
            before = byte;
            continue;
        }
        let next = || bytes[at + 1..].iter().find(|it| !it.is_ascii_whitespace());
        if byte == b',' && !b"{[,:".contains(&before) && matches!(next(), Some(b'}' | b']')) {
            bytes[at] = b' ';
        } else if !byte.is_ascii_whitespace() {
            before = byte;
        }
        at += 1;
    }
    Some(())
}

/// Returns the place behind the string that begins here.
pub(crate) fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Returns the place behind the comment that begins here.
pub(crate) fn comment_end(bytes: &[u8], start: usize) -> Option<usize> {
    let rest = bytes.get(start + 2..).unwrap_or_default();
    match bytes.get(start + 1)? {
        b'/' => Some(start + 2 + rest.iter().position(|it| *it == b'\n').unwrap_or(rest.len())),
        b'*' => Some(start + 4 + rest.windows(2).position(|it| it == b"*/")?),
        _ => None,
    }
}

/// Returns the place behind the value that begins here, in text that is JSON.
pub(crate) fn value_end(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0_usize);
    loop {
        match bytes.get(at)? {
            b'"' => at = string_end(bytes, at)?,
            b'{' | b'[' => (at, depth) = (at + 1, depth + 1),
            b'}' | b']' => (at, depth) = (at + 1, depth.checked_sub(1)?),
            _ if depth > 0 => at += 1,
            _ => {
                let ends = |it: &u8| it.is_ascii_whitespace() || b",}]".contains(it);
                let rest = &bytes[at..];
                return Some(at + rest.iter().position(ends).unwrap_or(rest.len()));
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}
