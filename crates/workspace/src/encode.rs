//! File names for ids and names that come from outside.

use std::fmt::Write;

/// Longest file name made here. eCryptfs takes 143 bytes, other file systems 255.
const MAX_BYTES: usize = 140;
/// How much of a text that is too long stays readable: with mark and digest it fits.
const HEAD_BYTES: usize = 72;

/// A file name for a text that is not empty. Different texts have different names.
///
/// Lowercase letters, digits, `_`, `-` and dots between others stand for themselves; every other
/// byte becomes `%` and two lowercase hexadecimal digits. Without capitals and non-ASCII, no file
/// system takes two names for one; without slashes and dots at an end, no name is a path. A name
/// that gets too long is cut and ends in `%-` and the digest of the text; a `-` after `%` occurs
/// nowhere else.
pub(crate) fn file_name(text: &str) -> String {
    let last = text.len().saturating_sub(1);
    let mut name = String::new();
    for (index, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' => name.push(char::from(byte)),
            b'.' if index != 0 && index != last => name.push('.'),
            _ => write!(name, "%{byte:02x}").expect("a string takes whatever is written to it"),
        }
    }
    if name.len() > MAX_BYTES {
        name.truncate(HEAD_BYTES);
        name.push_str("%-");
        name.push_str(&blake3::hash(text.as_bytes()).to_hex());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_name_is_a_path_or_differs_from_another_in_case_alone() {
        let names = ["out/report.txt", ".", "..", "...", "../x", "a.b", ".a.", "A", "%41", "é\0\n"];
        let shown: Vec<_> = names.iter().map(|name| file_name(name)).collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        out%2freport.txt
        %2e
        %2e%2e
        %2e.%2e
        %2e.%2fx
        a.b
        %2ea%2e
        %41
        %2541
        %c3%a9%00%0a
        ");
    }

    #[test]
    fn long_texts_end_in_a_digest_and_stay_apart() {
        let fits = "x".repeat(MAX_BYTES);
        let long = "x".repeat(MAX_BYTES + 1);
        let longer = "É".repeat(500);
        assert_eq!(file_name(&fits), fits);
        for text in [&long, &longer] {
            assert!(file_name(text).len() <= MAX_BYTES);
            assert!(file_name(text).contains("%-"));
            assert_ne!(file_name(text), file_name(&format!("{text}x")));
        }
        // Whoever chooses a name cannot choose that of another.
        assert_ne!(file_name(&file_name(&long)), file_name(&long));
    }
}
