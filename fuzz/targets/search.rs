//! Any text as a question over any skills.
//!
//! The first line is the question, every other line a skill: name, description and body with tabs
//! between them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use metier_skill::search::{Document, Index, headings};

const LIMIT: usize = 5;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split('\n');
    let query = lines.next().unwrap_or_default();
    let skills: Vec<(&str, &str, Vec<String>)> = lines
        .map(|line| {
            let mut fields = line.splitn(3, '\t').chain(["", "", ""]);
            let mut field = || fields.next().unwrap_or_default();
            (field(), field(), headings(field()))
        })
        .collect();
    let index = Index::new(skills.iter().map(|(name, description, headings)| Document {
        name,
        description,
        headings,
    }));
    check(&index, query, skills.len());
    for (name, ..) in &skills {
        check(&index, name, skills.len());
    }
    let _outline = headings(&text);
});

fn check(index: &Index, query: &str, skills: usize) {
    let hits = index.search(query, LIMIT);
    assert!(hits.len() <= LIMIT);
    assert!(hits.iter().all(|hit| hit.score.is_finite() && hit.score > 0.0));
    assert!(hits.iter().all(|hit| hit.document < skills));
    assert!(hits.is_sorted_by(|left, right| left.score >= right.score), "the best comes first");
    assert_eq!(hits, index.search(query, LIMIT), "the same question has the same answer");
}
