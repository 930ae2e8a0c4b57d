//! Trust in projects, from the first look to the change that ends it.

use std::fs;

use super::World;
use crate::discover::{Links, Source};
use crate::library::{TrustStore, TrustedProject};

fn project() -> World {
    let mut world = World::new();
    world.scratch.skill("project/skills/ship");
    world.scratch.write("project/skills/ship/docs/how.md", "How.");
    world.scratch.program("project/skills/ship/scripts/run");
    world.root(Source::Project, "project/skills").links = Links::Inside { also: Vec::new() };
    world
}

fn trusted() -> World {
    let mut world = project();
    world.trust_project("project");
    world
}

fn verdict(world: &World) -> String {
    let snapshot = world.build();
    let entry = snapshot.find("ship").unwrap();
    let blocks: Vec<String> = entry.verdict.blocks.iter().map(ToString::to_string).collect();
    if blocks.is_empty() { "eligible".to_owned() } else { blocks.join("; ") }
}

#[test]
fn a_project_is_used_only_after_it_was_trusted() {
    let mut world = project();
    insta::assert_snapshot!(world.outcome(), @"
    ship (project) project/skills/ship/SKILL.md
      not eligible, the project is not trusted: look at its files, then trust the project
    M086 warning project: the project is not trusted, so its skill is not used; look at its files, then trust the project
    ");
    world.trust_project("project");
    insta::assert_snapshot!(world.outcome(), @"ship (project) project/skills/ship/SKILL.md");
    assert!(world.trust.revoke(&world.scratch.path("project")));
    assert!(!world.trust.revoke(&world.scratch.path("project")));
    assert_eq!(verdict(&world), "the project is not trusted");
}

#[test]
fn a_change_names_the_files() {
    let world = trusted();
    let ship = |path: &str| world.scratch.path("project/skills/ship").join(path);
    fs::write(ship("docs/how.md"), "Otherwise.").unwrap();
    insta::assert_snapshot!(verdict(&world), @"changed since it was trusted: docs/how.md");
    fs::write(ship("new.txt"), "").unwrap();
    fs::remove_file(ship("scripts/run")).unwrap();
    insta::assert_snapshot!(verdict(&world), @"changed since it was trusted: docs/how.md, new.txt (new), scripts/run (gone)");
    insta::assert_snapshot!(world.outcome(), @"
    ship (project) project/skills/ship/SKILL.md
      not eligible, changed since it was trusted: docs/how.md, new.txt (new), scripts/run (gone): look at the changes, then trust it again
    M087 warning project/skills/ship/SKILL.md: changed since it was trusted: docs/how.md, new.txt (new), scripts/run (gone); look at the changes, then trust it again
    ");
}

#[test]
fn undoing_the_change_restores_trust_and_trusting_again_accepts_it() {
    let mut world = trusted();
    let file = world.scratch.path("project/skills/ship/docs/how.md");
    fs::write(&file, "Otherwise.").unwrap();
    assert_ne!(verdict(&world), "eligible");
    fs::write(&file, "How.").unwrap();
    assert_eq!(verdict(&world), "eligible");
    fs::write(&file, "Otherwise.").unwrap();
    world.trust_project("project");
    assert_eq!(verdict(&world), "eligible");
}

#[test]
fn a_new_skill_of_a_trusted_project_is_not_trusted() {
    let world = trusted();
    world.scratch.skill("project/skills/newcomer");
    insta::assert_snapshot!(world.outcome(), @"
    newcomer (project) project/skills/newcomer/SKILL.md
      not eligible, changed since it was trusted: the whole skill is new: look at the changes, then trust it again
    ship (project) project/skills/ship/SKILL.md
    M087 warning project/skills/newcomer/SKILL.md: changed since it was trusted: the whole skill is new; look at the changes, then trust it again
    ");
}

#[test]
fn a_moved_skill_is_a_new_one() {
    let world = trusted();
    fs::rename(world.scratch.path("project/skills/ship"), world.scratch.path("project/skills/x"))
        .unwrap();
    insta::assert_snapshot!(verdict(&world), @"changed since it was trusted: the whole skill is new");
}

#[test]
fn many_changes_are_counted_after_the_first_eight() {
    let world = trusted();
    for number in 0..20 {
        world.scratch.write(format!("project/skills/ship/n{number:02}"), "");
    }
    insta::assert_snapshot!(verdict(&world), @"changed since it was trusted: n00 (new), n01 (new), n02 (new), n03 (new), n04 (new), n05 (new), n06 (new), n07 (new), 12 more");
}

#[test]
fn a_skill_that_cannot_be_listed_any_more_is_not_trusted() {
    let world = trusted();
    world.scratch.write(format!("project/skills/ship/{}x", "d/".repeat(30)), "");
    insta::assert_snapshot!(world.scratch.shorten(&verdict(&world)), @"changed since it was trusted: its files cannot be read (`project/skills/ship` has more than 20000 entries or folders more than 24 deep)");
}

/// The link leads inside the root, so it is followed; the listing of the skill leaves it out.
#[test]
fn a_skill_file_that_is_a_link_is_pinned_by_what_it_leads_to() {
    let mut world = project();
    let skill_file = world.scratch.path("project/skills/ship/SKILL.md");
    fs::rename(&skill_file, world.scratch.path("project/skills/shared.md")).unwrap();
    world.scratch.link(&skill_file, "../shared.md");
    world.trust_project("project");
    assert_eq!(verdict(&world), "eligible");
    let text = "---\nname: ship\ndescription: Something else.\n---\nRun this.\n";
    world.scratch.write("project/skills/shared.md", text);
    insta::assert_snapshot!(verdict(&world), @"changed since it was trusted: SKILL.md");
}

#[test]
fn a_skill_that_is_a_link_is_pinned_by_the_files_it_leads_to() {
    let mut world = project();
    world.scratch.folder("project/packages");
    fs::rename(world.scratch.path("project/skills/ship"), world.scratch.path("project/packages/s"))
        .unwrap();
    world.scratch.link("project/skills/ship", "../packages/s");
    world.roots[0].links = Links::Inside { also: vec![world.scratch.path("project/packages")] };
    world.trust_project("project");
    assert_eq!(verdict(&world), "eligible");
    world.scratch.write("project/packages/s/docs/how.md", "Otherwise.");
    insta::assert_snapshot!(verdict(&world), @"changed since it was trusted: docs/how.md");
}

/// What a trusted link shows must not change unnoticed.
#[test]
fn a_link_to_a_folder_outside_the_digest_cannot_smuggle_a_change() {
    let mut world = project();
    world.scratch.write("project/skills/ship/.venv/notes.md", "Harmless.");
    world.scratch.link("project/skills/ship/notes.md", ".venv/notes.md");
    world.trust_project("project");
    let snapshot = world.build();
    let folder = snapshot.find("ship").unwrap().place.folder().unwrap().to_owned();
    assert!(crate::files::list(&folder).unwrap().read_doc("notes.md").is_err());
}

#[test]
fn other_projects_are_not_trusted_by_trusting_one() {
    let mut world = trusted();
    world.scratch.skill("project-two/skills/boat");
    world.root(Source::Project, "project-two/skills");
    let snapshot = world.build();
    assert!(snapshot.find("ship").unwrap().verdict.is_eligible());
    assert!(!snapshot.find("boat").unwrap().verdict.is_eligible());
}

#[test]
fn a_person_may_trust_everything_for_one_run() {
    let mut world = project();
    world.trust_all = true;
    assert_eq!(verdict(&world), "eligible");
    assert_eq!(world.build().problems, []);
}

#[test]
fn trust_is_kept_in_a_file() {
    let world = trusted();
    let file = world.scratch.path("state/trust.json");
    let mut store = TrustStore::load(&file).unwrap();
    assert_eq!(store.projects().count(), 0);
    let root = world.scratch.path("project");
    store.trust(&root, world.trust.project(&root).unwrap().clone());
    store.save().unwrap();
    let read = TrustStore::load(&file).unwrap();
    assert_eq!(read.project(&root), world.trust.project(&root));
    let files: Vec<_> = fs::read_dir(world.scratch.path("state")).unwrap().collect();
    assert_eq!(files.len(), 1, "nothing stays beside it");
}

#[test]
fn a_trust_file_that_cannot_be_understood_is_an_error() {
    let world = trusted();
    let load = |text: &[u8]| {
        let file = world.scratch.write("trust.json", text);
        let error = TrustStore::load(&file).map(|store| store.projects().count()).unwrap_err();
        let source = std::error::Error::source(&error).map_or(String::new(), ToString::to_string);
        format!("{}: {source}", world.scratch.shorten(&error.to_string()))
    };
    insta::assert_snapshot!(load(b""), @"the trust file `trust.json` cannot be understood: EOF while parsing a value at line 1 column 0");
    insta::assert_snapshot!(load(b"{\"version\": 1}"), @"the trust file `trust.json` cannot be understood: missing field `projects` at line 1 column 14");
    insta::assert_snapshot!(load(b"{\"version\": 3, \"projects\": {}}"), @"the trust file `trust.json` cannot be understood: version 3 is not known");
    insta::assert_snapshot!(load(b"\xff"), @"cannot use the trust file `trust.json`: stream did not contain valid UTF-8");
    let short = br#"{"version": 1, "projects": {"/p": {"skills": {"s": {"f": "abc"}}}}}"#;
    insta::assert_snapshot!(load(short), @"the trust file `trust.json` cannot be understood: not a SHA-256 digest at line 1 column 63");
    world.scratch.folder("a-folder");
    assert!(TrustStore::load(&world.scratch.path("a-folder")).is_err());
}

#[test]
fn a_store_that_cannot_be_written_says_so() {
    let world = trusted();
    let file = world.scratch.write("file", "").join("trust.json");
    let mut store = TrustStore::default();
    assert!(store.save().is_err());
    store = TrustStore::load(&world.scratch.path("x.json")).unwrap();
    store.save().unwrap();
    assert!(TrustStore::load(&file).is_err());
}

#[test]
fn recording_fails_when_a_skill_cannot_be_read() {
    let world = project();
    let root = world.scratch.path("project");
    let gone = world.scratch.path("project/skills/gone");
    assert!(TrustedProject::record(&root, [gone.as_path()].into_iter()).is_err());
}
