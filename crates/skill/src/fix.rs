//! Applying the fixes that diagnostics offer.

use crate::diagnostic::{Diagnostic, Edit};

/// Rounds of applying and reading again; a fix may uncover one more problem, not many.
const MAX_ROUNDS: usize = 10;

/// The text with the fixes of `diagnostics` applied, or nothing if there are none.
///
/// Where two fixes overlap the first wins; reading again offers the other.
pub fn apply(text: &str, diagnostics: &[Diagnostic]) -> Option<String> {
    let mut edits: Vec<&Edit> = Vec::new();
    for fix in diagnostics.iter().filter_map(|diagnostic| diagnostic.fix.as_ref()) {
        let overlaps = |edit: &Edit| {
            edits
                .iter()
                .any(|done| edit.span.start <= done.span.end && done.span.start <= edit.span.end)
        };
        if !fix.edits.iter().any(overlaps) {
            edits.extend(&fix.edits);
        }
    }
    edits.sort_by_key(|edit| edit.span);
    let mut fixed = String::with_capacity(text.len());
    let mut done = 0;
    for edit in &edits {
        fixed.push_str(text.get(done..edit.span.start)?);
        fixed.push_str(&edit.replacement);
        done = edit.span.end;
    }
    fixed.push_str(text.get(done..)?);
    (fixed != text).then_some(fixed)
}

/// Applies fixes and looks again until nothing changes.
///
/// ```
/// use metier_skill::fix::apply_until_stable;
/// use metier_skill::header::{ReadOptions, WithoutHeader, read};
///
/// let options = ReadOptions { folder: Some("ship"), without_header: WithoutHeader::Refuse };
/// let broken = "---\nname: ship\ndescription: Use when: a release is made\n---\n\nRun `make dist`.\n";
/// let fixed = apply_until_stable(broken, |text| read(text, &options).diagnostics);
/// assert!(fixed.contains("description: 'Use when: a release is made'\n"), "{fixed}");
/// assert!(read(&fixed, &options).diagnostics.is_empty());
/// ```
pub fn apply_until_stable(text: &str, diagnose: impl Fn(&str) -> Vec<Diagnostic>) -> String {
    let mut text = text.to_owned();
    for _ in 0..MAX_ROUNDS {
        match apply(&text, &diagnose(&text)) {
            Some(fixed) => text = fixed,
            None => break,
        }
    }
    text
}
