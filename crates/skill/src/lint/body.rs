//! The body by itself: its length, its characters, the programs it runs, and whether the
//! description says when to use it.

use crate::diagnostic::{Code, Diagnostic, Edit};
use crate::header::{Manifest, Reading};
use crate::lint::commands;
use crate::name::is_invisible;
use crate::text::Span;
use crate::tokens;

const MAX_BODY_LINES: usize = 500;
const MAX_BODY_TOKENS: usize = 5_000;
/// Places with invisible characters that are pointed at; more would be noise.
const MAX_INVISIBLE: usize = 20;

/// Flags of regions are written with tags after it.
const BLACK_FLAG: char = '\u{1f3f4}';
const END_OF_TAGS: char = '\u{e007f}';
const MAX_FLAG_LETTERS: usize = 6;

/// Words by which a description says when a skill is wanted.
const WHEN_WORDS: [&str; 22] = [
    "when", "whenever", "use this", "use it", "use for", "use to", "used for", "used to",
    "trigger", "asks", "asked", "if you", "if the", "during", "before", "after", "wants",
    "use with", "当", "时", "とき", "場合",
];

pub(crate) fn check(text: &str, reading: &Reading) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    if let Some(manifest) = &reading.manifest {
        diagnostics.extend(check_description(reading.description.unwrap_or_default(), manifest));
        diagnostics.extend(check_length(text, reading.body));
        diagnostics.extend(commands::check(text, reading.body, manifest));
    }
    diagnostics.extend(check_characters(text));
    diagnostics
}

fn check_description(span: Span, manifest: &Manifest) -> Option<Diagnostic> {
    let description = manifest.description.to_lowercase();
    if WHEN_WORDS.iter().any(|word| description.contains(word)) {
        return None;
    }
    let message = "the description does not say when to use the skill";
    Some(
        Diagnostic::new(Code::DescriptionNoWhen, span, message)
            .help("a model chooses by the description: add \"Use when …\""),
    )
}

fn check_length(text: &str, body: Span) -> Vec<Diagnostic> {
    let body_text = body.slice(text);
    let start = body.start + (body_text.len() - body_text.trim_start().len());
    let first_line = Span::new(start, start + text[start..].lines().next().map_or(0, str::len));
    if body_text.trim().is_empty() {
        let message = "the body is empty";
        let diagnostic = Diagnostic::new(Code::EmptyBody, Span::at(body.start), message);
        return vec![diagnostic.help("say what to do, step by step")];
    }
    let help = "move details into files under `references/`, and say when to read them";
    let mut diagnostics = Vec::new();
    let lines = body_text.lines().count();
    if lines > MAX_BODY_LINES {
        let message = format!("the body has {lines} lines, more than {MAX_BODY_LINES}");
        diagnostics.push(Diagnostic::new(Code::BodyLines, first_line, message).help(help));
    }
    let tokens = tokens::count(body_text);
    if tokens > MAX_BODY_TOKENS {
        let message = format!("the body costs {tokens} tokens, more than {MAX_BODY_TOKENS}");
        diagnostics.push(Diagnostic::new(Code::BodyTokens, first_line, message).help(help));
    }
    diagnostics
}

/// Text that cannot be seen, a diagnostic for each place. The last one stands for all the places
/// that are not pointed at, and mends them too.
fn check_characters(text: &str) -> Vec<Diagnostic> {
    let mut places = invisible_text(text);
    let rest = places.split_off(places.len().min(MAX_INVISIBLE));
    let mut diagnostics = Vec::new();
    for (index, &span) in places.iter().enumerate() {
        let mut message = invisible_message(span.slice(text));
        let mut edits = vec![removal(span)];
        if index + 1 == MAX_INVISIBLE && !rest.is_empty() {
            message.push_str(&format!(", and {} more places like it", rest.len()));
            edits.extend(rest.iter().copied().map(removal));
        }
        diagnostics.push(
            Diagnostic::new(Code::InvisibleText, span, message)
                .help("text that people cannot see can say something else to a model")
                .fix("remove it", edits),
        );
    }
    diagnostics
}

fn removal(span: Span) -> Edit {
    Edit { span, replacement: String::new() }
}

fn invisible_message(run: &str) -> String {
    let first = u32::from(run.chars().next().unwrap_or_default());
    match run.chars().count() {
        1 => format!("an invisible character, U+{first:04X}"),
        count => format!("{count} invisible characters, the first is U+{first:04X}"),
    }
}

/// Where invisible characters stand, those beside each other as one.
fn invisible_text(text: &str) -> Vec<Span> {
    let mut runs: Vec<Span> = Vec::new();
    let mut previous = ' ';
    let mut at = 0;
    while let Some(character) = text[at..].chars().next() {
        let end = at + character.len_utf8();
        if at > 0 && is_suspicious(character, previous) {
            match runs.last_mut() {
                Some(run) if run.end == at => run.end = end,
                _ => runs.push(Span::new(at, end)),
            }
        }
        previous = character;
        at = end + if character == BLACK_FLAG { flag_letters(&text[end..]) } else { 0 };
    }
    runs
}

/// The length of the tags that make the flag of a region: a few letters or digits and an end.
fn flag_letters(text: &str) -> usize {
    let is_letter = |it: &char| matches!(it, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}');
    let letters: usize = text.chars().take_while(is_letter).map(char::len_utf8).sum();
    let ended = text[letters..].starts_with(END_OF_TAGS);
    let few = letters / END_OF_TAGS.len_utf8() <= MAX_FLAG_LETTERS;
    if ended && few { letters + END_OF_TAGS.len_utf8() } else { 0 }
}

/// Invisible, and not one of the few that ordinary text needs: line breaks, tabs, and single
/// joiners and variations after a character that is not of ASCII.
fn is_suspicious(character: char, previous: char) -> bool {
    match character {
        '\n' | '\r' | '\t' => false,
        '\u{200c}' | '\u{200d}' => previous.is_ascii() || is_invisible(previous),
        '\u{e000}'..='\u{f8ff}' => false,
        _ if is_variation(character) => is_variation(previous),
        _ => is_invisible(character) && !is_unassigned(character),
    }
}

/// Selects how the character before it looks; many in a row can carry a hidden text.
fn is_variation(character: char) -> bool {
    matches!(character, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Characters newer than our tables are not suspicious for that.
fn is_unassigned(character: char) -> bool {
    use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
    character.general_category() == GeneralCategory::Unassigned
}
