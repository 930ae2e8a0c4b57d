//! Whatever the skills and the budget: the report adds up, the text costs no more than it says,
//! and nobody is starved.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{Skill, catalog};
use crate::catalog::cost::{first_segments, segments};
use crate::catalog::{CatalogReport, Format, default_budget, escape};
use crate::tokens;

/// Every catalog has its opening and, if skills are left out, the line that counts them.
fn smallest(format: Format) -> usize {
    match format {
        Format::Lines => 24,
        Format::Xml => 32,
    }
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "(git|docs|k8s|pdf|x)(-[a-z]{1,8}){1,3}",
        "[a-z][a-z0-9]{0,20}",
        "[a-z0-9]{1,4}(-[0-9]{1,5}){1,2}",
        "[A-Za-z_.: é語技ß0-9#$'\"&-]{1,24}",
    ]
    .prop_filter_map("only safe names reach a catalog", |name| {
        crate::name::SkillName::new(&name).ok().map(|name| name.as_str().to_owned())
    })
}

fn description() -> impl Strategy<Value = String> {
    prop_oneof![
        "([A-Za-z]{1,12}[,.:;]? ){0,60}[a-z]{1,9}",
        "[a-zA-Z0-9<>&\"'/(){}*_`~!?%$#@ .,:;-]{0,300}",
        "[\u{4e00}-\u{4fff}。、]{0,200}",
        "([\u{1f600}-\u{1f64f}]|[a-z]{1,5} |[À-ÿ]{1,9} ){0,80}",
        "[a-z]{100,400}",
        "\\PC{0,200}",
    ]
}

fn skills() -> impl Strategy<Value = Vec<Skill>> {
    prop::collection::btree_map(name(), description(), 0..40)
        .prop_map(|skills| skills.iter().map(|(name, text)| Skill::new(name, text)).collect())
}

fn format() -> impl Strategy<Value = Format> {
    prop_oneof![Just(Format::Lines), Just(Format::Xml)]
}

fn budget() -> impl Strategy<Value = usize> {
    prop_oneof![0..200_usize, 200..4_000_usize, Just(1_000_000)]
}

/// Names that stand in a catalog with the description each has, and the number behind it.
fn listed(text: &str, format: Format) -> (Vec<(String, Option<String>)>, usize) {
    let mut names = Vec::new();
    let mut behind = 0;
    for line in text.lines().skip(1) {
        match format {
            Format::Lines => match line.strip_prefix("- ") {
                Some(line) if line.ends_with(')') && line.contains("-* (") => {}
                Some(line) => names.push((line.to_owned(), None)),
                None => behind = line.split(' ').next().unwrap().parse().unwrap(),
            },
            Format::Xml => {
                let between = |open: &str, close: &str| {
                    let (_, rest) = line.split_once(open)?;
                    Some(rest.split_once(close)?.0.to_owned())
                };
                if let Some(name) = between("<name>", "</name>") {
                    names.push((name, between("<description>", "</description>")));
                } else if let Some(count) = between("<more count=\"", "\"") {
                    behind = count.parse().unwrap();
                }
            }
        }
    }
    (names, behind)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_forms_add_up_and_the_cost_is_within_the_budget(
        skills in skills(), budget in budget(), format in format()
    ) {
        let made = catalog(&skills, budget, format);
        let CatalogReport { total, full, shortened, names_only, unlisted, tokens } = made.report;
        prop_assert_eq!(total, skills.len());
        prop_assert_eq!(total, full + shortened + names_only + unlisted);
        prop_assert!(tokens <= budget.max(smallest(format)), "{:?}", made.report);
        prop_assert!(
            tokens::count(&made.text) <= tokens,
            "{} tokens, {:?}\n{}", tokens::count(&made.text), made.report, made.text
        );
        prop_assert_eq!(made.text.is_empty(), skills.is_empty());
    }

    #[test]
    fn every_skill_is_listed_or_counted_in_the_order_of_names(
        skills in skills(), budget in budget()
    ) {
        let made = catalog(&skills, budget, Format::Xml);
        let (names, behind) = listed(&made.text, Format::Xml);
        prop_assert_eq!(names.len() + behind, skills.len());
        prop_assert_eq!(behind, made.report.unlisted);
        let shown: Vec<String> = names.into_iter().map(|(name, _)| name).collect();
        let mut wanted: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
        wanted.sort_unstable();
        let wanted: Vec<String> = wanted.into_iter().map(escape).collect();
        prop_assert!(shown.iter().all(|name| wanted.contains(name)));
        let places: Vec<_> =
            shown.iter().map(|name| wanted.iter().position(|it| it == name)).collect();
        prop_assert!(places.is_sorted());
        let lines = catalog(&skills, budget, Format::Lines);
        let (names, behind) = listed(&lines.text, Format::Lines);
        prop_assert_eq!(names.len() + behind, skills.len());
    }

    #[test]
    fn the_text_depends_on_nothing_but_the_skills_and_the_budget(
        skills in skills(), budget in budget(), format in format()
    ) {
        let made = catalog(&skills, budget, format);
        let mut backwards = skills;
        backwards.reverse();
        prop_assert_eq!(catalog(&backwards, budget, format), made);
    }

    #[test]
    fn no_description_is_dropped_while_another_keeps_more_than_the_cap(
        skills in skills(), budget in budget()
    ) {
        let made = catalog(&skills, budget, Format::Xml);
        let report = made.report;
        if report.names_only + report.unlisted > 0 {
            prop_assert_eq!(report.full + report.shortened, 0);
        }
        let kept = kept_segments(&skills, &made.text);
        let cost = |segments: &[&str]| -> usize { segments.iter().map(|it| tokens::count(it)).sum() };
        let most = kept.values().map(|it| cost(&it.at_least)).max().unwrap_or_default();
        for (name, Kept { at_most, next, .. }) in &kept {
            if let Some(next) = next {
                prop_assert!(cost(at_most) + tokens::count(next) > most, "{} {:?}", name, next);
            }
        }
    }

    #[test]
    fn a_larger_budget_never_shows_fewer_descriptions(
        skills in skills(), budget in 0..3_000_usize, more in 0..2_000_usize
    ) {
        let shown = |budget| {
            let report = catalog(&skills, budget, Format::Lines).report;
            (report.full + report.shortened, report.full)
        };
        prop_assert!(shown(budget).0 <= shown(budget + more).0);
        prop_assert!(shown(budget).1 <= shown(budget + more).1);
    }
}

proptest! {
    /// Among many skills the slack of some would hide that others cost more than is said.
    #[test]
    fn the_cost_of_one_skill_is_within_what_is_said(
        name in name(), text in description(), budget in 40..120_usize, format in format()
    ) {
        for budget in [budget, 1_000_000] {
            let made = catalog(&[Skill::new(&name, &text)], budget, format);
            let cost = tokens::count(&made.text);
            prop_assert!(cost <= made.report.tokens, "{} {:?}", cost, made);
        }
    }
}

/// What a line shows of a description. Signs at the end of what is kept are not shown, so several
/// numbers of segments may show the same.
struct Kept<'a> {
    at_least: Vec<&'a str>,
    at_most: Vec<&'a str>,
    /// The first that is surely not kept.
    next: Option<&'a str>,
}

fn kept_segments<'a>(skills: &'a [Skill], text: &str) -> BTreeMap<&'a str, Kept<'a>> {
    let (names, _) = listed(text, Format::Xml);
    let shown: BTreeMap<String, Option<String>> = names.into_iter().collect();
    let mut kept = BTreeMap::new();
    for skill in skills {
        let Some(Some(text)) = shown.get(&escape(&skill.name)) else { continue };
        let text = text.strip_suffix('…').filter(|_| *text != escape(&skill.description));
        let all: Vec<&str> = segments(&skill.description).collect();
        let shows = |count: &usize| {
            text.is_none_or(|text| escape(first_segments(&skill.description, *count)) == text)
        };
        let counts = || (0..=all.len()).filter(shows);
        let (fewest, most) = match text {
            None => (all.len(), all.len()),
            Some(_) => (counts().min().unwrap(), counts().max().unwrap()),
        };
        let (at_least, at_most) = (all[..fewest].to_vec(), all[..most].to_vec());
        kept.insert(skill.name.as_str(), Kept { at_least, at_most, next: all.get(most).copied() });
    }
    kept
}

#[test]
fn a_thousand_skills_fit_into_four_thousand_tokens_and_all_can_be_found() {
    let skills: Vec<Skill> = (0..1_000)
        .map(|number| {
            let area = ["git", "docs", "cloud", "data", "web", "mail", "test"][number % 7];
            let text = format!("Does the {number}th thing about {area}. Use when asked about it.");
            Skill::new(&format!("{area}-task-{number}"), &text)
        })
        .collect();
    for format in [Format::Lines, Format::Xml] {
        let made = catalog(&skills, 4_000, format);
        let report = made.report;
        assert!(report.tokens <= 4_000 && tokens::count(&made.text) <= 4_000, "{report:?}");
        assert_eq!(report.total, 1_000);
        assert_eq!(report.names_only + report.unlisted, 1_000);
        assert!(made.text.contains("skill_search"));
    }
}

#[test]
fn the_budget_follows_the_window_within_bounds() {
    assert_eq!(default_budget(None), 4_000);
    assert_eq!(default_budget(Some(128_000)), 2_560);
    assert_eq!(default_budget(Some(8_000)), 1_000);
    assert_eq!(default_budget(Some(0)), 1_000);
    assert_eq!(default_budget(Some(1_000_000)), 8_000);
    assert_eq!(default_budget(Some(usize::MAX)), 8_000);
}
