//! Which folders are skills.

use std::fs;

use super::{outcome, outcome_of, root};
use crate::discover::{Absence, Root, find_skill_files, read_skill};
use crate::scratch::Scratch;

#[test]
fn a_skill_is_not_searched_for_more_skills() {
    let scratch = Scratch::new();
    scratch.skill("root/outer");
    scratch.skill("root/outer/inner");
    scratch.skill("root/group/one");
    scratch.skill("root/group/two");
    insta::assert_snapshot!(outcome(&scratch), @"
    root/group/one/SKILL.md: one
    root/group/two/SKILL.md: two
    root/outer/SKILL.md: outer
    ");
}

#[test]
fn hidden_folders_and_those_of_tools_are_skipped() {
    let scratch = Scratch::new();
    for folder in ["node_modules", "target", "__pycache__", ".venv", ".git", ".hidden"] {
        scratch.skill(format!("root/{folder}/skill"));
        scratch.skill(format!("root/group/{folder}/skill"));
    }
    scratch.skill("root/.hidden-skill");
    scratch.skill("root/target-practice");
    insta::assert_snapshot!(outcome(&scratch), @"root/target-practice/SKILL.md: target-practice");
}

#[test]
fn a_root_may_be_hidden_or_have_the_name_of_a_skipped_folder() {
    let scratch = Scratch::new();
    scratch.skill(".claude/skills/one");
    scratch.skill("target/two");
    let found = |path: &str| outcome_of(&scratch, root(scratch.path(path)));
    insta::assert_snapshot!(found(".claude/skills"), @".claude/skills/one/SKILL.md: one");
    insta::assert_snapshot!(found("target"), @"target/two/SKILL.md: two");
}

#[test]
fn a_root_may_be_a_skill_itself() {
    let scratch = Scratch::new();
    scratch.skill("root");
    scratch.skill("root/inner");
    insta::assert_snapshot!(outcome(&scratch), @"root/SKILL.md: root");
}

#[test]
fn a_skill_file_in_another_case_is_taken_with_a_remark() {
    let scratch = Scratch::new();
    for (folder, name) in [("low", "skill.md"), ("mixed", "Skill.MD"), ("group/deep", "skill.md")] {
        scratch.skill(format!("root/{folder}"));
        let folder = scratch.path("root").join(folder);
        fs::rename(folder.join("SKILL.md"), folder.join(name)).unwrap();
    }
    scratch.write("root/low/sub/SKILL.md", "---\nname: sub\ndescription: Not entered.\n---\n");
    insta::assert_snapshot!(outcome(&scratch), @"
    root/group/deep/skill.md: deep
    root/low/skill.md: low
    root/mixed/Skill.MD: mixed
    M014 warning root/group/deep/skill.md: `skill.md` should be called `SKILL.md`
    M014 warning root/low/skill.md: `skill.md` should be called `SKILL.md`
    M014 warning root/mixed/Skill.MD: `Skill.MD` should be called `SKILL.md`
    ");
}

#[test]
fn the_usual_case_is_preferred_and_one_file_a_folder_is_taken() {
    let scratch = Scratch::new();
    scratch.skill("root/both");
    scratch.write("root/both/skill.md", "---\nname: other\ndescription: Not it.\n---\n");
    scratch.write("root/others/skill.md", "---\nname: second\ndescription: Not it.\n---\n");
    scratch.write("root/others/Skill.md", "---\nname: others\ndescription: It.\n---\n");
    let name = |folder: &str| {
        read_skill(&scratch.path(folder)).unwrap().0.unwrap().manifest.name.to_string()
    };
    assert_eq!((&*name("root/both"), &*name("root/others")), ("both", "others"));
    insta::assert_snapshot!(outcome(&scratch), @"
    root/both/SKILL.md: both
    root/others/Skill.md: others
    M014 warning root/others/Skill.md: `Skill.md` should be called `SKILL.md`
    ");
}

#[test]
fn only_a_regular_file_is_read_as_a_skill_file() {
    let scratch = Scratch::new();
    scratch.fifo("root/pipe/SKILL.md");
    scratch.socket("root/socket/SKILL.md");
    scratch.folder("root/folder/SKILL.md");
    scratch.link("root/broken/SKILL.md", "nothing.md");
    scratch.link("root/cycle/SKILL.md", "SKILL.md");
    scratch.link("root/device/SKILL.md", "/dev/zero");
    scratch.link("root/unreadable/SKILL.md", "/proc/self/mem");
    scratch.fifo("root/lower/skill.md");
    scratch.link("root/lower-link/skill.md", "/dev/zero");
    scratch.skill("root/good");
    insta::assert_snapshot!(outcome(&scratch), @"
    root/good/SKILL.md: good
    M010 error root/broken/SKILL.md: `SKILL.md` cannot be read: No such file or directory (os error 2)
    M010 error root/cycle/SKILL.md: `SKILL.md` cannot be read: Too many levels of symbolic links (os error 40)
    M010 error root/device/SKILL.md: `SKILL.md` cannot be read: it is not a regular file
    M010 error root/folder/SKILL.md: `SKILL.md` cannot be read: it is not a regular file
    M010 error root/lower/skill.md: `SKILL.md` cannot be read: it is not a regular file
    M014 warning root/lower/skill.md: `skill.md` should be called `SKILL.md`
    M010 error root/lower-link/skill.md: `SKILL.md` cannot be read: it is not a regular file
    M014 warning root/lower-link/skill.md: `skill.md` should be called `SKILL.md`
    M010 error root/pipe/SKILL.md: `SKILL.md` cannot be read: it is not a regular file
    M010 error root/socket/SKILL.md: `SKILL.md` cannot be read: it is not a regular file
    M010 error root/unreadable/SKILL.md: `SKILL.md` cannot be read: Input/output error (os error 5)
    ");
}

#[test]
fn a_skill_file_of_more_than_a_mebibyte_is_not_read() {
    let scratch = Scratch::new();
    let header = "---\nname: big\ndescription: Big.\n---\n";
    scratch.write("root/big/SKILL.md", format!("{header}{}", "x".repeat(10_000_000)));
    let most = (1 << 20) - header.len();
    scratch.write("root/most/SKILL.md", format!("{header}{}", "x".repeat(most)));
    scratch.write("root/one-more/SKILL.md", format!("{header}{}", "x".repeat(most + 1)));
    insta::assert_snapshot!(outcome(&scratch), @"
    root/most/SKILL.md: big
    M009 error root/big/SKILL.md: the file has 10000036 bytes and was not read
    M027 warning root/most/SKILL.md: the name `big` is not the name of the folder, `most`
    M009 error root/one-more/SKILL.md: the file has 1048577 bytes and was not read
    ");
}

#[test]
fn a_missing_root_is_reported_only_where_somebody_named_it() {
    let scratch = Scratch::new();
    let reported = |path: &str| {
        let root = root(scratch.path(path));
        outcome_of(&scratch, Root { absence: Absence::Reported, ..root })
    };
    insta::assert_snapshot!(outcome(&scratch), @"");
    insta::assert_snapshot!(reported("root"), @"M080 error root: there is no such folder");
    scratch.link("dangling", "nowhere");
    insta::assert_snapshot!(reported("dangling"), @"M080 error dangling: there is no such folder");
}

#[test]
fn a_root_that_is_no_folder_is_reported_only_where_somebody_named_it() {
    let scratch = Scratch::new();
    scratch.write("root", "a file");
    assert_eq!(outcome(&scratch), "");
    let root = Root { absence: Absence::Reported, ..root(scratch.path("root")) };
    insta::assert_snapshot!(outcome_of(&scratch, root), @"M080 error root: the folder cannot be read: Not a directory (os error 20)");
}

#[test]
fn neither_skills_nor_problems_depend_on_the_order_of_creation() {
    let made = |numbers: &mut dyn Iterator<Item = usize>| {
        let scratch = Scratch::new();
        for number in numbers {
            scratch.skill(format!("root/g{}/s{number}", number % 7));
            scratch.write(format!("root/bad{number}/SKILL.md"), "no header");
            scratch.fifo(format!("root/pipe{number}/SKILL.md"));
            scratch.write(format!("root/low{number}/skill.md"), "Text.\n");
            scratch.write(format!("root/low{number}/SKILL.MD"), "Text.\n");
        }
        outcome(&scratch)
    };
    assert_eq!(made(&mut (0..60)), made(&mut (0..60).rev()));
}

#[test]
fn the_files_alone_can_be_asked_for() {
    let scratch = Scratch::new();
    scratch.skill("root/b");
    scratch.write("root/a/SKILL.md", "broken");
    let (files, problems) = find_skill_files(&root(scratch.path("root")));
    assert_eq!(files, [scratch.path("root/a/SKILL.md"), scratch.path("root/b/SKILL.md")]);
    assert_eq!(problems, []);
}
