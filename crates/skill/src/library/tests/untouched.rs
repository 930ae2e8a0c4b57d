//! Attacks on skills that are trusted as they were at the start and were not read then.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::World;
use crate::discover::Source;
use crate::files::{DigestCache, digest_of, list};
use crate::library::untouched::SkillShelf;
use crate::library::{Entry, FirstLook};
use crate::scratch::settle;

const SHIP: &str = "project/.agents/skills/ship";
const EVIL: &str = "echo EVIL!!!\n";

/// A project with a skill, checked out a moment ago.
fn project() -> World {
    let mut world = World::new();
    world.scratch.skill(SHIP);
    for folder in ["dist", "node_modules/left-pad", "scripts"] {
        world.scratch.write(format!("{SHIP}/{folder}/run.sh"), "echo trusted\n");
    }
    world.root(Source::Project, "project/.agents/skills").project = None;
    world.roots[0].project = Some(world.scratch.path("project"));
    world
}

/// Starts a command, which does not read the skill if the file system is one that tells of changes.
fn start(world: &mut World) -> Entry {
    let first = FirstLook::default();
    world.first_look = Some(first.clone());
    let entry = world.build().find("ship").unwrap().clone();
    first.end();
    let tells = SkillShelf::at(&world.scratch.path("project/.agents/skills")).is_some();
    assert_eq!(entry.trusted_files.as_ref().unwrap().unread().is_some(), tells);
    entry
}

fn refused(entry: &Entry) -> String {
    let folder = entry.place.folder().unwrap();
    let trusted = entry.trusted_files.as_ref().unwrap();
    let digests = DigestCache::in_memory();
    let Ok(listed) = list(folder) else { return "it cannot be listed".to_owned() };
    let now = digest_of(&listed, &digests).unwrap();
    let checked = trusted.check("ship", (folder, &now), &digests);
    assert!(checked.is_ok() || !trusted.are_those_of(&now.whole.to_string()) || has_a_link(entry));
    checked.err().map_or_else(String::new, |changed| changed.to_string())
}

/// A link to elsewhere is in no tree, so a tree may be that of the start all the same.
fn has_a_link(entry: &Entry) -> bool {
    entry.place.file().is_symlink()
}

fn assert_refused(what: &str, prepare: impl Fn(&World), attack: impl Fn(&World), named: &str) {
    let mut world = project();
    prepare(&world);
    let entry = start(&mut world);
    attack(&world);
    let said = refused(&entry);
    assert!(said.contains(named), "{what}: {said}");
    // A snapshot of later says the same.
    if let Some(entry) = world.build().find("ship") {
        assert!(!entry.verdict.is_eligible(), "{what}");
    }
}

fn nothing(_world: &World) {}

/// A copy of the skill with an evil script, as old as the skill.
fn prepare_copy(world: &World, shelf: &str) {
    let folder = format!("{shelf}/ship");
    world.scratch.skill(&folder);
    for part in ["dist", "node_modules/left-pad", "scripts"] {
        world.scratch.write(format!("{folder}/{part}/run.sh"), EVIL);
    }
    // The very `SKILL.md` of the skill.
    let skill_file = world.scratch.path(format!("{folder}/SKILL.md"));
    fs::remove_file(&skill_file).unwrap();
    fs::hard_link(world.scratch.path(format!("{SHIP}/SKILL.md")), skill_file).unwrap();
}

fn swap(world: &World, left: &str, right: &str) {
    let (left, right) = (world.scratch.path(left), world.scratch.path(right));
    let between = world.scratch.path("between");
    fs::rename(&left, &between).unwrap();
    fs::rename(&right, &left).unwrap();
    fs::rename(&between, &right).unwrap();
}

fn script(world: &World, folder: &str) -> PathBuf {
    world.scratch.path(format!("{SHIP}/{folder}/run.sh"))
}

/// Writes a file of the same size and gives it its old time of modification.
fn write_and_set_back(file: &Path, text: &str) {
    let before = fs::metadata(file).unwrap().modified().unwrap();
    fs::write(file, text).unwrap();
    File::options().write(true).open(file).unwrap().set_modified(before).unwrap();
}

#[test]
fn a_checkout_of_a_moment_ago_is_used() {
    for _ in 0..20 {
        let mut world = project();
        let entry = start(&mut world);
        assert_eq!(refused(&entry), "");
    }
}

#[test]
fn a_skill_that_was_written_long_before_is_used() {
    let mut world = project();
    settle(&world.scratch.path(format!("{SHIP}/SKILL.md")));
    let entry = start(&mut world);
    let before = world.build().fingerprint().to_owned();
    // Without a use before, as when a session goes on.
    let now = digest_of(&list(entry.place.folder().unwrap()).unwrap(), &DigestCache::in_memory());
    assert!(entry.trusted_files.as_ref().unwrap().are_those_of(&now.unwrap().whole.to_string()));
    assert!(entry.trusted_files.as_ref().unwrap().unread().is_none(), "it was read");
    assert_eq!(refused(&entry), "");
    assert_eq!(world.build().fingerprint(), before);
}

#[test]
fn a_file_changed_in_place_with_its_time_set_back_is_refused() {
    for folder in ["dist", "node_modules/left-pad", "scripts"] {
        let attack = |world: &World| write_and_set_back(&script(world, folder), EVIL);
        assert_refused(folder, nothing, attack, &format!("since it was trusted: {folder}/run.sh"));
    }
}

#[test]
fn a_change_through_a_hard_link_is_refused() {
    let outside = |world: &World| world.scratch.path("outside.sh");
    let link = |world: &World| fs::hard_link(script(world, "dist"), outside(world)).unwrap();
    let attack = |world: &World| write_and_set_back(&outside(world), EVIL);
    assert_refused("a hard link", link, attack, "since it was trusted: dist/run.sh");
}

#[test]
fn a_file_that_comes_or_goes_is_refused() {
    let write = |path: &str| {
        let path = format!("{SHIP}/{path}");
        move |world: &World| drop(world.scratch.write(&path, EVIL))
    };
    assert_refused("new", nothing, write("node_modules/x.js"), "node_modules/x.js (new)");
    assert_refused("new folder", nothing, write("new/x.js"), "new/x.js (new)");
    let remove = |world: &World| fs::remove_file(script(world, "dist")).unwrap();
    assert_refused("gone", nothing, remove, "dist/");
    let remove_folder =
        |world: &World| fs::remove_dir_all(script(world, "dist").parent().unwrap()).unwrap();
    assert_refused("gone folder", nothing, remove_folder, "since it was trusted: ");
    let mode = |world: &World| {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(script(world, "scripts"), permissions).unwrap();
    };
    assert_refused("permissions", nothing, mode, "scripts/run.sh");
}

#[test]
fn a_file_moved_in_that_is_as_old_as_the_skill_is_refused() {
    let prepare = |world: &World| drop(world.scratch.write("project/old.sh", EVIL));
    let attack = |world: &World| {
        fs::rename(world.scratch.path("project/old.sh"), script(world, "dist")).unwrap();
    };
    assert_refused("moved", prepare, attack, "dist/run.sh");
    let attack = |world: &World| {
        fs::remove_file(script(world, "dist")).unwrap();
        fs::hard_link(world.scratch.path("project/old.sh"), script(world, "dist")).unwrap();
    };
    assert_refused("linked", prepare, attack, "dist/run.sh");
}

#[test]
fn a_folder_replaced_by_one_that_is_as_old_is_refused() {
    let shelf = "project/.agents/skills";
    let cases = [
        ("a part", format!("{SHIP}/dist"), "project/other/ship/dist".to_owned()),
        ("the skill", SHIP.to_owned(), "project/other/ship".to_owned()),
        ("the folder above", shelf.to_owned(), "project/other".to_owned()),
    ];
    for (what, there, prepared) in cases {
        let prepare = |world: &World| prepare_copy(world, "project/other");
        let attack = |world: &World| swap(world, &there, &prepared);
        assert_refused(what, prepare, attack, "since it was trusted: ");
    }
    for above in ["project/.agents", "project"] {
        let other = above.replace("project", "prepared");
        let prepare = |world: &World| prepare_copy(world, &shelf.replace("project", "prepared"));
        let attack = |world: &World| swap(world, above, &other);
        assert_refused(above, prepare, attack, "since it was trusted: ");
    }
}

#[test]
fn a_folder_replaced_by_a_link_is_refused() {
    for (there, prepared) in [
        (SHIP.to_owned(), "project/other/ship"),
        (format!("{SHIP}/dist"), "project/other/ship/dist"),
        ("project/.agents/skills".to_owned(), "project/other"),
    ] {
        let prepare = |world: &World| prepare_copy(world, "project/other");
        let attack = |world: &World| {
            fs::rename(world.scratch.path(&there), world.scratch.path("away")).unwrap();
            world.scratch.link(&there, world.scratch.path(prepared));
        };
        assert_refused(&there, prepare, attack, "since it was trusted: ");
    }
}

/// The same content is trusted, wherever it is known that it is the same.
#[test]
fn a_skill_file_replaced_by_one_of_the_same_content_is_not_taken_for_it() {
    let mut world = project();
    let entry = start(&mut world);
    let tells = entry.trusted_files.as_ref().unwrap().unread().is_some();
    let file = world.scratch.path(format!("{SHIP}/SKILL.md"));
    let other = world.scratch.write("project/other.md", fs::read(&file).unwrap());
    fs::rename(other, &file).unwrap();
    assert_eq!(refused(&entry).contains("SKILL.md"), tells, "{}", refused(&entry));
}

#[test]
fn what_was_used_is_known_by_its_content() {
    let mut world = project();
    let entry = start(&mut world);
    assert_eq!(refused(&entry), "");
    let file = script(&world, "dist");
    fs::write(&file, EVIL).unwrap();
    assert_eq!(refused(&entry), "`ship` changed since it was trusted: dist/run.sh");
    fs::write(&file, "echo trusted\n").unwrap();
    assert_eq!(refused(&entry), "");
    assert!(world.build().find("ship").unwrap().verdict.is_eligible());
}

/// What a person trusts while the command runs counts.
#[test]
fn a_changed_skill_is_used_once_it_is_trusted() {
    let mut world = project();
    let entry = start(&mut world);
    fs::write(script(&world, "dist"), EVIL).unwrap();
    assert_ne!(refused(&entry), "");
    world.trust_project("project");
    let entry = world.build().find("ship").unwrap().clone();
    assert!(entry.verdict.is_eligible());
    assert_eq!(refused(&entry), "");
}

#[test]
fn skills_behind_links_are_read_at_the_start() {
    let mut world = project();
    let (skill, elsewhere) = (world.scratch.path(SHIP), world.scratch.path("project/elsewhere"));
    fs::rename(&skill, &elsewhere).unwrap();
    world.scratch.link(&skill, "../../elsewhere");
    let first = FirstLook::default();
    world.first_look = Some(first.clone());
    let entry = world.build().find("ship").unwrap().clone();
    first.end();
    assert!(entry.trusted_files.as_ref().unwrap().unread().is_none());
    assert_eq!(refused(&entry), "");
    write_and_set_back(&elsewhere.join("dist/run.sh"), EVIL);
    assert_eq!(refused(&entry), "`ship` changed since it was trusted: dist/run.sh");
}

/// A write through a shared mapping leaves no time there, and a server may write any.
#[test]
fn times_are_not_believed_in_memory_and_on_other_file_systems() {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    if mounts.contains(" /dev/shm ") && mounts.contains(" - tmpfs ") {
        assert_eq!(SkillShelf::at(Path::new("/dev/shm")), None);
    }
    assert_eq!(SkillShelf::at(Path::new("/proc")), None);
}
