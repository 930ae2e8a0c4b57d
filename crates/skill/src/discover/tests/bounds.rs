//! How far the walk goes, and that it says where it stopped.

use super::{outcome, root, scan_one};
use crate::scratch::Scratch;

#[test]
fn folders_are_searched_six_deep() {
    let scratch = Scratch::new();
    scratch.skill("root/1/2/3/4/5/six");
    scratch.write("root/1/2/3/4/5/low/skill.md", "---\nname: low\ndescription: Low.\n---\n");
    insta::assert_snapshot!(outcome(&scratch), @"
    root/1/2/3/4/5/low/skill.md: low
    root/1/2/3/4/5/six/SKILL.md: six
    M014 warning root/1/2/3/4/5/low/skill.md: `skill.md` should be called `SKILL.md`
    ");
    scratch.skill("root/1/2/3/4/5/group/seven");
    insta::assert_snapshot!(outcome(&scratch), @"
    root/1/2/3/4/5/low/skill.md: low
    root/1/2/3/4/5/six/SKILL.md: six
    M081 warning root/1/2/3/4/5/group: folders more than 6 deep were not searched
    M014 warning root/1/2/3/4/5/low/skill.md: `skill.md` should be called `SKILL.md`
    ");
}

#[test]
fn folders_that_would_be_skipped_anyway_are_not_reported_as_too_deep() {
    let scratch = Scratch::new();
    scratch.folder("root/1/2/3/4/5/6/.git");
    scratch.folder("root/1/2/3/4/5/6/node_modules");
    scratch.link("root/1/2/3/4/5/6/to-a-file", "/etc/passwd");
    insta::assert_snapshot!(outcome(&scratch), @"");
    scratch.skill("elsewhere");
    scratch.link("root/1/2/3/4/5/6/to-a-folder", scratch.path("elsewhere"));
    insta::assert_snapshot!(outcome(&scratch), @"M081 warning root/1/2/3/4/5/6: folders more than 6 deep were not searched");
}

#[test]
fn two_thousand_folders_are_searched() {
    let scratch = Scratch::new();
    for number in 0..1_999 {
        scratch.folder(format!("root/a{number:04}"));
    }
    scratch.skill("root/last");
    insta::assert_snapshot!(outcome(&scratch), @"root/last/SKILL.md: last");
    scratch.skill("root/one-more");
    insta::assert_snapshot!(outcome(&scratch), @"
    root/last/SKILL.md: last
    M081 warning root: the root has more than 2000 folders; the rest was not searched
    ");
}

#[test]
fn twenty_thousand_entries_are_looked_at() {
    let scratch = Scratch::new();
    scratch.skill("root/a-skill");
    scratch.skill("root/z-group/hidden-by-the-bound");
    for number in 0..19_996 {
        scratch.write(format!("root/many/{number}"), "");
    }
    // With the three folders of the root and what is in the last one, these are all.
    assert_eq!(scan_one(root(scratch.path("root")), None).problems, []);
    scratch.write("root/many/one-more", "");
    insta::assert_snapshot!(outcome(&scratch), @"
    root/a-skill/SKILL.md: a-skill
    M081 warning root: the root has more than 20000 entries; the rest was not searched
    ");
}

#[test]
fn what_a_bound_cuts_off_does_not_depend_on_the_order_of_creation() {
    let made = |numbers: &mut dyn Iterator<Item = usize>| {
        let scratch = Scratch::new();
        for number in numbers {
            scratch.write(format!("root/many/{number}"), "");
            if number == 10_000 {
                scratch.write("root/many/skill.md", "Text.\n");
            }
        }
        outcome(&scratch)
    };
    assert_eq!(made(&mut (0..20_001)), made(&mut (0..20_001).rev()));
}
