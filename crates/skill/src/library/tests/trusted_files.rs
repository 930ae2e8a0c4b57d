//! Trust at the moment of use: what a snapshot judged may have changed since.

use std::fs;
use std::time::Duration;

use super::World;
use crate::discover::{ScanOptions, Source, scan};
use crate::files::{Digest, DigestCache, Identity, digest_of, list};
use crate::library::{Entry, FileChange, FirstLook, TrustPolicy, TrustState};
use crate::scratch::settle;

fn project() -> World {
    let mut world = World::new();
    world.scratch.skill("project/skills/ship");
    for folder in ["dist", "node_modules", "target", "venv"] {
        world.scratch.write(format!("project/skills/ship/{folder}/run.sh"), "echo trusted\n");
    }
    world.root(Source::Project, "project/skills");
    world
}

fn trusted() -> World {
    let mut world = project();
    world.trust_project("project");
    world
}

fn ship(world: &World) -> Entry {
    world.build().find("ship").unwrap().clone()
}

/// What a use of an entry finds, with digests that were remembered before.
fn use_of(entry: &Entry, digests: &DigestCache) -> String {
    let folder = entry.place.folder().unwrap();
    let now = digest_of(&list(folder).unwrap(), digests).unwrap();
    let trusted = entry.trusted_files.as_ref().expect("trusted files");
    let is_same = trusted.are_those_of(&now.whole.to_string());
    match trusted.check(entry.name.as_str(), (folder, &now), digests) {
        Ok(()) => format!("used, same digest: {is_same}"),
        Err(changed) => format!("{changed}, same digest: {is_same}"),
    }
}

fn used(entry: &Entry) -> String {
    use_of(entry, &DigestCache::in_memory())
}

#[test]
fn an_entry_carries_the_files_that_were_trusted() {
    let world = trusted();
    insta::assert_snapshot!(used(&ship(&world)), @"used, same digest: true");
    assert!(ship(&project()).trusted_files.is_none(), "an untrusted project has none");
}

#[test]
fn skills_that_need_no_trust_carry_none() {
    let mut world = World::new();
    world.scratch.skill("mine/ship");
    world.root(Source::User, "mine");
    assert!(ship(&world).trusted_files.is_none());
}

#[test]
fn a_file_that_changes_after_the_snapshot_is_named_when_the_skill_is_used() {
    for folder in ["dist", "node_modules", "target", "venv"] {
        let world = trusted();
        let entry = ship(&world);
        let file = world.scratch.path(format!("project/skills/ship/{folder}/run.sh"));
        fs::write(file, "echo changed\n").unwrap();
        assert_eq!(
            used(&entry),
            format!("`ship` changed since it was trusted: {folder}/run.sh, same digest: false")
        );
    }
}

/// Nothing in the folder is written to, so nobody who watches the folder notices.
#[test]
fn a_change_through_a_hard_link_is_found_past_remembered_digests() {
    let world = trusted();
    let (entry, digests) = (ship(&world), DigestCache::in_memory());
    let outside = world.scratch.path("outside.sh");
    fs::hard_link(world.scratch.path("project/skills/ship/dist/run.sh"), &outside).unwrap();
    // Long enough for what was read to be remembered.
    std::thread::sleep(Duration::from_millis(50));
    insta::assert_snapshot!(use_of(&entry, &digests), @"used, same digest: true");
    fs::write(&outside, "echo CHANGED\n").unwrap();
    insta::assert_snapshot!(use_of(&entry, &digests), @"`ship` changed since it was trusted: dist/run.sh, same digest: false");
    fs::write(&outside, "echo trusted\n").unwrap();
    insta::assert_snapshot!(use_of(&entry, &digests), @"used, same digest: true");
}

#[test]
fn a_linked_skill_file_is_compared_when_the_skill_is_used() {
    let mut world = project();
    let skill_file = world.scratch.path("project/skills/ship/SKILL.md");
    fs::rename(&skill_file, world.scratch.path("project/skills/shared.md")).unwrap();
    world.scratch.link(&skill_file, "../shared.md");
    world.trust_project("project");
    let entry = ship(&world);
    insta::assert_snapshot!(used(&entry), @"used, same digest: true");
    world.scratch.write("project/skills/shared.md", "---\nname: ship\ndescription: Else.\n---\n");
    insta::assert_snapshot!(used(&entry), @"`ship` changed since it was trusted: SKILL.md, same digest: true");
}

#[test]
fn trusting_again_after_a_change_makes_another_snapshot() {
    let mut world = trusted();
    let before = world.build();
    world.scratch.write("project/skills/ship/dist/run.sh", "echo accepted\n");
    world.trust_project("project");
    let after = world.build();
    assert_ne!(before.fingerprint(), after.fingerprint());
    assert_eq!(used(after.find("ship").unwrap()), "used, same digest: true");
}

#[test]
fn what_was_seen_first_is_trusted_for_the_rest_of_the_run() {
    let mut world = project();
    let first = FirstLook::default();
    world.first_look = Some(first.clone());
    let entry = ship(&world);
    first.end();
    insta::assert_snapshot!(used(&entry), @"used, same digest: true");
    world.scratch.write("project/skills/ship/dist/run.sh", "echo changed\n");
    world.scratch.skill("project/skills/newcomer");
    insta::assert_snapshot!(used(&entry), @"`ship` changed since it was trusted: dist/run.sh, same digest: false");
    insta::assert_snapshot!(world.outcome(), @"
    newcomer (project) project/skills/newcomer/SKILL.md
      not eligible, changed since it was trusted: the whole skill is new: look at the changes, then trust it again
    ship (project) project/skills/ship/SKILL.md
      not eligible, changed since it was trusted: dist/run.sh: look at the changes, then trust it again
    M087 warning project/skills/newcomer/SKILL.md: changed since it was trusted: the whole skill is new; look at the changes, then trust it again
    M087 warning project/skills/ship/SKILL.md: changed since it was trusted: dist/run.sh; look at the changes, then trust it again
    ");
    // What a person trusts in the meantime counts.
    world.trust_project("project");
    insta::assert_snapshot!(world.outcome(), @"
    newcomer (project) project/skills/newcomer/SKILL.md
    ship (project) project/skills/ship/SKILL.md
    ");
    insta::assert_snapshot!(used(&ship(&world)), @"used, same digest: true");
}

/// The state of a file says nothing of a write through a shared mapping, so what was remembered of that state is not
/// what the header was parsed from.
#[test]
fn a_header_of_other_bytes_than_those_that_were_trusted_is_not_trusted() {
    let world = trusted();
    let file = world.scratch.path("project/skills/ship/SKILL.md");
    let good = Digest::of_bytes(&fs::read(&file).unwrap());
    let digests = DigestCache::in_memory();
    let judged = || {
        let scans = scan(&ScanOptions { roots: &world.roots, cache: None });
        let found = &scans[0].found[0];
        let policy = TrustPolicy::Recorded { store: &world.trust, digests: &digests };
        policy.judge(&world.scratch.path("project"), &found.file, found.digest)
    };
    assert_eq!(judged().state, TrustState::Trusted);
    world.scratch.write(&file, "---\nname: ship\ndescription: Evil.\n---\n");
    settle(&file);
    let identity = Identity::of(&fs::metadata(&file).unwrap());
    digests.recall(&file, &identity, |_| Ok(*good.as_bytes())).unwrap();
    let changes = vec![FileChange::Modified("SKILL.md".to_owned())];
    assert_eq!(judged().state, TrustState::Changed(changes));
    assert!(judged().files.is_none());
}

#[test]
fn a_header_of_a_link_inside_the_skill_is_compared_with_the_file_it_leads_to() {
    let mut world = project();
    let skill_file = world.scratch.path("project/skills/ship/SKILL.md");
    fs::rename(&skill_file, world.scratch.path("project/skills/ship/real.md")).unwrap();
    world.scratch.link(&skill_file, "real.md");
    world.trust_project("project");
    insta::assert_snapshot!(world.outcome(), @"ship (project) project/skills/ship/SKILL.md");
    world.scratch.write("project/skills/ship/real.md", "---\nname: ship\ndescription: E.\n---\n");
    assert!(!ship(&world).verdict.is_eligible());
}

#[test]
fn a_remembered_header_counts_for_a_project_only_with_its_digest() {
    let mut world = trusted();
    let cache = world.scratch.path("cache");
    let digest = |world: &World| {
        let scans = scan(&ScanOptions { roots: &world.roots, cache: Some(&cache) });
        scans[0].found[0].digest
    };
    settle(&world.scratch.path("project/skills/ship/SKILL.md"));
    let project = world.roots[0].project.take();
    assert_eq!(digest(&world), None, "a folder of the person");
    world.roots[0].project = project;
    let read = digest(&world);
    assert!(read.is_some());
    assert_eq!(digest(&world), read, "remembered");
}
