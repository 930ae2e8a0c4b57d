//! The forms of a value that are looked for, without white space.
//!
//! Escapes are not forms: the stream is decoded instead (`encoding.rs`), so that any mixture of escaped and plain
//! characters is recognised.

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Returns the forms of a value, each once.
pub(crate) fn forms(value: &str) -> Vec<Vec<u8>> {
    let mut forms = vec![value.as_bytes().to_vec(), surrogates(value)];
    // With white space around it and without: both are what people call the value.
    for bytes in [value.as_bytes(), value.trim().as_bytes()] {
        forms.extend([hexadecimal(bytes, b"0123456789abcdef")]);
        forms.extend([hexadecimal(bytes, b"0123456789ABCDEF")]);
        for alphabet in [STANDARD, URL_SAFE] {
            forms.extend((0..3).map(|before| base64(bytes, before, alphabet)));
        }
    }
    for form in &mut forms {
        form.retain(|byte| !is_skipped(*byte));
    }
    forms.sort();
    forms.dedup();
    forms
}

/// Whether a byte may stand between two bytes of a form: blanks, line breaks and other control characters.
pub(crate) fn is_skipped(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7f
}

/// Returns the characters of base64 that depend on the value alone, when so many other bytes come before it modulo 3.
fn base64(bytes: &[u8], before: usize, alphabet: &[u8; 64]) -> Vec<u8> {
    let bit = |at: usize| bytes[at / 8 - before] >> (7 - at % 8) & 1;
    let (first, last) = ((before * 8).div_ceil(6), (before + bytes.len()) * 8 / 6);
    let sextet = |at: usize| (at * 6..at * 6 + 6).fold(0, |sextet, at| sextet << 1 | bit(at));
    (first..last).map(|at| alphabet[usize::from(sextet(at))]).collect()
}

fn hexadecimal(bytes: &[u8], digits: &[u8; 16]) -> Vec<u8> {
    let pair = |byte: &u8| [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]];
    bytes.iter().flat_map(pair).collect()
}

/// Returns the value with each half of a surrogate pair encoded by itself, as some programs write UTF-8.
fn surrogates(value: &str) -> Vec<u8> {
    value.encode_utf16().flat_map(unit_bytes).collect()
}

/// Encodes one unit of UTF-16 in the way of UTF-8.
pub(crate) fn unit_bytes(unit: u16) -> impl Iterator<Item = u8> {
    let low = |shift: u16| 0x80 | (unit >> shift & 0x3f) as u8;
    let bytes = match unit {
        ..0x80 => [Some(unit as u8), None, None],
        0x80..0x800 => [Some(0xc0 | (unit >> 6) as u8), Some(low(0)), None],
        _ => [Some(0xe0 | (unit >> 12) as u8), Some(low(6)), Some(low(0))],
    };
    bytes.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_a_value_are_those_of_common_tools() {
        let text = |form: &Vec<u8>| String::from_utf8_lossy(form).into_owned();
        let all: Vec<String> = forms("key?>~é1").iter().map(text).collect();
        let expected = [
            "6B65793F3E7EC3A931",
            "6b65793f3e7ec3a931",
            "a2V5Pz5-w6kx",
            "a2V5Pz5+w6kx",
            "key?>~é1",
            "rZXk/Pn7DqT",
            "rZXk_Pn7DqT",
            "tleT8-fsOpM",
            "tleT8+fsOpM",
        ];
        for form in expected {
            assert!(all.iter().any(|it| it == form), "{form} is not one of {all:?}");
        }
        assert_eq!(all.len(), expected.len(), "{all:?}");
    }
}
