//! M065: skills that a model cannot tell apart.

use crate::lint::{Linted, collisions, lint_skill};
use crate::scratch::Scratch;

fn linted(scratch: &Scratch, skills: &[(&str, &str)]) -> Vec<Linted> {
    let lint = |(name, description): &(&str, &str)| {
        let folder = scratch.skill_named(name, name, description);
        lint_skill(&folder.join("SKILL.md")).unwrap()
    };
    skills.iter().map(lint).collect()
}

fn outcome(skills: &[(&str, &str)]) -> String {
    let scratch = Scratch::new();
    let linted = linted(&scratch, skills);
    let line = |(place, diagnostic): &(usize, crate::diagnostic::Diagnostic)| {
        let help = scratch.shorten(diagnostic.help.as_deref().unwrap_or_default());
        let at = diagnostic.span.slice(&linted[*place].text);
        format!(
            "{} {}: {}\n  at {at:?}\n  {help}\n",
            diagnostic.code, skills[*place].0, diagnostic.message
        )
    };
    collisions(&linted).iter().map(line).collect()
}

const CHARTS: &str = "Draws charts from spreadsheet data. Use when the user wants a chart.";

#[test]
fn two_that_say_the_same_are_each_told_of_the_other_with_the_score() {
    insta::assert_snapshot!(outcome(&[
        ("plot", CHARTS),
        ("chart", CHARTS),
        ("mail", "Sends letters by electronic mail. Use when writing to people."),
    ]), @r#"
    M065 plot: the description is 100 % like that of `chart`
      at "Draws charts from spreadsheet data. Use when the user wants a chart."
      say what sets the two apart; the other is chart/SKILL.md
    M065 chart: the description is 100 % like that of `plot`
      at "Draws charts from spreadsheet data. Use when the user wants a chart."
      say what sets the two apart; the other is plot/SKILL.md
    "#);
}

#[test]
fn nearly_the_same_is_too_alike() {
    let other = "Draws charts out of spreadsheet data. Use when the user asks for a chart.";
    insta::assert_snapshot!(outcome(&[
        ("plot", CHARTS),
        ("chart", other),
        ("mail", "Sends letters by electronic mail. Use when writing to people."),
        ("git", "Rebases and bisects commits. Use when history matters."),
    ]), @r#"
    M065 plot: the description is 72 % like that of `chart`
      at "Draws charts from spreadsheet data. Use when the user wants a chart."
      say what sets the two apart; the other is chart/SKILL.md
    M065 chart: the description is 72 % like that of `plot`
      at "Draws charts out of spreadsheet data. Use when the user asks for a chart."
      say what sets the two apart; the other is plot/SKILL.md
    "#);
}

#[test]
fn a_part_that_is_alike_one_way_only_is_no_collision() {
    let long = format!(
        "{CHARTS} Also writes reports, mails them to colleagues, archives old files, translates \
         documents, plans journeys, books rooms and keeps the minutes of every meeting."
    );
    assert_eq!(outcome(&[("plot", CHARTS), ("everything", &long)]), "");
}

#[test]
fn different_skills_do_not_collide() {
    assert_eq!(
        outcome(&[
            ("plot", CHARTS),
            ("mail", "Sends letters by electronic mail. Use when writing to people."),
            ("git", "Rebases and bisects commits. Use when history matters."),
        ]),
        ""
    );
    assert_eq!(outcome(&[("alone", CHARTS)]), "");
    assert_eq!(outcome(&[]), "");
}

#[test]
fn every_one_of_many_copies_is_told() {
    let names: Vec<String> = (0..20).map(|number| format!("copy{number:02}")).collect();
    let skills: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), CHARTS)).collect();
    let scratch = Scratch::new();
    let linted = linted(&scratch, &skills);
    let mut told: Vec<usize> = collisions(&linted).iter().map(|(place, _)| *place).collect();
    told.dedup();
    assert_eq!(told, (0..20).collect::<Vec<_>>());
}

#[test]
fn a_skill_that_cannot_be_read_takes_no_part() {
    let scratch = Scratch::new();
    let mut skills = linted(&scratch, &[("plot", CHARTS), ("chart", CHARTS)]);
    let broken = scratch.write("broken/SKILL.md", "---\nname: broken\n---\n");
    skills.insert(0, lint_skill(&broken).unwrap());
    let places: Vec<usize> = collisions(&skills).iter().map(|(place, _)| *place).collect();
    assert_eq!(places, [1, 2]);
}
