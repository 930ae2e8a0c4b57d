//! What must hold for every `SKILL.md`, whoever wrote it; shared by the targets that read one.
//!
//! A check panics when its promise is broken, which is how a fuzzer learns of it. Time and memory
//! are watched by the fuzzer itself.

use metier_skill::diagnostic::{Code, Diagnostic};
use metier_skill::fix;
use metier_skill::header::{self, Frame, ReadOptions, Reading, WithoutHeader};
use metier_skill::reference;
use metier_skill::text::{LineIndex, Span};

/// The folder every file is said to be in.
const FOLDER: &str = "log-lens";

/// Reads a text in every way there is and checks what comes of it.
pub fn check_skill_file(text: &str) {
    for folder in [None, Some(FOLDER)] {
        for without_header in [WithoutHeader::Refuse, WithoutHeader::FirstParagraph] {
            check_reading(text, &ReadOptions { folder, without_header });
        }
    }
    check_line_ends(text);
    let _faults = reference::validate(text, FOLDER);
    let _properties = reference::properties(text);
}

/// Whether a diagnostic from outside [`header::read`] stands inside the text.
pub fn check_diagnostic(text: &str, diagnostic: &Diagnostic) {
    check_span(text, diagnostic.span);
    for label in &diagnostic.related {
        check_span(text, label.span);
    }
    for edit in diagnostic.fix.iter().flat_map(|fix| &fix.edits) {
        check_span(text, edit.span);
    }
}

fn check_reading(text: &str, options: &ReadOptions<'_>) {
    let reading = header::read(text, options);
    check_places(text, &reading);
    assert!(
        reading.manifest.is_some() || !reading.diagnostics.is_empty(),
        "a skill that cannot be used has a reason"
    );
    if let Ok(frame) = Frame::find(text.as_bytes()) {
        assert_eq!(frame.body, reading.body, "there is one way to find the body");
    }
    check_fixes(text, options, &reading);
}

/// A file says the same with the line ends of another system. There is a short way of reading that
/// is not taken then, so this compares the two ways as well.
fn check_line_ends(text: &str) {
    if text.contains('\r') || Frame::find(text.as_bytes()).is_err() {
        return;
    }
    let options = ReadOptions { folder: Some(FOLDER), without_header: WithoutHeader::Refuse };
    let other = text.replace('\n', "\r\n");
    let (here, there) = (header::read(text, &options), header::read(&other, &options));
    assert_eq!(here.manifest, there.manifest);
    let codes = |reading: &Reading| -> Vec<Code> {
        reading.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
    };
    assert_eq!(codes(&here), codes(&there));
}

fn check_places(text: &str, reading: &Reading) {
    check_span(text, reading.body);
    if let Some(span) = reading.description {
        check_span(text, span);
    }
    let lines = LineIndex::new(text);
    for diagnostic in &reading.diagnostics {
        check_diagnostic(text, diagnostic);
        let place = lines.position(diagnostic.span.start);
        assert!(place.line >= 1 && place.column >= 1);
        assert!(!diagnostic.message.is_empty());
    }
    let in_order = reading.diagnostics.is_sorted_by_key(|diagnostic| diagnostic.span);
    assert!(in_order, "diagnostics stand in the order of the text");
}

/// Applying fixes ends, leaves none to apply, and changes nothing that the skill says but its name.
fn check_fixes(text: &str, options: &ReadOptions<'_>, before: &Reading) {
    if before.diagnostics.iter().all(|diagnostic| diagnostic.fix.is_none()) {
        return;
    }
    let fixed = fix::apply_until_stable(text, |text| header::read(text, options).diagnostics);
    let after = header::read(&fixed, options);
    check_places(&fixed, &after);
    let left = after.diagnostics.iter().find(|diagnostic| diagnostic.fix.is_some());
    assert!(left.is_none(), "a fix is left after all were applied: {left:?}\n{fixed:?}");
    // Mending looks at one entry at a time; where entries refer to each other it may close a gate
    // that turns out to be readable once the rest is mended.
    let may_refer = text.contains('&') && text.contains('*');
    if let Some(manifest) = before.manifest.as_ref().filter(|_| !may_refer) {
        let after = after.manifest.expect("a usable skill stays usable when it is mended");
        assert_eq!(manifest.description, after.description, "{fixed:?}");
        assert_eq!(manifest.gate, after.gate, "{fixed:?}");
        assert_eq!(manifest.allowed_tools, after.allowed_tools, "{fixed:?}");
        assert_eq!(manifest.invocation, after.invocation, "{fixed:?}");
    }
}

fn check_span(text: &str, span: Span) {
    assert!(text.get(span.start..span.end).is_some(), "{span:?} is no part of {text:?}");
}
