//! Snapshots: the same for the same, and what changed between two.

use std::fs;

use super::World;
use crate::catalog::Format;
use crate::discover::Source;
use crate::library::{Change, Snapshot};
use crate::scratch::settle;
use crate::tokens;

fn library() -> World {
    let mut world = World::new();
    for name in ["one", "two", "three"] {
        world.scratch.skill(format!("user/{name}"));
    }
    world.scratch.skill("extra/two");
    world.root(Source::Extra, "extra");
    world.root(Source::User, "user");
    world
}

fn changes(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let changes = after.changes_since(before).changes;
    changes.iter().map(|(name, change)| format!("{name} {change:?}")).collect()
}

#[test]
fn two_builds_of_the_same_are_the_same() {
    let mut world = library();
    let first = world.build();
    world.cache = Some(world.scratch.path("cache"));
    for _ in 0..3 {
        let again = world.build();
        assert_eq!(again.fingerprint(), first.fingerprint());
        assert_eq!(again.catalog, first.catalog);
        assert_eq!(again.problems, first.problems);
        assert_eq!(changes(&first, &again), Vec::<String>::new());
    }
}

#[test]
fn entries_are_sorted_and_found_by_name() {
    let snapshot = library().build();
    let names: Vec<&str> = snapshot.entries.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["one", "three", "two"]);
    assert_eq!(snapshot.find("two").unwrap().source, Source::User);
    assert!(snapshot.find("four").is_none());
    assert_eq!(snapshot.version, 1);
}

#[test]
fn what_a_model_would_have_to_be_told_is_listed_by_name() {
    let world = library();
    let before = world.build();
    world.scratch.skill("user/four");
    fs::remove_dir_all(world.scratch.path("user/one")).unwrap();
    world.scratch.skill_named("user/three", "three", "Does other things.");
    // With the user's gone, the one it hid takes its place.
    fs::remove_dir_all(world.scratch.path("user/two")).unwrap();
    let after = world.build();
    assert_ne!(after.fingerprint(), before.fingerprint());
    assert_eq!(
        changes(&before, &after),
        ["four Added", "one Removed", "three Changed", "two Changed"]
    );
    assert_eq!(
        changes(&after, &before),
        ["four Removed", "one Added", "three Changed", "two Changed"]
    );
}

#[test]
fn an_edit_of_the_body_changes_the_fingerprint() {
    let world = library();
    let file = world.scratch.path("user/one/SKILL.md");
    settle(&file);
    let before = world.build();
    let text = fs::read_to_string(&file).unwrap().replace("Do it.", "Do so.");
    fs::write(&file, text).unwrap();
    let after = world.build();
    assert_ne!(after.fingerprint(), before.fingerprint());
    assert_eq!(changes(&before, &after), ["one Changed"]);
}

#[test]
fn a_skill_that_becomes_usable_or_stops_being_is_a_change() {
    let mut world = World::new();
    let text =
        "---\nname: one\ndescription: It.\nmetadata: {metier: {requires: {env: [X]}}}\n---\n";
    world.scratch.write("user/one/SKILL.md", text);
    world.root(Source::User, "user");
    let before = world.build();
    world.variables = vec!["X"];
    let after = world.build();
    assert_ne!(after.fingerprint(), before.fingerprint());
    assert_eq!(after.changes_since(&before).changes[0].1, Change::Added);
    assert_eq!(before.changes_since(&after).changes[0].1, Change::Removed);
}

#[test]
fn what_a_model_is_not_told_is_no_change_for_it() {
    let mut world = library();
    world.scratch.skill("project/skills/four");
    let before = world.build();
    world.root(Source::Project, "project/skills");
    assert_eq!(changes(&before, &world.build()), Vec::<String>::new());
}

#[test]
fn nothing_at_all_is_an_empty_snapshot() {
    let snapshot = World::new().build();
    assert_eq!((snapshot.entries.len(), snapshot.problems.len()), (0, 0));
    assert_eq!(snapshot.catalog.text, "");
    assert_eq!(snapshot.catalog(1_000, Format::Xml).text, "");
}

#[test]
fn the_catalog_counts_the_name_that_it_shows() {
    let mut world = World::new();
    let plugin = "a-plugin-with-an-unreasonably-long-name-of-many-many-tokens";
    for number in 0..40 {
        world.scratch.skill(format!("p/skills/s{number}"));
        world.scratch.skill(format!("user/s{number}"));
    }
    world.plugin(plugin, "p/skills");
    world.root(Source::User, "user");
    let snapshot = world.build();
    for format in [Format::Lines, Format::Xml] {
        for budget in [200, 1_000, 100_000] {
            let catalog = snapshot.catalog(budget, format);
            let cost = tokens::count(&catalog.text);
            assert!(cost <= catalog.report.tokens, "{cost} {:?}", catalog.report);
        }
    }
    assert_eq!(snapshot.entries.len(), 80);
}

#[test]
fn the_xml_catalog_says_where_each_skill_is_on_one_line() {
    let mut world = World::new();
    world.scratch.skill_named("user/a\n<skill>\u{202e}&", "one", "It's <b>.");
    world.root(Source::User, "user");
    let text = world.build().catalog(1_000, Format::Xml).text;
    insta::assert_snapshot!(world.scratch.shorten(&text), @"
    <available_skills>
    <skill><name>one</name><description>It&#x27;s &lt;b&gt;.</description><location>user/a&#xa;&lt;skill&gt;&#x202e;&amp;/SKILL.md</location></skill>
    </available_skills>
    ");
}
