//! Words written so that nothing in them is hidden.

use std::fmt::Write as _;

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::parse::quote;

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The name of a program or variable: only ASCII is taken for what it looks like.
    Program,
    /// Another word.
    Word,
    /// Text that a shell would read.
    Text,
}

/// Most characters of a word in a sentence.
const MAX_BRIEF: usize = 80;
/// Signs that look like those of the shell and are others, besides those of full width.
const LOOKALIKES: &str = "\u{37e}\u{1c0}\u{2b9}\u{2bc}\u{2c8}\u{2d0}\u{2d7}\u{589}\u{5f3}\u{60c}\u{61b}\u{66a}\
    \u{6d4}\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2018}\u{2019}\u{201a}\u{201b}\u{201c}\u{201d}\
    \u{2024}\u{2025}\u{2026}\u{2032}\u{2033}\u{2035}\u{2039}\u{203a}\u{2044}\u{2052}\u{2053}\u{2212}\u{2215}\
    \u{2216}\u{2217}\u{2223}\u{2236}\u{223c}\u{226a}\u{226b}\u{275c}\u{276e}\u{276f}\u{2a74}\u{29f5}\u{29f8}\
    \u{29f9}\u{2cc6}\u{3014}\u{3015}\u{a4fa}\u{a778}\u{a789}\u{a78c}";

/// A word for a sentence: safe, short and without line breaks.
pub(crate) fn brief(text: &str) -> String {
    // A secret is found whole, or not at all: so it is masked before anything is cut off.
    let beginning: String = text.chars().take(8 * MAX_BRIEF).collect();
    let (masked, _) = super::secrets::masked(&beginning, is_hidden);
    let is_cut = beginning.len() < text.len() || masked.chars().nth(MAX_BRIEF).is_some();
    let mut safe = String::new();
    for character in masked.chars().take(MAX_BRIEF) {
        if is_hidden(character) || is_lookalike(character) {
            write_out(character, &mut safe);
        } else {
            safe.push(character);
        }
    }
    if is_cut {
        safe.push('…');
    }
    safe
}

/// Writes a text for a person. A word that a shell would not take as it is stands in quotes; one with signs that
/// cannot be seen in `$'…'`, where a `\` that is really there is doubled.
pub(super) fn written(text: &str, part: Part, is_escaped: &mut bool) -> String {
    let must_escape = |(place, character): (usize, char)| {
        is_hidden(character)
            || is_lookalike(character)
            || (part == Part::Program && !character.is_ascii())
            || (place == 0 && is_mark(character))
    };
    let has_hidden = text.char_indices().any(must_escape);
    *is_escaped |= has_hidden;
    if part != Part::Text && !has_hidden {
        return quote(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for (place, character) in text.char_indices() {
        match character {
            '\t' if part == Part::Text => safe.push('\t'),
            _ if must_escape((place, character)) => write_out(character, &mut safe),
            '\\' | '\'' if part != Part::Text => safe.extend(['\\', character]),
            _ => safe.push(character),
        }
    }
    if part == Part::Text { safe } else { format!("$'{safe}'") }
}

/// Whether nobody can see a character, or it changes how others are seen.
pub(super) fn is_hidden(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    let is_odd = matches!(
        character.general_category_group(),
        GeneralCategoryGroup::Other | GeneralCategoryGroup::Separator
    );
    is_odd
        || matches!(character, '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{fffc}' | '\u{1d159}'
            | '\u{e0000}'..='\u{e0fff}')
}

fn is_lookalike(character: char) -> bool {
    matches!(character, '\u{ff01}'..='\u{ff65}' | '\u{fe10}'..='\u{fe19}' | '\u{fe30}'..='\u{fe6f}')
        || (!character.is_ascii() && LOOKALIKES.contains(character))
}

fn is_mark(character: char) -> bool {
    matches!(
        character.general_category(),
        GeneralCategory::NonspacingMark
            | GeneralCategory::EnclosingMark
            | GeneralCategory::SpacingMark
    )
}

fn write_out(character: char, to: &mut String) {
    let _infallible = write!(to, "\\u{{{:x}}}", u32::from(character));
}
