//! From text to terms: lower case, English stems, and pairs of characters for scripts that do
//! without spaces.

use std::collections::HashSet;
use std::sync::LazyLock;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;

/// Most headings of a body that are indexed.
const MAX_HEADINGS: usize = 200;
/// Longest word; anything longer is data.
const MAX_WORD_CHARS: usize = 40;

/// Words that stand in every question and tell skills apart in none.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "but", "by", "can", "could", "did", "do", "does", "don", "each",
    "for", "from", "get", "give", "had", "has", "have", "he", "her", "here", "how", "i", "if",
    "in", "into", "is", "it", "its", "just", "let", "like", "make", "me", "more", "most", "my",
    "need", "no", "not", "of", "on", "one", "or", "our", "out", "please", "s", "she", "should",
    "so", "some", "such", "t", "than", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "those", "to", "too", "up", "us", "use", "used", "user", "users", "using",
    "want", "was", "we", "were", "what", "when", "whenever", "where", "which", "while", "who",
    "why", "will", "with", "without", "would", "you", "your",
];

/// Words that stand in many questions and say little about what is wanted.
const FAINT_WORDS: &str = "actually always ask bad best better big bit bring call care close come \
    day deal done easy else every everything everywhere find first forever friend full go good got \
    grab great guy happen help hour idea info keep kind know last left little long look lot many \
    maybe mean minute morning much near never new next nice nobody now okay old only open part people \
    place possible pretty put quick really right run say see set show since single someone something \
    soon start still stop stuff sure take tell thing think time try turn two type usual wait way well \
    whole work year";

/// How much a faint word of a question counts.
const FAINT: f32 = 0.3;

static FAINT_STEMS: LazyLock<HashSet<String>> =
    LazyLock::new(|| terms(FAINT_WORDS).into_iter().collect());

/// How much a term of a question counts.
pub(crate) fn emphasis(term: &str) -> f32 {
    if FAINT_STEMS.contains(term) { FAINT } else { 1.0 }
}

/// The terms of a text, in order.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut analyser = Analyser { stemmer: Stemmer::create(Algorithm::English), terms: Vec::new() };
    let mut word = String::new();
    let mut dense = Vec::new();
    for character in text.nfkc().flat_map(char::to_lowercase) {
        if is_dense(character) {
            analyser.take_word(&mut word);
            dense.push(character);
            continue;
        }
        analyser.take_dense(&mut dense);
        if character.is_alphanumeric() || (character == '+' || character == '#') && !word.is_empty()
        {
            word.push(character);
        } else if character != '\'' && character != '’' {
            analyser.take_word(&mut word);
        }
    }
    analyser.take_word(&mut word);
    analyser.take_dense(&mut dense);
    analyser.terms
}

/// The headings of a Markdown body.
pub fn headings(body: &str) -> Vec<String> {
    let mut headings = Vec::new();
    let mut current: Option<String> = None;
    for event in Parser::new(body) {
        match (event, &mut current) {
            (Event::Start(Tag::Heading { .. }), slot) => *slot = Some(String::new()),
            (Event::End(TagEnd::Heading(_)), slot) => headings.extend(slot.take()),
            (Event::Text(text) | Event::Code(text), Some(heading)) => heading.push_str(&text),
            _ => {}
        }
        if headings.len() >= MAX_HEADINGS {
            break;
        }
    }
    headings
}

struct Analyser {
    stemmer: Stemmer,
    terms: Vec<String>,
}

impl Analyser {
    fn take_word(&mut self, word: &mut String) {
        let taken = std::mem::take(word);
        if taken.is_empty()
            || taken.chars().count() > MAX_WORD_CHARS
            || STOP_WORDS.binary_search(&taken.as_str()).is_ok()
        {
            return;
        }
        self.terms.push(self.stemmer.stem(&taken).into_owned());
    }

    /// Pairs of neighbours; a single character by itself.
    fn take_dense(&mut self, characters: &mut Vec<char>) {
        match characters.as_slice() {
            [] => {}
            [single] => self.terms.push(single.to_string()),
            many => self.terms.extend(many.windows(2).map(|pair| pair.iter().collect::<String>())),
        }
        characters.clear();
    }
}

/// Whether a character belongs to a script without spaces between words.
fn is_dense(character: char) -> bool {
    matches!(character,
        '\u{3040}'..='\u{30ff}'      // hiragana, katakana
        | '\u{3400}'..='\u{4dbf}'    // Han, extension A
        | '\u{4e00}'..='\u{9fff}'    // Han
        | '\u{f900}'..='\u{faff}'    // Han, compatibility
        | '\u{ac00}'..='\u{d7af}'    // Hangul
        | '\u{0e00}'..='\u{0e7f}'    // Thai
        | '\u{20000}'..='\u{2fa1f}') // Han, further extensions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted_for_the_search() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn inflections_share_a_stem_and_dense_scripts_give_pairs() {
        assert_eq!(terms("Merging merged merges"), ["merg"; 3]);
        assert_eq!(terms("don't use C++ or the PDF's"), ["dont", "c++", "pdfs"].map(stem));
        assert_eq!(terms("翻译PDF文件 字"), ["翻译", "pdf", "文件", "字"]);
        assert_eq!(terms("会議録"), ["会議", "議録"]);
    }

    fn stem(word: &str) -> String {
        Stemmer::create(Algorithm::English).stem(word).into_owned()
    }

    #[test]
    fn headings_are_text_without_markup() {
        assert_eq!(headings("# A `b` *c*\n\ntext\n\n## D\n```\n# no\n```\n"), ["A b c", "D"]);
    }
}
