//! Which skill an entry of `skills.entries` belongs to: attempts to get the entry of another skill.

use std::collections::BTreeSet;

use super::World;
use crate::discover::Source;
use crate::library::EntryChoice;

/// Writes a skill that needs KEY, with a `skillKey` unless that is empty.
fn skill(world: &World, folder: &str, name: &str, claim: &str) {
    let claim = if claim.is_empty() { String::new() } else { format!("    skillKey: {claim}\n") };
    let requires = "    requires:\n      env: [KEY]\n";
    world.scratch.write(
        format!("{folder}/{name}/SKILL.md"),
        format!("---\nname: {name}\ndescription: Does {name}.\nmetadata:\n  metier:\n{claim}{requires}---\n"),
    );
}

/// Configures an entry with a variable KEY.
fn entry(world: &mut World, key: &str, source: Option<Source>) {
    let env = BTreeSet::from(["KEY".to_owned()]);
    let choice = EntryChoice { env, source, ..EntryChoice::default() };
    world.choices.entries.insert(key.to_owned(), choice);
}

/// The entry that a skill has and whether KEY is given with it.
fn standing(world: &World, name: &str) -> String {
    let snapshot = world.build();
    let entry = snapshot.find(name).unwrap();
    let key = &entry.entry_key;
    let mut text = match (key.granted(), key.refusal) {
        (Some(granted), _) => format!("has {granted}"),
        (None, refusal) => format!("no {}: {}", key.key, refusal.unwrap()),
    };
    if let Some((claim, refusal)) = &key.ignored_claim {
        text.push_str(&format!("; not {claim}: {refusal}"));
    }
    let state = if entry.verdict.is_eligible() { "ready" } else { "without KEY" };
    format!("{text}; {state}")
}

#[test]
fn the_entry_of_a_name_belongs_to_the_skill_that_the_person_keeps() {
    for source in [Source::Extra, Source::Managed, Source::User, Source::Workspace, Source::Flag] {
        let mut world = World::new();
        skill(&world, "own", "weather", "");
        world.root(source, "own");
        entry(&mut world, "weather", None);
        assert_eq!(standing(&world, "weather"), "has weather; ready", "{source}");
    }
}

#[test]
fn a_project_skill_of_the_same_name_does_not_get_the_entry() {
    let mut world = World::new();
    skill(&world, "user", "weather", "");
    skill(&world, "project/skills", "weather", "");
    world.root(Source::User, "user");
    world.root(Source::Project, "project/skills");
    world.trust_all = true;
    entry(&mut world, "weather", None);
    insta::assert_snapshot!(standing(&world, "weather"), @r#"no weather: does not say `source = "project"`; without KEY"#);
    entry(&mut world, "weather", Some(Source::Project));
    insta::assert_snapshot!(standing(&world, "weather"), @"has weather; ready");
}

#[test]
fn an_entry_for_a_project_is_not_given_to_another_source() {
    let mut world = World::new();
    skill(&world, "user", "weather", "");
    world.root(Source::User, "user");
    entry(&mut world, "weather", Some(Source::Project));
    insta::assert_snapshot!(standing(&world, "weather"), @r#"no weather: says `source = "project"`; without KEY"#);
}

#[test]
fn a_plugin_skill_gets_an_entry_only_by_its_source() {
    let mut world = World::new();
    skill(&world, "plugin", "weather", "");
    world.plugin("tools", "plugin");
    entry(&mut world, "weather", None);
    insta::assert_snapshot!(standing(&world, "weather"), @r#"no weather: does not say `source = "plugin"`; without KEY"#);
    entry(&mut world, "weather", Some(Source::Plugin));
    insta::assert_snapshot!(standing(&world, "weather"), @"has weather; ready");
}

#[test]
fn a_skill_key_that_is_the_name_of_another_skill_is_ignored() {
    let mut world = World::new();
    skill(&world, "user", "weather", "");
    skill(&world, "user", "thief", "weather");
    world.root(Source::User, "user");
    entry(&mut world, "weather", None);
    insta::assert_snapshot!(standing(&world, "thief"), @"has thief; not weather: it is the name of another skill; without KEY");
    insta::assert_snapshot!(standing(&world, "weather"), @"has weather; ready");
}

#[test]
fn a_skill_key_is_ignored_even_if_the_skill_of_that_name_is_hidden() {
    let mut world = World::new();
    skill(&world, "user", "thief", "weather");
    skill(&world, "project/skills", "weather", "");
    world.root(Source::User, "user");
    world.root(Source::Project, "project/skills");
    world.trust_all = true;
    entry(&mut world, "weather", None);
    insta::assert_snapshot!(standing(&world, "thief"), @"has thief; not weather: it is the name of another skill; without KEY");
}

#[test]
fn a_skill_that_nobody_trusts_takes_no_key_away_by_its_name() {
    let mut world = World::new();
    skill(&world, "user", "weather", "wx");
    skill(&world, "project/skills", "wx", "");
    world.scratch.write("project/skills/wx2/SKILL.md", "---\nname: [\n---\n");
    world.root(Source::User, "user");
    world.root(Source::Project, "project/skills");
    entry(&mut world, "wx", None);
    insta::assert_snapshot!(standing(&world, "weather"), @"has wx; ready");
}

#[test]
fn the_name_of_a_skill_that_cannot_be_read_cannot_be_claimed() {
    let break_it: [fn(&World); 6] = [
        |world| {
            std::fs::remove_dir(world.scratch.path("user/weather")).unwrap();
            world.scratch.link("user/weather", "nowhere");
        },
        |world| {
            std::fs::remove_dir(world.scratch.path("user/weather")).unwrap();
            // As a link through a closed folder: there is something, and it cannot be looked at.
            world.scratch.link("user/weather", "../thief-file/weather");
            world.scratch.write("thief-file", "");
        },
        |world| drop(world.scratch.write("user/weather/SKILL.md", "---\nname: weather\n---\n")),
        |world| drop(world.scratch.write("user/weather/SKILL.md", vec![0_u8; 2 << 20])),
        |world| drop(world.scratch.fifo("user/weather/SKILL.md")),
        |world| drop(world.scratch.link("user/weather/SKILL.md", "nowhere")),
    ];
    for break_it in break_it {
        let mut world = World::new();
        skill(&world, "user", "thief", "weather");
        world.scratch.folder("user/weather");
        break_it(&world);
        world.root(Source::User, "user");
        entry(&mut world, "weather", None);
        assert_eq!(
            standing(&world, "thief"),
            "has thief; not weather: it is the name of another skill; without KEY"
        );
    }
}

#[test]
fn nothing_is_claimed_where_a_source_was_not_searched_in_whole() {
    use crate::discover::{Absence, MAX_FOLDERS};
    let hide: [fn(&mut World); 5] = [
        |world| world.root(Source::Extra, "gone").absence = Absence::Reported,
        |world| {
            // As a closed folder, for tests that run as root: it is there and cannot be listed.
            world.scratch.link("managed", "managed");
            world.root(Source::Managed, "managed");
        },
        |world| {
            world.scratch.skill("user/a/b/c/d/e/f/g/weather");
        },
        |world| {
            for number in 0..=MAX_FOLDERS {
                world.scratch.folder(format!("managed/{number}"));
            }
            world.root(Source::Managed, "managed");
        },
        |world| {
            world.scratch.write("managed", "");
            world.root(Source::Managed, "managed/skills").absence = Absence::Reported;
        },
    ];
    for (row, hide) in hide.into_iter().enumerate() {
        let mut world = World::new();
        skill(&world, "user", "thief", "weather");
        entry(&mut world, "weather", None);
        hide(&mut world);
        world.root(Source::User, "user");
        assert_eq!(
            standing(&world, "thief"),
            "has thief; not weather: a skill of that name may be in a source that is not searched, or not in whole; without KEY",
            "{row}"
        );
    }
}

#[test]
fn a_project_that_cannot_be_searched_in_whole_takes_no_key_away() {
    let mut world = World::new();
    skill(&world, "user", "thief", "weather");
    world.scratch.skill("project/skills/a/b/c/d/e/f/g/weather");
    world.root(Source::User, "user");
    world.root(Source::Project, "project/skills");
    entry(&mut world, "weather", None);
    insta::assert_snapshot!(standing(&world, "thief"), @"has weather; ready");
}

#[test]
fn a_name_with_a_dot_has_no_entry() {
    let mut world = World::new();
    skill(&world, "user", "weather.env", "");
    skill(&world, "user", "thief", "weather.env2");
    world.root(Source::User, "user");
    entry(&mut world, "weather.env", None);
    entry(&mut world, "weather.env2", None);
    insta::assert_snapshot!(standing(&world, "weather.env"), @"no weather.env: cannot have a key with a dot; without KEY");
    insta::assert_snapshot!(standing(&world, "thief"), @"has thief; not weather.env2: its entry cannot have a key with a dot; without KEY");
}

#[test]
fn the_name_of_a_skill_that_is_kept_elsewhere_cannot_be_claimed() {
    let mut world = World::new();
    skill(&world, "user", "thief", "weather");
    world.root(Source::User, "user");
    entry(&mut world, "weather", None);
    world.choices.reserved_names.insert("weather".to_owned());
    insta::assert_snapshot!(standing(&world, "thief"), @"has thief; not weather: it is the name of another skill; without KEY");
}

#[test]
fn a_skill_key_does_not_count_where_the_default_sources_are_not_searched() {
    let mut world = World::new();
    skill(&world, "user", "thief", "weather");
    world.root(Source::User, "user");
    entry(&mut world, "weather", None);
    world.choices.are_claims_counted = false;
    insta::assert_snapshot!(standing(&world, "thief"), @"has thief; not weather: a skill of that name may be in a source that is not searched, or not in whole; without KEY");
}

#[test]
fn only_a_skill_that_the_person_keeps_in_a_default_source_claims_a_key() {
    for source in [Source::Flag, Source::Project, Source::Plugin] {
        let mut world = World::new();
        skill(&world, "own/skills", "thief", "weather");
        world.root(source, "own/skills");
        world.trust_all = true;
        let named = Some(source).filter(|it| *it != Source::Flag);
        entry(&mut world, "weather", named);
        let standing = standing(&world, "thief");
        let wanted = format!("not weather: it does not count for a skill of the source `{source}`");
        assert!(standing.contains(&wanted) && standing.ends_with("without KEY"), "{standing}");
    }
}

#[test]
fn the_key_of_a_server_or_a_plugin_cannot_be_claimed() {
    let mut world = World::new();
    skill(&world, "user", "thief", "'srv:weather'");
    world.root(Source::User, "user");
    entry(&mut world, "srv:weather", None);
    insta::assert_snapshot!(standing(&world, "thief"), @"has thief; not srv:weather: a key with a colon is that of a server or a plugin; without KEY");
}

#[test]
fn a_plugin_skill_keeps_the_entry_for_plugins_under_another_name() {
    let mut world = World::new();
    skill(&world, "plugin", "weather", "");
    skill(&world, "user", "weather", "");
    world.plugin("tools", "plugin");
    world.root(Source::User, "user");
    entry(&mut world, "weather", Some(Source::Plugin));
    insta::assert_snapshot!(standing(&world, "tools:weather"), @"has weather; ready");
    insta::assert_snapshot!(standing(&world, "weather"), @r#"no weather: says `source = "plugin"`; without KEY"#);
    entry(&mut world, "weather", None);
    insta::assert_snapshot!(standing(&world, "tools:weather"), @r#"no tools:weather: does not say `source = "plugin"`; without KEY"#);
    // Nobody can tell which of two is meant.
    skill(&world, "other", "weather", "");
    world.plugin("other", "other");
    entry(&mut world, "weather", Some(Source::Plugin));
    assert!(!standing(&world, "tools:weather").ends_with("ready"));
    assert!(!standing(&world, "other:weather").ends_with("ready"));
}

#[test]
fn a_skill_key_that_two_skills_claim_is_given_to_neither() {
    let mut world = World::new();
    skill(&world, "user", "one", "shared");
    skill(&world, "user", "two", "shared");
    world.root(Source::User, "user");
    entry(&mut world, "shared", None);
    insta::assert_snapshot!(standing(&world, "one"), @"has one; not shared: another skill claims it too; without KEY");
    insta::assert_snapshot!(standing(&world, "two"), @"has two; not shared: another skill claims it too; without KEY");
}

#[test]
fn a_skill_key_that_one_skill_claims_counts() {
    let mut world = World::new();
    skill(&world, "user", "one", "shared");
    skill(&world, "managed", "one", "shared");
    world.root(Source::Managed, "managed");
    world.root(Source::User, "user");
    entry(&mut world, "shared", None);
    insta::assert_snapshot!(standing(&world, "one"), @"has shared; ready");
}

#[test]
fn a_project_skill_takes_no_key_and_keeps_none_from_others() {
    let mut world = World::new();
    skill(&world, "user", "one", "shared");
    skill(&world, "project/skills", "thief", "shared");
    world.root(Source::User, "user");
    world.root(Source::Project, "project/skills");
    world.trust_all = true;
    entry(&mut world, "shared", None);
    insta::assert_snapshot!(standing(&world, "thief"), @r#"no thief: does not say `source = "project"`; not shared: its entry does not say `source = "project"`; without KEY"#);
    insta::assert_snapshot!(standing(&world, "one"), @"has shared; ready");
}

#[test]
fn an_entry_that_is_off_switches_every_skill_of_its_name_off() {
    let mut world = World::new();
    skill(&world, "project/skills", "weather", "");
    world.root(Source::Project, "project/skills");
    world.trust_all = true;
    entry(&mut world, "weather", None);
    world.choices.entries.get_mut("weather").unwrap().enabled = Some(false);
    assert!(world.build().find("weather").unwrap().verdict.is_switched_off());
}
