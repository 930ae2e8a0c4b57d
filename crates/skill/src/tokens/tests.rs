//! Counts, compared with two other tokenizers for the same vocabulary.
//!
//! One of them brings its own copy of the vocabulary, and both split and merge
//! in their own way. Texts come from lists, from chance, and from a folder if
//! `METIER_TEST_CORPUS` names one.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::select;

use super::count;
use super::merge::Merger;

static TIKTOKEN: LazyLock<&'static tiktoken::CoreBpe> =
    LazyLock::new(|| tiktoken::get_encoding("o200k_base").unwrap());
static TIKTOKEN_RS: LazyLock<&'static tiktoken_rs::CoreBPE> =
    LazyLock::new(tiktoken_rs::o200k_base_singleton);

/// Parts that meet each other in ways a pattern or a merge could get wrong.
#[rustfmt::skip]
const FRAGMENTS: &[&str] = &[
    // Words, in all kinds of letters.
    "the", "Skill", "HTTP", "camelCase", "Ünïcödé", "ſtraße", "ǅungla", "ʰʲ", "ªº", "ΑΒγδ",
    "Привет", "שלום", "مرحبا", "नमस्ते", "สวัสดี", "中文字", "漢", "ひらがな", "カタカナ", "한국어",
    "ﷺ", "𝕏𝒚", "Ꮳꭰ",
    // Marks, joiners and emoji.
    "\u{301}", "\u{20dd}", "e\u{301}\u{323}", "\u{903}", "\u{200d}", "\u{fe0f}",
    "👩\u{200d}💻", "🇩🇪", "👍🏽",
    // Contractions, whole and broken.
    "'s", "'S", "'ll", "'LL", "'lL", "'re", "'VE", "'d", "'m", "'t", "'ſ",
    "'", "’s", "'r", "'l", "''",
    // Numbers.
    "1", "42", "2024", "1234567", "½", "Ⅷ", "٣٤", "①",
    // White space, and two that are not.
    " ", "  ", "   ", "\t", "\n", "\r\n", "\r", "\n\n", "\u{b}", "\u{c}", "\u{85}", "\u{a0}",
    "\u{2003}", "\u{2028}", "\u{3000}", "\u{200b}", "\u{feff}",
    // Symbols, code, and characters without a meaning.
    "/", "//", "/\n", ".", "...", "!", "?!", "---", "===", "```", "{}", "();", "<|endoftext|>",
    "$", "€", "«", "_", "#", "\\", "\0", "\u{7f}", "\u{e000}", "\u{10ffff}", "\u{378}",
];

/// Texts of fragments and arbitrary characters.
pub(super) fn mixed_text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        8 => select(FRAGMENTS).prop_map(str::to_owned),
        2 => any::<char>().prop_map(String::from),
        1 => "[a-zA-Z]{1,20}",
        1 => "[A-Za-z0-9+/]{60,90}",
    ];
    prop::collection::vec(part, 0..24).prop_map(|parts| parts.concat())
}

fn assert_counted_as_by_others(text: &str) {
    let start: String = text.chars().take(80).collect();
    let counted = count(text);
    assert_eq!(counted, TIKTOKEN.count(text), "tiktoken, {start:?}");
    assert_eq!(counted, TIKTOKEN_RS.encode_ordinary(text).len(), "tiktoken-rs, {start:?}");
}

/// Characters in an order without pattern, the same in every run.
fn noise(alphabet: &str, length: usize) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    let mut state = 1_u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        alphabet[(state >> 33) as usize % alphabet.len()]
    };
    std::iter::repeat_with(next).take(length).collect()
}

#[test]
fn known_counts() {
    let counts =
        ["", "a", "Hello, world!", "<|endoftext|>", "antidisestablishmentarianism", "日本語"]
            .map(|text| format!("{} {text:?}", count(text)));
    insta::assert_snapshot!(counts.join("\n"), @r#"
    0 ""
    1 "a"
    4 "Hello, world!"
    7 "<|endoftext|>"
    6 "antidisestablishmentarianism"
    2 "日本語"
    "#);
}

#[test]
fn each_fragment_before_each_other() {
    for first in FRAGMENTS {
        for second in FRAGMENTS {
            assert_counted_as_by_others(&format!("{first}{second}"));
        }
    }
}

#[test]
fn every_character() {
    let all: Vec<char> = ('\0'..=char::MAX).collect();
    for characters in all.chunks(1 << 12) {
        assert_counted_as_by_others(&characters.iter().collect::<String>());
    }
}

#[test]
fn pieces_around_the_length_where_the_merge_changes() {
    for length in 24..=40 {
        assert_counted_as_by_others(&noise("abcdefghijklmnopqrstuvwxyz", length));
        assert_counted_as_by_others(&noise("!$%&*+-<=>?@^|~", length));
        assert_counted_as_by_others(&noise("中文字漢語", length / 3));
    }
}

#[test]
fn long_pieces_are_counted_in_good_time() {
    for text in [
        "a".repeat(200_000),
        "A".repeat(50_000),
        "ab".repeat(25_000),
        " ".repeat(1_000_000),
        "\n".repeat(50_000),
        "=".repeat(50_000),
        "中".repeat(20_000),
        "\u{301}".repeat(20_000),
        noise("abcdefghijklmnopqrstuvwxyz", 50_000),
        noise("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 200_000),
        noise("aªAʰ\u{301}", 50_000),
    ] {
        // The other tokenizer runs out of stack here.
        assert_eq!(count(&text), TIKTOKEN.count(&text), "{:?}", text.chars().next());
    }
}

#[test]
fn pieces_beyond_a_mebibyte_are_counted_in_parts() {
    let mebibyte = "a".repeat(1 << 20);
    assert_eq!(count(&format!("{mebibyte}aaa")), TIKTOKEN.count(&mebibyte) + count("aaa"));
}

#[test]
fn memory_kept_from_a_long_piece_does_not_change_the_next() {
    let mut merger = Merger::default();
    for length in [500, 90, 70, 400] {
        let piece = noise("abcdefghij", length);
        assert_eq!(merger.count(piece.as_bytes()), TIKTOKEN.count(&piece));
    }
}

#[test]
fn texts_of_a_corpus() {
    #[expect(clippy::disallowed_methods, reason = "names optional input of this test only")]
    let Some(folder) = std::env::var_os("METIER_TEST_CORPUS") else {
        return;
    };
    for file in files_below(Path::new(&folder)) {
        if let Ok(text) = fs::read_to_string(file) {
            assert_counted_as_by_others(&text);
        }
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn mixed_texts(text in mixed_text()) {
        assert_counted_as_by_others(&text);
    }
}
