//! Changes of files are noticed; reading and the work of tools are not changes.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::library::{Watched, Watcher};
use crate::scratch::Scratch;

/// Enough for a slow machine; a change is noticed within a second on an ordinary one.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long nothing must be noticed to say that nothing is.
const SILENCE: Duration = Duration::from_millis(700);

fn sample() -> Scratch {
    let scratch = Scratch::new();
    scratch.skill("root/one");
    scratch.write("root/one/docs/a.md", "text");
    scratch
}

fn watch(scratch: &Scratch, roots: &[&str]) -> Watcher {
    let roots: Vec<_> = roots.iter().map(|root| scratch.path(root)).collect();
    Watcher::new(roots.iter().map(AsRef::<Path>::as_ref)).unwrap()
}

/// Whether a change under the watched folder `root` is noticed.
fn noticed(change: impl FnOnce(&Scratch)) -> Watched {
    let scratch = sample();
    let watcher = watch(&scratch, &["root"]);
    assert_eq!(watcher.wait(Duration::ZERO), Watched::Quiet, "watching is no change");
    change(&scratch);
    watcher.wait(PATIENCE)
}

/// Whether something that is no change is taken for one.
fn mistaken(no_change: impl FnOnce(&Scratch)) -> Watched {
    let scratch = sample();
    scratch.folder("root/.venv");
    scratch.folder("root/one/.git");
    let watcher = watch(&scratch, &["root"]);
    no_change(&scratch);
    watcher.wait(SILENCE)
}

#[test]
fn what_people_do_with_skills_is_noticed() {
    assert_eq!(noticed(|it| drop(it.skill("root/two"))), Watched::Changed);
    assert_eq!(noticed(|it| drop(it.skill("root/group/deep/two"))), Watched::Changed);
    assert_eq!(noticed(|it| drop(it.write("root/one/SKILL.md", "edited"))), Watched::Changed);
    assert_eq!(noticed(|it| drop(it.write("root/one/docs/a.md", "edited"))), Watched::Changed);
    assert_eq!(noticed(|it| fs::remove_dir_all(it.path("root/one")).unwrap()), Watched::Changed);
    assert_eq!(
        noticed(|it| fs::rename(it.path("root/one"), it.path("root/uno")).unwrap()),
        Watched::Changed
    );
    assert_eq!(noticed(|it| drop(it.link("root/two", "one"))), Watched::Changed);
}

#[test]
fn a_file_renamed_into_place_is_noticed() {
    let change = |scratch: &Scratch| {
        scratch.write("beside", "edited");
        fs::rename(scratch.path("beside"), scratch.path("root/one/SKILL.md")).unwrap();
    };
    assert_eq!(noticed(change), Watched::Changed);
}

#[test]
fn a_change_in_a_folder_made_after_watching_began_is_noticed() {
    let scratch = sample();
    let watcher = watch(&scratch, &["root"]);
    scratch.skill("root/two");
    assert_eq!(watcher.wait(PATIENCE), Watched::Changed);
    scratch.write("root/two/SKILL.md", "edited");
    assert_eq!(watcher.wait(PATIENCE), Watched::Changed);
}

#[test]
fn a_root_that_is_made_later_is_noticed() {
    let scratch = Scratch::new();
    let watcher = watch(&scratch, &["home/.agents/skills"]);
    scratch.skill("home/.agents/skills/one");
    assert_eq!(watcher.wait(PATIENCE), Watched::Changed);
    let watcher = watch(&scratch, &["home/.agents/skills"]);
    scratch.skill("home/.agents/skills/two");
    assert_eq!(watcher.wait(PATIENCE), Watched::Changed);
}

#[test]
fn the_neighbours_of_a_root_are_nobodys_business() {
    let scratch = Scratch::new();
    scratch.folder("home");
    let watcher = watch(&scratch, &["home/.agents/skills"]);
    scratch.write("home/.bash_history", "ls");
    scratch.write("home/.agents-other", "");
    assert_eq!(watcher.wait(SILENCE), Watched::Quiet);
}

#[test]
fn a_skill_that_a_root_links_to_is_watched() {
    let scratch = Scratch::new();
    scratch.folder("root");
    scratch.skill("elsewhere/one");
    scratch.skill("elsewhere/group/two");
    scratch.link("root/one", "../elsewhere/one");
    scratch.link("root/group", scratch.path("elsewhere/group"));
    let watcher = watch(&scratch, &["root"]);
    for change in ["one/SKILL.md", "one/docs/new.md", "group/two/SKILL.md", "group/new/SKILL.md"] {
        scratch.write(format!("elsewhere/{change}"), "edited");
        assert_eq!(watcher.wait(PATIENCE), Watched::Changed, "{change}");
    }
}

#[test]
fn a_root_that_is_a_link_is_watched() {
    let scratch = Scratch::new();
    scratch.skill("dotfiles/skills/one");
    scratch.link("root", "dotfiles/skills");
    let watcher = watch(&scratch, &["root"]);
    for change in ["one/SKILL.md", "two/SKILL.md"] {
        scratch.write(format!("dotfiles/skills/{change}"), "edited");
        assert_eq!(watcher.wait(PATIENCE), Watched::Changed, "{change}");
    }
}

/// A link in somebody's project must not have the whole disk watched.
#[test]
fn links_are_not_followed_wherever_they_lead() {
    let scratch = sample();
    scratch.folder("disk/home/deep");
    scratch.link("root/trap", "../disk");
    scratch.link("root/one/trap", "/");
    let watcher = watch(&scratch, &["root"]);
    scratch.write("disk/home/deep/file", "");
    assert_eq!(watcher.wait(SILENCE), Watched::Quiet);
}

#[test]
fn reading_is_no_change() {
    let read = |scratch: &Scratch| {
        for _ in 0..3 {
            fs::read(scratch.path("root/one/SKILL.md")).unwrap();
            fs::read_dir(scratch.path("root/one")).unwrap().count();
        }
    };
    assert_eq!(mistaken(read), Watched::Quiet);
}

#[test]
fn what_is_in_no_digest_is_no_change() {
    let install = |scratch: &Scratch| {
        scratch.write("root/.venv/bin/python", "");
        scratch.write("root/one/.git/index", "");
        scratch.write("root/one/__pycache__/x.pyc", "");
    };
    assert_eq!(mistaken(install), Watched::Quiet);
}

/// A folder that the digest covers and nobody watches would change unnoticed.
#[test]
fn every_folder_that_the_digest_covers_is_watched() {
    for folder in ["dist", "node_modules", "target", "venv", ".mypy_cache", ".pytest_cache"] {
        let scratch = sample();
        scratch.folder(format!("root/one/{folder}"));
        let watcher = watch(&scratch, &["root"]);
        scratch.write(format!("root/one/{folder}/run.sh"), "edited");
        let listed = crate::files::list(&scratch.path("root/one")).unwrap();
        assert!(listed.find(&format!("{folder}/run.sh")).is_some(), "{folder} is in the digest");
        assert_eq!(watcher.wait(PATIENCE), Watched::Changed, "{folder}");
    }
}

#[test]
fn a_root_below_a_folder_of_tools_is_watched_all_the_same() {
    let scratch = Scratch::new();
    scratch.folder("target/root");
    let watcher = watch(&scratch, &["target/root"]);
    scratch.skill("target/root/one");
    assert_eq!(watcher.wait(PATIENCE), Watched::Changed);
}

#[test]
fn a_burst_of_changes_is_reported_once() {
    let scratch = sample();
    let watcher = watch(&scratch, &["root"]);
    for number in 0..200 {
        scratch.write(format!("root/one/f{number}"), "");
    }
    assert_eq!(watcher.wait(PATIENCE), Watched::Changed);
    assert_eq!(watcher.wait(SILENCE), Watched::Quiet);
}

#[test]
fn readers_do_not_hold_a_change_back() {
    let scratch = sample();
    let watcher = watch(&scratch, &["root"]);
    let file = scratch.write("root/one/SKILL.md", "edited");
    let (watched, took) = thread::scope(|scope| {
        let start = Instant::now();
        let waiting = scope.spawn(move || (watcher.wait(PATIENCE), start.elapsed()));
        while !waiting.is_finished() {
            fs::read(&file).unwrap();
            thread::sleep(Duration::from_millis(20));
        }
        waiting.join().unwrap()
    });
    assert_eq!(watched, Watched::Changed);
    assert!(took < Duration::from_secs(4), "reported after {took:?}");
}

#[test]
fn a_root_that_never_rests_is_reported_all_the_same() {
    let scratch = sample();
    let watcher = watch(&scratch, &["root"]);
    let file = scratch.path("root/one/SKILL.md");
    let watched = thread::scope(|scope| {
        let waiting = scope.spawn(move || watcher.wait(PATIENCE));
        while !waiting.is_finished() {
            fs::write(&file, "edited").unwrap();
            thread::sleep(Duration::from_millis(20));
        }
        waiting.join().unwrap()
    });
    assert_eq!(watched, Watched::Changed);
}

#[test]
fn nowhere_to_watch_is_quiet() {
    assert_eq!(watch(&Scratch::new(), &[]).wait(Duration::from_millis(1)), Watched::Quiet);
}

#[test]
fn native_watches_are_used_where_they_are_to_be_had() {
    assert_eq!(watch(&sample(), &["root"]).polls_because(), None);
}
