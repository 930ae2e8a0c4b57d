//! Programs a skill needs: where they are looked for, and how to get them.

use std::fs;

use super::World;
use crate::discover::Source;
use crate::install::tool_folder;

/// One user's skill called `ship` that needs programs; the path has two folders.
fn ship(requirements: &str) -> World {
    let mut world = World::new();
    world.scratch.write(
        "user/ship/SKILL.md",
        format!(
            "---\nname: ship\ndescription: Ships.\nmetadata: {{metier: {requirements}}}\n---\n"
        ),
    );
    world.root(Source::User, "user");
    world.path = vec![world.scratch.folder("bin"), world.scratch.folder("usr/bin")];
    world
}

fn eligible(world: &World) -> bool {
    world.build().find("ship").unwrap().verdict.is_eligible()
}

#[test]
fn all_programs_must_be_on_the_path() {
    let world = ship("{requires: {bins: [one, two]}}");
    assert!(!eligible(&world));
    world.scratch.program("bin/one");
    assert!(!eligible(&world));
    world.scratch.program("usr/bin/two");
    assert!(eligible(&world));
}

#[test]
fn programs_that_were_installed_for_another_skill_do_not_count() {
    let mut world = ship("{requires: {bins: [one]}}");
    let tools = world.scratch.folder("tools");
    world.tools = Some(tools.clone());
    let install_for = |identity: &str| {
        world.scratch.program(format!("tools/{}/.bin/one", tool_folder(identity)));
    };
    install_for("boat");
    world.scratch.program("tools/bin/one");
    assert!(!eligible(&world));
    install_for("ship");
    assert!(eligible(&world));
    let identity = format!("user:{}", world.scratch.path("user/ship/SKILL.md").display());
    let folders = [tools.join(tool_folder(&identity)), tools.join(tool_folder("ship"))];
    let snapshot = world.build();
    assert_eq!(snapshot.find("ship").unwrap().tool_folders(&tools), folders);
    assert_eq!(snapshot.find("ship").unwrap().tool_folder(&tools), folders[0]);
}

#[test]
fn a_skill_of_a_folder_named_for_one_run_has_tools_of_its_own() {
    let mut world = ship("{requires: {bins: [one]}}");
    let tools = world.scratch.folder("tools");
    world.tools = Some(tools.clone());
    world.scratch.program(format!("tools/{}/.bin/one", tool_folder("ship")));
    assert!(eligible(&world));
    let text = "---\nname: ship\ndescription: Other.\nmetadata: {metier: {requires: {bins: [one]}}}\n---\n";
    world.scratch.write("downloads/ship/SKILL.md", text);
    world.root(Source::Flag, "downloads");
    assert!(!eligible(&world));
    let snapshot = world.build();
    let folders = snapshot.find("ship").unwrap().tool_folders(&tools);
    assert!(!folders.contains(&tools.join(tool_folder("ship"))));
}

#[test]
fn tools_of_a_name_count_for_no_skill_if_two_own_ones_have_it() {
    let mut world = ship("{requires: {bins: [one]}}");
    world.tools = Some(world.scratch.folder("tools"));
    world.scratch.program(format!("tools/{}/.bin/one", tool_folder("ship")));
    let text = "---\nname: ship\ndescription: Other.\nmetadata: {metier: {requires: {bins: [one]}}}\n---\n";
    assert!(eligible(&world));
    world.scratch.write("workspace/ship/SKILL.md", text);
    world.root(Source::Workspace, "workspace");
    assert!(!eligible(&world));
    let folder = format!("workspace:{}", world.scratch.path("workspace/ship/SKILL.md").display());
    world.scratch.program(format!("tools/{}/.bin/one", tool_folder(&folder)));
    assert!(eligible(&world));
}

#[test]
fn a_skill_of_an_archive_is_known_by_its_address() {
    let mut world = ship("{requires: {}}");
    world.root(Source::Extra, "cache/first").address = Some("https://example.org/a.zip".to_owned());
    let header = "---\nname: ship\ndescription: Ships.\n---\n";
    world.scratch.write("cache/first/ship/SKILL.md", header);
    world.roots.remove(0);
    let identity = |world: &World| world.build().find("ship").unwrap().identity.clone();
    let first = identity(&world);
    assert_eq!(first.as_str(), "extra:https://example.org/a.zip/ship/SKILL.md");
    world.scratch.write("cache/second/ship/SKILL.md", header);
    world.roots[0].path = world.scratch.path("cache/second");
    assert_eq!(identity(&world), first);
}

#[test]
fn a_program_that_only_the_person_sees_is_named_with_its_place() {
    let mut world = ship("{requires: {bins: [one]}}");
    world.unseen = vec![world.scratch.folder("home/bin")];
    world.scratch.program("home/bin/one");
    let snapshot = world.build();
    let entry = snapshot.find("ship").unwrap();
    let block = &entry.verdict.blocks[0];
    let place = world.scratch.path("home/bin/one");
    let wanted =
        format!("needs the program one, and {} is where runs do not see it", place.display());
    assert_eq!(block.to_string(), wanted);
    insta::assert_snapshot!(
        entry.advice(block).unwrap(),
        @"install one, for all users"
    );
}

#[test]
fn a_program_is_a_file_that_can_be_executed() {
    let world = ship("{requires: {bins: [one]}}");
    world.scratch.write("bin/one", "not executable");
    assert!(!eligible(&world));
    fs::remove_file(world.scratch.path("bin/one")).unwrap();
    world.scratch.folder("bin/one");
    assert!(!eligible(&world));
    fs::remove_dir(world.scratch.path("bin/one")).unwrap();
    world.scratch.link("bin/one", "nowhere");
    assert!(!eligible(&world));
    world.scratch.program("bin/nowhere");
    assert!(eligible(&world), "a link to a program is one");
}

#[test]
fn a_path_is_a_program_only_if_it_is_absolute() {
    let world = ship("{requires: {bins: [./bin/one]}}");
    world.scratch.program("bin/one");
    assert!(!eligible(&world));
    let world = ship("{requires: {bins: [../bin/one]}}");
    world.scratch.program("bin/one");
    assert!(!eligible(&world));
    let world = ship("{requires: {bins: [/bin/sh]}}");
    assert!(eligible(&world));
    for strange in ["..", ".", "\"\\0\""] {
        assert!(!eligible(&ship(&format!("{{requires: {{bins: [{strange}]}}}}"))), "{strange}");
    }
}

#[test]
fn one_of_several_programs_is_enough() {
    let world = ship("{requires: {anyBins: [one, two]}}");
    assert!(!eligible(&world));
    world.scratch.program("usr/bin/two");
    assert!(eligible(&world));
}

#[test]
fn the_install_option_that_brings_a_program_is_the_remedy() {
    let world = ship(
        "{requires: {bins: [rg, jq, other], anyBins: [node, deno]}, install: [\
         {kind: brew, formula: ripgrep, bins: [rg]}, {kind: apt, package: jq, bins: [jq]}, \
         {kind: uv, package: jq-tool, bins: [jq]}, {kind: brew, formula: deno, bins: [deno]}]}",
    );
    insta::assert_snapshot!(world.outcome(), @"
    ship (user) user/ship/SKILL.md
      not eligible, needs the program rg: install rg, for example with brew `ripgrep`
      not eligible, needs the program jq: install jq, for example with apt `jq` or uv `jq-tool`
      not eligible, needs the program other: install other
      not eligible, needs one of the programs node, deno: install node or deno, for example with brew `deno`
    ");
}

#[test]
fn an_install_option_that_names_no_program_may_bring_any() {
    let world = ship("{requires: {bins: [rg]}, install: [{kind: cargo, package: ripgrep}]}");
    insta::assert_snapshot!(world.outcome(), @"
    ship (user) user/ship/SKILL.md
      not eligible, needs the program rg: install rg, for example with cargo `ripgrep`
    ");
}
