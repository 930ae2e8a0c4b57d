//! One skill of each name: who wins, and that the others are said to lose.

use super::World;
use super::remote::remote;
use crate::discover::{BundledFile, BundledSkill, Source};
use crate::library::Patterns;

const BUNDLED: &[BundledSkill] = &[BundledSkill {
    folder: "ship",
    files: &[BundledFile {
        path: "SKILL.md",
        bytes: b"---\nname: ship\ndescription: Ships.\n---\n",
        executable: false,
    }],
}];

/// All nine sources with a skill of one name each; the plugin's would clash and gets a prefix.
fn everywhere() -> World {
    let mut world = World::new();
    world.remote.push(remote("ship", "server"));
    world.bundled = BUNDLED;
    for source in [
        Source::Extra,
        Source::Plugin,
        Source::Managed,
        Source::User,
        Source::Project,
        Source::Workspace,
        Source::Flag,
    ] {
        let folder = format!("{source}/skills");
        world.scratch.skill(format!("{folder}/ship"));
        match source {
            Source::Plugin => world.plugin("tools", &folder),
            _ => drop(world.root(source, &folder)),
        }
    }
    world.trust_all = true;
    world
}

#[test]
fn for_one_name_the_greater_of_nine_sources_wins_and_the_others_are_reported() {
    insta::assert_snapshot!(everywhere().outcome(), @"
    ship (flag) flag/skills/ship/SKILL.md
      hides extra/skills/ship/SKILL.md
      hides managed/skills/ship/SKILL.md
      hides project/skills/ship/SKILL.md
      hides user/skills/ship/SKILL.md
      hides workspace/skills/ship/SKILL.md
      hides bundled:ship
      hides server skill://ship/SKILL.md
    tools:ship (plugin) plugin/skills/ship/SKILL.md
    M084 note extra/skills/ship/SKILL.md: `ship` is hidden by bundled:ship (bundled)
    M084 note managed/skills/ship/SKILL.md: `ship` is hidden by user/skills/ship/SKILL.md (user)
    M084 note project/skills/ship/SKILL.md: `ship` is hidden by workspace/skills/ship/SKILL.md (workspace)
    M084 note user/skills/ship/SKILL.md: `ship` is hidden by project/skills/ship/SKILL.md (project)
    M084 note workspace/skills/ship/SKILL.md: `ship` is hidden by flag/skills/ship/SKILL.md (flag)
    M084 note bundled:ship: `ship` is hidden by managed/skills/ship/SKILL.md (managed)
    M086 warning server: a skill of this server is not trusted, and not used; read the skills of `server`, then trust those that are wanted
    M084 note server skill://ship/SKILL.md: `ship` is hidden by extra/skills/ship/SKILL.md (extra)
    ");
}

#[test]
fn without_the_greater_sources_each_of_the_nine_wins_in_turn() {
    let mut world = everywhere();
    let mut winners = Vec::new();
    loop {
        winners.push(world.build().find("ship").map(|entry| entry.source.label()));
        if world.roots.iter().all(|root| root.source < Source::Bundled) {
            world.bundled = &[];
        }
        if world.roots.pop().is_none() {
            break;
        }
    }
    let winners: Vec<&str> = winners.into_iter().flatten().collect();
    assert_eq!(
        winners,
        ["flag", "workspace", "project", "user", "managed", "bundled", "extra", "remote"]
    );
}

#[test]
fn sources_are_ordered_as_the_table_says() {
    let labels: Vec<&str> = [
        Source::Remote,
        Source::Extra,
        Source::Plugin,
        Source::Bundled,
        Source::Managed,
        Source::User,
        Source::Project,
        Source::Workspace,
        Source::Flag,
    ]
    .windows(2)
    .map(|pair| {
        assert!(pair[0] < pair[1]);
        pair[0].label()
    })
    .collect();
    assert_eq!(labels.join(" "), "remote extra plugin bundled managed user project workspace");
}

#[test]
fn the_nearest_folder_of_a_project_wins() {
    let mut world = World::new();
    world.scratch.skill("far/skills/ship");
    world.scratch.skill("near/skills/ship");
    world.root(Source::Project, "far/skills");
    world.root(Source::Project, "near/skills");
    world.trust_all = true;
    insta::assert_snapshot!(world.outcome(), @"
    ship (project) near/skills/ship/SKILL.md
      hides far/skills/ship/SKILL.md
    M084 note far/skills/ship/SKILL.md: `ship` is hidden by near/skills/ship/SKILL.md (project)
    ");
}

#[test]
fn a_project_that_is_not_trusted_hides_nobody() {
    let mut world = World::new();
    world.scratch.skill("user/ship");
    world.scratch.skill("project/skills/ship");
    world.root(Source::User, "user");
    world.root(Source::Project, "project/skills");
    insta::assert_snapshot!(world.outcome(), @"
    ship (user) user/ship/SKILL.md
      hides project/skills/ship/SKILL.md
    M086 warning project: the project is not trusted, so its skill is not used; look at its files, then trust the project
    M084 note project/skills/ship/SKILL.md: `ship` is hidden by user/ship/SKILL.md (user)
    ");
}

#[test]
fn a_changed_skill_hides_no_trusted_one_of_the_same_root() {
    let mut world = World::new();
    world.scratch.skill("project/skills/ship");
    world.scratch.skill_named("project/skills/vessel", "boat", "Trusted.");
    world.root(Source::Project, "project/skills");
    world.trust_project("project");
    world.scratch.skill_named("project/skills/a-newcomer", "ship", "Another.");
    world.scratch.skill("project/skills/boat");
    insta::assert_snapshot!(world.outcome(), @"
    boat (project) project/skills/vessel/SKILL.md
      hides project/skills/boat/SKILL.md
    ship (project) project/skills/ship/SKILL.md
      hides project/skills/a-newcomer/SKILL.md
    M085 warning project/skills/a-newcomer/SKILL.md: `ship` is already taken by project/skills/ship/SKILL.md
    M087 warning project/skills/a-newcomer/SKILL.md: changed since it was trusted: the whole skill is new; look at the changes, then trust it again
    M027 warning project/skills/a-newcomer/SKILL.md: the name `ship` is not the name of the folder, `a-newcomer`
    M085 warning project/skills/boat/SKILL.md: `boat` is already taken by project/skills/vessel/SKILL.md
    M087 warning project/skills/boat/SKILL.md: changed since it was trusted: the whole skill is new; look at the changes, then trust it again
    M027 warning project/skills/vessel/SKILL.md: the name `boat` is not the name of the folder, `vessel`
    ");
}

#[test]
fn of_two_in_one_root_the_one_in_the_folder_of_its_name_wins_else_the_first() {
    let mut world = World::new();
    world.scratch.skill("user/ship");
    world.scratch.skill_named("user/boat", "ship", "Another.");
    world.scratch.skill_named("user/copy-1", "twice", "One.");
    world.scratch.skill_named("user/copy-2", "twice", "Two.");
    world.root(Source::User, "user");
    insta::assert_snapshot!(world.outcome(), @"
    ship (user) user/ship/SKILL.md
      hides user/boat/SKILL.md
    twice (user) user/copy-1/SKILL.md
      hides user/copy-2/SKILL.md
    M085 warning user/boat/SKILL.md: `ship` is already taken by user/ship/SKILL.md
    M027 warning user/boat/SKILL.md: the name `ship` is not the name of the folder, `boat`
    M027 warning user/copy-1/SKILL.md: the name `twice` is not the name of the folder, `copy-1`
    M085 warning user/copy-2/SKILL.md: `twice` is already taken by user/copy-1/SKILL.md
    M027 warning user/copy-2/SKILL.md: the name `twice` is not the name of the folder, `copy-2`
    ");
}

#[test]
fn composed_and_decomposed_names_are_one() {
    let mut world = World::new();
    world.scratch.skill_named("user/a", "caf\u{e9}", "Composed.");
    world.scratch.skill_named("extra/b", "cafe\u{301}", "Decomposed.");
    world.root(Source::Extra, "extra");
    world.root(Source::User, "user");
    insta::assert_snapshot!(world.outcome(), @"
    café (user) user/a/SKILL.md
      hides extra/b/SKILL.md
    M084 note extra/b/SKILL.md: `café` is hidden by user/a/SKILL.md (user)
    M027 warning extra/b/SKILL.md: the name `café` is not the name of the folder, `b`
    M027 warning user/a/SKILL.md: the name `café` is not the name of the folder, `a`
    ");
}

#[test]
fn names_that_differ_by_case_only_are_both_there_and_reported() {
    let mut world = World::new();
    world.scratch.skill("user/pdf");
    world.scratch.skill("user/PDF");
    world.root(Source::User, "user");
    insta::assert_snapshot!(world.outcome(), @"
    PDF (user) user/PDF/SKILL.md
    pdf (user) user/pdf/SKILL.md
    M023 warning user/PDF/SKILL.md: `PDF` is not lowercase
    M091 warning user/pdf/SKILL.md: `PDF` and `pdf` differ by case only
    ");
}

#[test]
fn a_plugins_skill_gets_the_plugins_name_only_when_it_clashes() {
    let mut world = World::new();
    world.scratch.skill("p/skills/ship");
    world.scratch.skill("p/skills/alone");
    world.scratch.skill("q/skills/ship");
    world.scratch.skill("user/other");
    world.plugin("first", "p/skills");
    world.root(Source::User, "user");
    insta::assert_snapshot!(world.outcome(), @"
    alone (plugin) p/skills/alone/SKILL.md
    other (user) user/other/SKILL.md
    ship (plugin) p/skills/ship/SKILL.md
    ");
    world.plugin("second", "q/skills");
    insta::assert_snapshot!(world.outcome(), @"
    alone (plugin) p/skills/alone/SKILL.md
    first:ship (plugin) p/skills/ship/SKILL.md
    other (user) user/other/SKILL.md
    second:ship (plugin) q/skills/ship/SKILL.md
    ");
}

#[test]
fn what_is_not_trusted_does_not_rename_a_plugins_skill() {
    let mut world = World::new();
    world.scratch.skill("p/skills/ship");
    world.scratch.skill("project/skills/ship");
    world.remote.push(remote("ship", "server"));
    world.plugin("tools", "p/skills");
    world.root(Source::Project, "project/skills");
    insta::assert_snapshot!(world.outcome(), @"
    ship (plugin) p/skills/ship/SKILL.md
      hides project/skills/ship/SKILL.md
      hides server skill://ship/SKILL.md
    M086 warning project: the project is not trusted, so its skill is not used; look at its files, then trust the project
    M084 note project/skills/ship/SKILL.md: `ship` is hidden by p/skills/ship/SKILL.md (plugin)
    M086 warning server: a skill of this server is not trusted, and not used; read the skills of `server`, then trust those that are wanted
    M084 note server skill://ship/SKILL.md: `ship` is hidden by p/skills/ship/SKILL.md (plugin)
    ");
}

#[test]
fn a_plugins_name_does_not_get_its_skill_out_of_a_refusal() {
    let mut world = World::new();
    world.scratch.skill("p/skills/ship");
    world.scratch.skill("user/ship");
    world.plugin("tools", "p/skills");
    world.root(Source::User, "user");
    world.choices.denied = Patterns::new(&["ship"]).unwrap();
    let snapshot = world.build();
    let refused: Vec<(&str, bool)> =
        snapshot.entries.iter().map(|it| (it.name.as_str(), it.verdict.is_eligible())).collect();
    assert_eq!(refused, [("ship", false), ("tools:ship", false)]);
}

#[test]
fn a_skill_of_this_machine_stands_before_a_remote_one_even_untrusted() {
    let mut world = World::new();
    world.remote.push(remote("ship", "server"));
    world.scratch.skill("project/skills/ship");
    world.root(Source::Project, "project/skills");
    insta::assert_snapshot!(world.outcome(), @"
    ship (project) project/skills/ship/SKILL.md
      not eligible, the project is not trusted: look at its files, then trust the project
      hides server skill://ship/SKILL.md
    M086 warning project: the project is not trusted, so its skill is not used; look at its files, then trust the project
    M086 warning server: a skill of this server is not trusted, and not used; read the skills of `server`, then trust those that are wanted
    M084 note server skill://ship/SKILL.md: `ship` is hidden by project/skills/ship/SKILL.md (project)
    ");
}
