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
/// Invisible characters that are pointed at; more would be noise.
const MAX_INVISIBLE: usize = 20;

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

fn check_characters(text: &str) -> Vec<Diagnostic> {
    let mut previous = ' ';
    let mut diagnostics = Vec::new();
    for (at, character) in text.char_indices() {
        if at > 0 && is_suspicious(character, previous) {
            let span = Span::new(at, at + character.len_utf8());
            let message = format!("an invisible character, U+{:04X}", u32::from(character));
            let edit = Edit { span, replacement: String::new() };
            diagnostics.push(
                Diagnostic::new(Code::InvisibleText, span, message)
                    .help("text that people cannot see can say something else to a model")
                    .fix("remove it", vec![edit]),
            );
        }
        previous = character;
    }
    diagnostics.truncate(MAX_INVISIBLE);
    diagnostics
}

/// Invisible, and not one of the few that ordinary text needs: line breaks, tabs, and the
/// joiners inside emoji and scripts that use them.
fn is_suspicious(character: char, previous: char) -> bool {
    match character {
        '\n' | '\r' | '\t' => false,
        '\u{200c}' | '\u{200d}' => previous.is_ascii(),
        '\u{e000}'..='\u{f8ff}' => false,
        // Flags of regions are written with tags after a black flag.
        '\u{e0020}'..='\u{e007f}' => {
            previous != '\u{1f3f4}' && !('\u{e0020}'..='\u{e007f}').contains(&previous)
        }
        _ => is_invisible(character) && !is_unassigned(character),
    }
}

/// Characters newer than our tables are not suspicious for that.
fn is_unassigned(character: char) -> bool {
    use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
    character.general_category() == GeneralCategory::Unassigned
}
