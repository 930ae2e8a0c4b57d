//! What names and descriptions cost, counted once when a header is read.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use unicode_properties::{GeneralCategoryGroup as Group, UnicodeGeneralCategory};

use crate::header::Manifest;
use crate::name::is_invisible;
use crate::tokens;

/// A word longer than this can be cut inside: some scripts do without spaces.
const LONGEST_WORD_CHARS: usize = 16;

/// A longer word is not counted again with each of its neighbours…
const LONGEST_JOINED_BYTES: usize = 256;
/// …but taken to cost this much more: an end that is cut otherwise seldom costs more than two.
const EXCESS_OF_LONG: u32 = 8;

/// Tokens of a header, fine enough to know the cost of any shortened description.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeaderTokens {
    /// Tokens of the name.
    pub name: u32,
    /// Tokens of each segment of the description: a word with the space before it. The tokenizer
    /// never joins two words, so the sum is the cost of the whole.
    segments: Counts,
    /// Tokens that joining the two to a line may cost.
    joins: u32,
}

impl HeaderTokens {
    /// Counts a header.
    pub fn of(manifest: &Manifest) -> Self {
        Self::of_parts(manifest.name.as_str(), &one_line(&manifest.description))
    }

    /// Counts a name and a description of one line.
    pub fn of_parts(name: &str, description: &str) -> Self {
        let of_name = count(name);
        let mut counts = Counts::default();
        let words = segments(description).map(|word| (word, count(word)));
        let mut words = words.inspect(|(_, tokens)| counts.push(*tokens));
        let first = words.next().unwrap_or_default();
        let last = words.last().unwrap_or(first);
        Self { name: of_name, joins: joins((name, of_name), first, last), segments: counts }
    }

    /// Tokens of the whole description.
    pub fn description(&self) -> usize {
        self.segments.sum()
    }

    /// Tokens of the name and of joining it and the description to a line.
    pub(crate) fn joined_name(&self) -> usize {
        self.name as usize + self.joins as usize
    }

    /// The longest beginning of the description that costs at most `cap`: its cost, and how many
    /// segments it has.
    pub(crate) fn prefix(&self, cap: usize) -> (usize, usize) {
        let mut cost = 0;
        let mut count = 0;
        for segment in self.segments.iter() {
            if cost + segment > cap {
                break;
            }
            cost += segment;
            count += 1;
        }
        (cost, count)
    }
}

/// Numbers in order, nearly all of them small: each is the sum of some bytes, of which only the
/// last is not 255. There are thousands of descriptions, and a byte a word is little.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Counts(#[serde(with = "bytes")] Vec<u8>);

impl Counts {
    fn push(&mut self, number: u32) {
        let full = (number / 255) as usize;
        self.0.extend(std::iter::repeat_n(u8::MAX, full));
        self.0.push((number % 255) as u8);
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.split_inclusive(|&byte| byte < u8::MAX).map(sum)
    }

    fn sum(&self) -> usize {
        sum(&self.0)
    }
}

fn sum(bytes: &[u8]) -> usize {
    bytes.iter().map(|&byte| usize::from(byte)).sum()
}

/// Bytes that are written and read at once rather than one by one.
mod bytes {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        <&[u8]>::deserialize(from).map(Into::into)
    }
}

fn count(text: &str) -> u32 {
    u32::try_from(tokens::count(text)).unwrap_or(u32::MAX)
}

/// A text, and what it costs by itself.
type Counted<'a> = (&'a str, u32);

/// Tokens that joining may cost beyond the one that every line has to spare: what stands beside a
/// word can make the tokenizer cut all of it otherwise. The tags of XML have enough to spare.
fn joins(name: Counted<'_>, first: Counted<'_>, last: Counted<'_>) -> u32 {
    let at_starts = excess_after_space(name) + excess_after_space(first);
    let at_ends = excess_before(":", name) + excess_before("\n", name) + excess_before("\n", last);
    (at_starts + at_ends).saturating_sub(1)
}

/// What a text costs more after a space.
fn excess_after_space((text, alone): Counted<'_>) -> u32 {
    if text.len() > LONGEST_JOINED_BYTES {
        return EXCESS_OF_LONG;
    }
    // A space becomes part of the word after it, and what follows is cut as before.
    let word = tokens::pieces(text).next().filter(|_| text.starts_with(is_letter));
    let (text, alone) = word.map_or((text, alone), |word| (word, count(word)));
    count(&format!(" {text}")).saturating_sub(alone)
}

fn is_letter(character: char) -> bool {
    character.is_ascii_alphabetic()
}

/// What a text costs more before a neighbour that has been paid for.
fn excess_before(after: &str, (text, alone): Counted<'_>) -> u32 {
    // A sign and its neighbour are two tokens at the most, and after a letter another one begins.
    if signs_at_end(text) < 2 {
        return 0;
    }
    if text.len() > LONGEST_JOINED_BYTES {
        return EXCESS_OF_LONG;
    }
    count(&format!("{text}{after}")).saturating_sub(alone + 1)
}

/// Bytes at the end that belong to no letter or digit.
fn signs_at_end(text: &str) -> usize {
    text.len() - text.trim_end_matches(|last: char| !last.is_alphanumeric()).len()
}

/// The first `count` segments of a description of one line, without the signs at their end: they
/// look odd before an ellipsis, and might join it to a costlier token.
pub(crate) fn first_segments(description: &str, count: usize) -> &str {
    let length: usize = segments(description).take(count).map(str::len).sum();
    description[..length].trim_end_matches(|last: char| {
        let group = last.general_category_group();
        last == ' ' || matches!(group, Group::Punctuation | Group::Symbol)
    })
}

/// A text on one line: blanks and line breaks of every kind become one space, and what shows
/// nothing is left out.
pub fn one_line(text: &str) -> Cow<'_, str> {
    if is_one_line(text) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        let blank = character.is_whitespace() || matches!(character, '\u{2028}' | '\u{2029}');
        if blank {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
        } else if !is_invisible(character) {
            line.push(character);
        }
    }
    line.truncate(line.trim_end().len());
    Cow::Owned(line)
}

/// Whether a text surely is on one line already: visible ASCII with single spaces inside.
fn is_one_line(text: &str) -> bool {
    // Without leaving early, so that many bytes are compared at a time.
    let bytes = text.as_bytes();
    let visible = bytes.iter().fold(true, |all, byte| all & matches!(byte, b' '..=b'~'));
    let blanks = |pair: &[u8; 2]| (pair[0] == b' ') & (pair[1] == b' ');
    let single = !bytes.array_windows().fold(false, |any, pair| any | blanks(pair));
    visible && single && !text.starts_with(' ') && !text.ends_with(' ')
}

/// Words with the space before them; long ones in pieces.
pub(crate) fn segments(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        // The first byte may be the space before the word, the others are of no other character.
        let blank = rest.bytes().skip(1).position(|byte| byte == b' ');
        let blank = blank.map_or(rest.len(), |at| at + 1);
        let word = &rest[..blank];
        let fits = word.len() <= LONGEST_WORD_CHARS;
        let cut = if fits { None } else { first_cut(word) };
        let end = cut.unwrap_or(blank);
        let (segment, after) = rest.split_at(end);
        rest = after;
        Some(segment)
    })
}

/// Where a long word can be cut inside for the first time.
fn first_cut(word: &str) -> Option<usize> {
    let mut rest = word.char_indices().skip(LONGEST_WORD_CHARS + 1);
    rest.find(|(_, character)| !is_latin(*character)).map(|(at, _)| at)
}

/// Latin words are not cut inside, however long.
fn is_latin(character: char) -> bool {
    character < '\u{250}'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::catalog::{CatalogItem, Format, build};

    #[test]
    fn the_cost_of_a_line_is_never_more_than_the_report_says() {
        let words = ["l", "ll", "ab", "0", "é", "技", "-a", ".a", "a'", ";", "b ;", "…", "a …"];
        for (word, length) in words.into_iter().flat_map(|word| [1, 7, 16, 28].map(|n| (word, n))) {
            let (name, description) = (word.repeat(length), word.repeat(length + 4));
            let tokens = HeaderTokens::of_parts(&name, &description);
            let item = CatalogItem {
                name: &name,
                description: &description,
                location: "/",
                tokens: &tokens,
            };
            for format in [Format::Lines, Format::Xml] {
                for budget in [usize::MAX, 60, 20] {
                    let catalog = build(&[item], budget, format);
                    let real = tokens::count(&catalog.text);
                    assert!(real <= catalog.report.tokens, "{real} in {catalog:?}");
                }
            }
        }
    }

    #[test]
    fn numbers_of_any_size_are_kept() {
        let numbers = [0, 1, 254, 255, 256, 510, 511, 70_000];
        let mut counts = Counts::default();
        numbers.into_iter().for_each(|number| counts.push(number));
        let stored = postcard::to_stdvec(&counts).unwrap();
        assert_eq!(postcard::from_bytes::<Counts>(&stored).unwrap(), counts);
        assert!(counts.iter().eq(numbers.map(|number| number as usize)));
        assert_eq!(counts.sum(), numbers.into_iter().sum::<u32>() as usize);
    }

    proptest! {
        #[test]
        fn a_space_costs_what_counting_everything_says(text in "[a-zA-Z0-9'.é技 -]{1,24}") {
            let alone = count(&text);
            let expected = count(&format!(" {text}")).saturating_sub(alone);
            prop_assert_eq!(excess_after_space((&text, alone)), expected, "{:?}", text);
        }
    }

    #[test]
    fn a_word_of_any_length_is_counted_in_full() {
        let word: String = ('a'..='z').cycle().step_by(7).take(150_000).collect();
        let tokens = HeaderTokens::of_parts("a", &word);
        assert!(tokens.description() > usize::from(u16::MAX));
        assert_eq!(tokens.description(), tokens::count(&word));
    }
}
