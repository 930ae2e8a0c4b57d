//! Words of strangers, of which only so many are kept.

/// As much of a text as fits into so many bytes; what is left out is said.
pub(super) fn bounded(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    let kept = &text[..text.floor_char_boundary(max_bytes)];
    format!("{kept}\n[… {} more]", size((text.len() - kept.len()) as u64))
}

/// The beginning of a text on one line, for a message.
pub(super) fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// A number of bytes, for people.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes.div_ceil(1_000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    }
}

/// Characters of an excerpt.
const EXCERPT: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted_and_no_character_is_cut() {
        assert_eq!(bounded("abc", 3), "abc");
        assert_eq!(bounded("aééé", 4), "aé\n[… 4 bytes more]");
        assert_eq!(bounded(&"x".repeat(5_500), 500).len(), 500 + "\n[… 5 kB more]".len());
    }

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(excerpt(" a\n\tb "), "a b");
        assert_eq!(excerpt(&"é".repeat(300)), format!("{}…", "é".repeat(200)));
    }

    #[test]
    fn sizes_are_rounded_for_people() {
        let shown = [999, 1_000, 12_001, 999_999, 1_234_567].map(size);
        assert_eq!(shown, ["999 bytes", "1 kB", "13 kB", "1000 kB", "1.2 MB"]);
    }
}
