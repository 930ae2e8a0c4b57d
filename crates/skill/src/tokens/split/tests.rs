//! The hand-written splitter against the pattern it stands for.

use std::sync::LazyLock;

use fancy_regex::Regex;
use proptest::prelude::*;

use super::pieces;
use crate::tokens::tests::mixed_text;

/// The pattern as the makers of the vocabulary published it.
static PATTERN: LazyLock<Regex> = LazyLock::new(|| {
    let lines = [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ];
    Regex::new(&lines.join("|")).unwrap()
});

/// One character for each combination of sets, and those with a role of their own.
const REPRESENTATIVES: [char; 15] =
    ['A', 'ǅ', 'b', 'ʰ', '中', '\u{301}', '7', ' ', '\t', '\u{a0}', '\n', '!', '/', '\'', 's'];

fn assert_split_as_the_pattern_does(text: &str) {
    let expected = PATTERN.find_iter(text).map(|found| found.unwrap().as_str());
    assert!(pieces(text).eq(expected), "{text:?} splits into {}", quoted(text));
}

fn outcome(text: &str) -> String {
    assert_split_as_the_pattern_does(text);
    quoted(text)
}

fn quoted(text: &str) -> String {
    let pieces: Vec<_> = pieces(text).map(|piece| format!("{piece:?}")).collect();
    pieces.join(" ")
}

#[test]
fn words_take_one_character_before_them_and_a_contraction_after_them() {
    insta::assert_snapshot!(outcome("I'm sure (they'LL) say:don't"), @r#""I'm" " sure" " (" "they'LL" ")" " say" ":don't""#);
}

#[test]
fn a_contraction_folds_case_beyond_ascii() {
    insta::assert_snapshot!(outcome("it'ſ a'RE b'rE c'r d''s"), @r#""it'ſ" " a'RE" " b'rE" " c" "'r" " d" "''" "s""#);
}

#[test]
fn capitals_begin_a_new_word_after_small_letters() {
    insta::assert_snapshot!(outcome("camelCase HTTPServer ABC"), @r#""camel" "Case" " HTTPServer" " ABC""#);
}

#[test]
fn letters_without_case_end_a_word_before_capitals() {
    insta::assert_snapshot!(outcome("A中B 中ABC ABʰC"), @r#""A中" "B" " 中" "ABC" " ABʰ" "C""#);
}

#[test]
fn a_mark_leads_a_word_or_is_one() {
    insta::assert_snapshot!(outcome("\u{301}a \u{301}A \u{301}! !\u{301}\u{301}"), @r#""\u{301}a" " \u{301}" "A" " \u{301}" "!" " !\u{301}\u{301}""#);
}

#[test]
fn numbers_come_in_threes() {
    insta::assert_snapshot!(outcome("12345 ½Ⅷ٣4"), @r#""123" "45" " " "½Ⅷ٣" "4""#);
}

#[test]
fn symbols_take_line_breaks_and_slashes_after_them() {
    insta::assert_snapshot!(outcome("a ;\n/\r\n/b //c 👍\u{fe0f}/"), @r#""a" " ;\n/\r\n/" "b" " //" "c" " 👍\u{fe0f}/""#);
}

#[test]
fn white_space_ends_at_its_last_line_break() {
    insta::assert_snapshot!(outcome("a \r\n \n  b\u{2028} c"), @r#""a" " \r\n \n" " " " b" "\u{2028}" " c""#);
}

#[test]
fn white_space_leaves_its_last_character_to_the_word() {
    insta::assert_snapshot!(outcome("a   b \t7\u{3000}\u{3000}c   "), @r#""a" "  " " b" " " "\t" "7" "\u{3000}" "\u{3000}c" "   ""#);
}

#[test]
fn all_short_texts_split_as_the_pattern_does() {
    let mut texts = vec![String::new()];
    for _ in 0..5 {
        texts = texts
            .iter()
            .flat_map(|text| REPRESENTATIVES.map(|character| format!("{text}{character}")))
            .collect();
        texts.iter().for_each(|text| assert_split_as_the_pattern_does(text));
    }
}

#[test]
fn every_character_is_in_the_sets_of_the_pattern() {
    let all: Vec<char> = ('\0'..=char::MAX).collect();
    for characters in all.chunks(1 << 12) {
        let text: String =
            characters.iter().flat_map(|&it| ['a', it, 'A', it, it, '7', it]).collect();
        assert_split_as_the_pattern_does(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn mixed_texts_split_as_the_pattern_does(text in mixed_text()) {
        assert_split_as_the_pattern_does(&text);
    }
}
