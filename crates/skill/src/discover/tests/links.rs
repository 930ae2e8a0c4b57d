//! Where links of a root may lead.

use super::{outcome, outcome_of, root};
use crate::discover::{Links, Root};
use crate::scratch::Scratch;

/// Scans the folder `root` as that of a project.
fn in_project(scratch: &Scratch, also: &[&str]) -> String {
    let also = also.iter().map(|folder| scratch.path(folder)).collect();
    outcome_of(scratch, Root { links: Links::Inside { also }, ..root(scratch.path("root")) })
}

#[test]
fn a_users_root_may_link_anywhere() {
    let scratch = Scratch::new();
    scratch.skill("elsewhere/linked");
    scratch.link("root/linked", "../elsewhere/linked");
    scratch.skill("elsewhere/group/one");
    scratch.link("root/group", scratch.path("elsewhere/group"));
    scratch.skill("elsewhere/file");
    scratch.link("root/file/SKILL.md", "../../elsewhere/file/SKILL.md");
    insta::assert_snapshot!(outcome(&scratch), @"
    root/file/SKILL.md: file
    root/group/one/SKILL.md: one
    root/linked/SKILL.md: linked
    ");
}

#[test]
fn a_projects_root_may_not_link_outside() {
    let scratch = Scratch::new();
    scratch.skill("elsewhere/linked");
    scratch.link("root/absolute", scratch.path("elsewhere/linked"));
    scratch.link("root/relative", "../elsewhere/linked");
    scratch.link("root/hop", "hop-on");
    scratch.link("root/hop-on", "../elsewhere/linked");
    scratch.link("root/file/SKILL.md", "../../elsewhere/linked/SKILL.md");
    scratch.link("root/group/deep", "../../elsewhere");
    insta::assert_snapshot!(in_project(&scratch, &[]), @"
    M083 error root/absolute: the link leads outside its root; move the skill into the root, or allow the target of the link
    M083 error root/file/SKILL.md: the link leads outside its root; move the skill into the root, or allow the target of the link
    M083 error root/group/deep: the link leads outside its root; move the skill into the root, or allow the target of the link
    M083 error root/hop: the link leads outside its root; move the skill into the root, or allow the target of the link
    M083 error root/hop-on: the link leads outside its root; move the skill into the root, or allow the target of the link
    M083 error root/relative: the link leads outside its root; move the skill into the root, or allow the target of the link
    ");
}

#[test]
fn a_projects_root_may_link_inside_and_where_the_person_allowed() {
    let scratch = Scratch::new();
    scratch.skill("allowed/far");
    scratch.skill("allowed-not/far");
    scratch.skill("root/near");
    scratch.link("root/again", "near");
    scratch.link("root/far", "../allowed/far");
    scratch.link("root/not", "../allowed-not/far");
    insta::assert_snapshot!(in_project(&scratch, &["allowed", "not-there"]), @"
    root/again/SKILL.md: near
    root/far/SKILL.md: far
    root/near/SKILL.md: near
    M027 warning root/again/SKILL.md: the name `near` is not the name of the folder, `again`
    M083 error root/not: the link leads outside its root; move the skill into the root, or allow the target of the link
    ");
}

#[test]
fn an_allowed_target_is_judged_by_where_it_really_is() {
    let scratch = Scratch::new();
    scratch.skill("real/far");
    scratch.link("allowed", "real");
    scratch.link("root/far", "../real/far");
    scratch.link("real/out", "../private");
    scratch.skill("private/secret");
    scratch.link("root/trick", "../real/out");
    insta::assert_snapshot!(in_project(&scratch, &["allowed"]), @"
    root/far/SKILL.md: far
    M083 error root/trick: the link leads outside its root; move the skill into the root, or allow the target of the link
    ");
}

#[test]
fn a_root_that_is_a_link_is_judged_by_where_it_leads() {
    let scratch = Scratch::new();
    scratch.skill("real/one");
    scratch.link("real/two", "one");
    scratch.link("real/out", "../outside");
    scratch.skill("outside");
    scratch.link("root", "real");
    insta::assert_snapshot!(in_project(&scratch, &[]), @"
    root/one/SKILL.md: one
    root/two/SKILL.md: one
    M083 error root/out: the link leads outside its root; move the skill into the root, or allow the target of the link
    M027 warning root/two/SKILL.md: the name `one` is not the name of the folder, `two`
    ");
}

#[test]
fn links_that_go_round_in_circles_end() {
    let scratch = Scratch::new();
    scratch.skill("root/a/skill");
    scratch.link("root/a/up", "..");
    scratch.link("root/a/self", ".");
    scratch.link("root/a/loop", "loop");
    scratch.link("root/a/to-b", "../b");
    scratch.link("root/b/to-a", "../a");
    insta::assert_snapshot!(outcome(&scratch), @"
    root/a/skill/SKILL.md: skill
    root/b/to-a/skill/SKILL.md: skill
    M082 warning root/a/self: the link leads back to a folder above it and was not followed
    M082 warning root/a/up: the link leads back to a folder above it and was not followed
    M082 warning root/b/to-a/self: the link leads back to a folder above it and was not followed
    M082 warning root/b/to-a/up: the link leads back to a folder above it and was not followed
    ");
}

#[test]
fn many_links_to_one_folder_are_followed_once() {
    let scratch = Scratch::new();
    scratch.skill("elsewhere/skill");
    for number in 0..50 {
        scratch.link(format!("root/l{number:02}"), "../elsewhere");
    }
    insta::assert_snapshot!(outcome(&scratch), @"root/l00/skill/SKILL.md: skill");
}
