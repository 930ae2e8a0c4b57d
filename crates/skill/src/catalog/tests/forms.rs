//! The forms a catalog takes as its budget shrinks, and what each costs.

use super::{Skill, catalog, outcome};
use crate::catalog::{Format, escape};
use crate::tokens;

fn sample() -> Vec<Skill> {
    let word =
        "Rebases, squashes and splits commits without losing work. Use when history matters.";
    vec![
        Skill::new("pdf", "Reads PDF files. Use when a PDF is named."),
        Skill::new("git-rebase", word),
        Skill::new("git-blame", "Finds who wrote a line and why. Use when code puzzles."),
        Skill::new("git-bisect", "Finds the commit that broke it."),
        Skill::new("docs", "Writes docs."),
    ]
}

#[test]
fn all_in_full_when_it_fits() {
    insta::assert_snapshot!(outcome(&sample(), 1_000, Format::Lines), @"
    Available skills:
    - docs: Writes docs.
    - git-bisect: Finds the commit that broke it.
    - git-blame: Finds who wrote a line and why. Use when code puzzles.
    - git-rebase: Rebases, squashes and splits commits without losing work. Use when history matters.
    - pdf: Reads PDF files. Use when a PDF is named.
    = 5: 5 full, 0 shortened, 0 names, 0 unlisted; 89 tokens
    ");
    insta::assert_snapshot!(outcome(&sample(), 1_000, Format::Xml), @"
    <available_skills>
    <skill><name>docs</name><description>Writes docs.</description><location>/skills/docs/SKILL.md</location></skill>
    <skill><name>git-bisect</name><description>Finds the commit that broke it.</description><location>/skills/git-bisect/SKILL.md</location></skill>
    <skill><name>git-blame</name><description>Finds who wrote a line and why. Use when code puzzles.</description><location>/skills/git-blame/SKILL.md</location></skill>
    <skill><name>git-rebase</name><description>Rebases, squashes and splits commits without losing work. Use when history matters.</description><location>/skills/git-rebase/SKILL.md</location></skill>
    <skill><name>pdf</name><description>Reads PDF files. Use when a PDF is named.</description><location>/skills/pdf/SKILL.md</location></skill>
    </available_skills>
    = 5: 5 full, 0 shortened, 0 names, 0 unlisted; 269 tokens
    ");
}

#[test]
fn long_descriptions_are_cut_at_a_word_before_any_is_dropped() {
    insta::assert_snapshot!(outcome(&sample(), 88, Format::Lines), @"
    Available skills:
    - docs: Writes docs.
    - git-bisect: Finds the commit that broke it.
    - git-blame: Finds who wrote a line and why. Use when code puzzles.
    - git-rebase: Rebases, squashes and splits commits without losing work. Use when…
    - pdf: Reads PDF files. Use when a PDF is named.
    = 5: 4 full, 1 shortened, 0 names, 0 unlisted; 88 tokens
    ");
}

#[test]
fn then_names_only() {
    insta::assert_snapshot!(outcome(&sample(), 45, Format::Lines), @"
    Available skills:
    - docs
    - git-bisect
    - git-blame
    - git-rebase
    - pdf
    = 5: 0 full, 0 shortened, 5 names, 0 unlisted; 31 tokens
    ");
}

#[test]
fn then_names_that_begin_alike_become_one_line() {
    insta::assert_snapshot!(outcome(&sample(), 43, Format::Lines), @"
    Available skills:
    - docs
    - git-bisect
    - git-blame
    - git-rebase
    - pdf
    = 5: 0 full, 0 shortened, 5 names, 0 unlisted; 31 tokens
    ");
    insta::assert_snapshot!(outcome(&sample(), 110, Format::Xml), @r#"
    <available_skills>
    <skill><name>docs</name><location>/skills/docs/SKILL.md</location></skill>
    <skills names="git-*" count="3"/>
    <more count="4">find them with skill_search</more>
    </available_skills>
    = 5: 0 full, 0 shortened, 1 names, 4 unlisted; 81 tokens
    "#);
}

#[test]
fn at_last_only_how_many_there_are() {
    insta::assert_snapshot!(outcome(&sample(), 0, Format::Lines), @"
    Available skills:
    5 of the skills are not named here; find them with skill_search.
    = 5: 0 full, 0 shortened, 0 names, 5 unlisted; 24 tokens
    ");
    insta::assert_snapshot!(outcome(&sample(), 0, Format::Xml), @r#"
    <available_skills>
    <more count="5">find them with skill_search</more>
    </available_skills>
    = 5: 0 full, 0 shortened, 0 names, 5 unlisted; 32 tokens
    "#);
}

#[test]
fn the_largest_group_is_folded_first_and_no_more_than_needed() {
    let mut skills: Vec<Skill> =
        (0..14).map(|it| Skill::new(&format!("git-task{it}"), "")).collect();
    skills.extend((0..3).map(|it| Skill::new(&format!("web-task{it}"), "")));
    skills.push(Skill::new("single-one", ""));
    let text = outcome(&skills, 80, Format::Lines);
    insta::assert_snapshot!(text, @"
    Available skills:
    - git-* (14)
    - single-one
    - web-task0
    - web-task1
    - web-task2
    14 of the skills are not named here; find them with skill_search.
    = 18: 0 full, 0 shortened, 4 names, 14 unlisted; 56 tokens
    ");
}

#[test]
fn no_skills_are_no_text() {
    for format in [Format::Lines, Format::Xml] {
        let made = catalog(&[], 1_000, format);
        assert_eq!((made.text.as_str(), made.report.tokens), ("", 0));
    }
}

#[test]
fn descriptions_without_spaces_are_shortened_too() {
    let text =
        "将表格转换为图表并导出为文件。当用户要求绘制图表或可视化数据时使用此技能。".repeat(4);
    let japanese = "表をグラフに変換します。データを可視化したいときに使います。".repeat(4);
    let skills = [Skill::new("chart", &text), Skill::new("graph", &japanese)];
    insta::assert_snapshot!(outcome(&skills, 80, Format::Lines), @"
    Available skills:
    - chart: 将表格转换为图表并导出为文件。当用户要求绘制图表或可视化数据时使用此…
    - graph: 表をグラフに変換します。データを可視化したいときに使います。表をグラ…
    = 2: 0 full, 2 shortened, 0 names, 0 unlisted; 74 tokens
    ");
}

#[test]
fn the_cost_of_xml_is_a_base_and_a_constant_with_the_fields_of_each_skill() {
    const BASE: usize = 12;
    const EACH: usize = 30;
    let skills = sample();
    let fields = |skill: &Skill| {
        tokens::count(&skill.name)
            + tokens::count(&skill.description)
            + tokens::count(&escape(&skill.location))
    };
    let formula: usize = BASE + skills.iter().map(|skill| EACH + fields(skill)).sum::<usize>();
    let made = catalog(&skills, 100_000, Format::Xml);
    assert_eq!(made.report.tokens, formula);
    let real = tokens::count(&made.text);
    assert!(real <= formula && formula <= real + BASE + 12 * skills.len(), "{real} {formula}");
}

#[test]
fn the_cost_of_lines_is_close_to_that_of_the_names_and_descriptions() {
    const BASE: usize = 4;
    const EACH: usize = 4;
    let skills = sample();
    let fields = |it: &Skill| tokens::count(&it.name) + tokens::count(&it.description);
    let formula: usize = BASE + skills.iter().map(|it| EACH + fields(it)).sum::<usize>();
    let made = catalog(&skills, 100_000, Format::Lines);
    assert_eq!(made.report.tokens, formula);
    assert!(tokens::count(&made.text) <= formula);
}

#[test]
fn what_escaping_adds_is_paid_only_for_what_is_shown() {
    let quoted = |number: usize| {
        let text =
            format!("Charts number {number}. {}", "Say 'draw' or 'plot' & \"go\". ".repeat(20));
        Skill::new(&format!("chart{number}"), &text)
    };
    let skills: Vec<Skill> = (0..10).map(quoted).collect();
    let report = catalog(&skills, 1_000, Format::Xml).report;
    assert_eq!((report.shortened, report.total), (10, 10), "{report:?}");
}
