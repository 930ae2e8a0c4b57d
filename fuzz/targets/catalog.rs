//! Any skills and any budget: the report adds up, the text costs no more than it says, and nothing
//! of a skill forges a line or a tag.
#![no_main]

use std::collections::BTreeMap;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use metier_skill::catalog::{Catalog, CatalogItem, Format, HeaderTokens, build, one_line};
use metier_skill::header::Manifest;
use metier_skill::name::SkillName;
use metier_skill::tokens;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    budget: u16,
    skills: Vec<Skill<'a>>,
}

#[derive(Arbitrary, Debug)]
struct Skill<'a> {
    name: &'a str,
    description: &'a str,
    location: &'a str,
}

/// Opening and the line about what was left out, which no budget takes away.
const LEAST_TOKENS: usize = 32;

fuzz_target!(|input: Input<'_>| {
    let skills: BTreeMap<SkillName, (HeaderTokens, String, &str)> = input
        .skills
        .iter()
        .filter_map(|skill| Some((SkillName::new(skill.name).ok()?, skill)))
        .map(|(name, skill)| {
            let manifest = Manifest::bare(name.clone(), skill.description.to_owned());
            let description = one_line(skill.description).into_owned();
            (name, (HeaderTokens::of(&manifest), description, skill.location))
        })
        .collect();
    let items: Vec<CatalogItem<'_>> = skills
        .iter()
        .map(|(name, (tokens, description, location))| CatalogItem {
            name: name.as_str(),
            description,
            location,
            tokens,
        })
        .collect();
    for format in [Format::Lines, Format::Xml] {
        let catalog = build(&items, usize::from(input.budget), format);
        check(&catalog, items.len(), usize::from(input.budget));
        assert_eq!(catalog, build(&items, usize::from(input.budget), format));
        match format {
            Format::Lines => check_lines(&catalog),
            Format::Xml => check_tags(&catalog),
        }
    }
});

fn check(catalog: &Catalog, total: usize, budget: usize) {
    let report = catalog.report;
    assert_eq!(report.total, total);
    assert_eq!(report.full + report.shortened + report.names_only + report.unlisted, total);
    let real = tokens::count(&catalog.text);
    assert!(real <= report.tokens, "{real} tokens, not {}: {:?}", report.tokens, catalog.text);
    assert!(report.tokens <= budget.max(LEAST_TOKENS), "{} of {budget}", report.tokens);
}

/// Every line is the first, the last, or begins like the line of a skill or a group.
fn check_lines(catalog: &Catalog) {
    let report = catalog.report;
    let mut lines = catalog.text.split_terminator('\n');
    assert_eq!(lines.next(), (report.total > 0).then_some("Available skills:"));
    let named = report.full + report.shortened + report.names_only;
    let rest: Vec<&str> = lines.collect();
    assert!(rest.len() >= named);
    assert!(rest.iter().take(named).all(|line| line.starts_with("- ")));
    assert!(!catalog.text.contains(['\r', '\u{85}', '\u{2028}', '\u{2029}', '\0']));
}

/// There are as many tags as skills need.
fn check_tags(catalog: &Catalog) {
    let report = catalog.report;
    let count = |tag: &str| catalog.text.matches(tag).count();
    let named = report.full + report.shortened + report.names_only;
    assert_eq!(count("<skill>"), named);
    assert_eq!(count("</skill>"), named);
    assert_eq!(count("<name>"), named);
    assert_eq!(count("<location>"), named);
    assert_eq!(count("<description>"), report.full + report.shortened);
    assert_eq!(count("<available_skills>"), usize::from(report.total > 0));
}
