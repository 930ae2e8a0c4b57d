//! The search over a library whose files are something else than when they were found.

use std::fs::{self, File};
use std::time::{Duration, Instant};

use super::World;
use crate::discover::Source;
use crate::library::Snapshot;
use crate::search::SkillIndex;

/// More than it takes on a busy machine, and less than it takes to read what is far too large.
const PROMPT: Duration = Duration::from_secs(5);

fn world(source: Source) -> World {
    let mut world = World::new();
    let text = "---\nname: ship\ndescription: Does things.\n---\n\n# Lighthouse\n";
    world.scratch.write("project/skills/ship/SKILL.md", text);
    world.root(source, "project/skills");
    world.trust_project("project");
    world
}

fn finds(snapshot: &Snapshot, query: &str) -> bool {
    !SkillIndex::new(snapshot, |_| true).search(query, 1).is_empty()
}

#[test]
fn search_waits_for_no_pipe_and_reads_no_device() {
    let replace: [fn(&World); 3] = [
        |world| drop(world.scratch.fifo("project/skills/ship/SKILL.md")),
        |world| drop(world.scratch.link("project/skills/ship/SKILL.md", "/dev/zero")),
        |world| {
            let file = File::create(world.scratch.path("project/skills/ship/SKILL.md"));
            file.unwrap().set_len(64 << 30).unwrap();
        },
    ];
    for source in [Source::User, Source::Project] {
        for replace in replace {
            let world = world(source);
            let snapshot = world.build();
            assert!(finds(&snapshot, "lighthouse"));
            fs::remove_file(world.scratch.path("project/skills/ship/SKILL.md")).unwrap();
            replace(&world);
            let start = Instant::now();
            assert!(finds(&snapshot, "ship") && !finds(&snapshot, "lighthouse"));
            assert!(start.elapsed() < PROMPT, "{:?}", start.elapsed());
        }
    }
}

#[test]
fn headings_of_a_changed_skill_are_not_searched() {
    let world = world(Source::Project);
    let snapshot = world.build();
    assert!(snapshot.find("ship").unwrap().trusted_files.is_some());
    assert!(finds(&snapshot, "lighthouse"));
    let text = "---\nname: ship\ndescription: Does things.\n---\n\n# Password\n";
    world.scratch.write("project/skills/ship/SKILL.md", text);
    assert!(!finds(&snapshot, "password") && !finds(&snapshot, "lighthouse"));
    assert!(finds(&snapshot, "ship"), "its name and description are those of the snapshot");
}
