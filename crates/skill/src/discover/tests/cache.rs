//! The cache of headers saves reads and never decides anything.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{render, root, scan_one};
use crate::cache;
use crate::discover::record::Record;
use crate::discover::{Root, ScanOptions, scan};
use crate::scratch::{Scratch, settle};

/// Three skills that have settled, one of them unusable.
fn sample() -> Scratch {
    let scratch = Scratch::new();
    scratch.skill("root/one");
    scratch.skill("root/two");
    scratch.write("root/bad/SKILL.md", "---\nname: bad\n---\n");
    settle(&scratch.path("root/bad/SKILL.md"));
    scratch
}

fn warm(scratch: &Scratch) -> String {
    render(scratch, &scan_one(root(scratch.path("root")), Some(&scratch.path("cache"))))
}

fn cold(scratch: &Scratch) -> String {
    render(scratch, &scan_one(root(scratch.path("root")), None))
}

fn cache_file(scratch: &Scratch) -> PathBuf {
    let mut files = fs::read_dir(scratch.path("cache/headers")).unwrap();
    let file = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none(), "one file a root");
    file
}

fn records(file: &Path) -> BTreeMap<PathBuf, Record> {
    let records: Vec<(PathBuf, Record)> = cache::load(file).unwrap();
    records.into_iter().collect()
}

fn store(file: &Path, records: BTreeMap<PathBuf, Record>) {
    cache::store(file, &records.into_iter().collect::<Vec<_>>());
}

#[test]
fn a_warm_scan_gives_what_a_cold_one_gives() {
    let scratch = sample();
    let first = warm(&scratch);
    assert_eq!(first, cold(&scratch));
    assert_eq!(warm(&scratch), first);
    assert_eq!(records(&cache_file(&scratch)).len(), 3);
}

#[test]
fn a_warm_scan_does_not_read_the_files() {
    let scratch = sample();
    warm(&scratch);
    // A record that says something else than the file shows which of the two was used.
    let file = cache_file(&scratch);
    let mut known = records(&file);
    let record = known.get_mut(&scratch.path("root/one/SKILL.md")).unwrap();
    record.manifest.as_mut().unwrap().name = crate::name::SkillName::new("remembered").unwrap();
    store(&file, known);
    insta::assert_snapshot!(warm(&scratch), @"
    root/one/SKILL.md: remembered
    root/two/SKILL.md: two
    M030 error root/bad/SKILL.md: `description` is missing
    ");
}

#[test]
fn an_edited_or_replaced_file_is_read_again() {
    let scratch = sample();
    warm(&scratch);
    // Same length, and the old time put back.
    let file = scratch.path("root/one/SKILL.md");
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("one", "uno")).unwrap();
    fs::File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
    scratch.skill_named("beside", "dos", "Another.");
    fs::rename(scratch.path("beside/SKILL.md"), scratch.path("root/two/SKILL.md")).unwrap();
    assert_eq!(warm(&scratch), cold(&scratch));
    insta::assert_snapshot!(warm(&scratch), @"
    root/one/SKILL.md: uno
    root/two/SKILL.md: dos
    M030 error root/bad/SKILL.md: `description` is missing
    M027 warning root/one/SKILL.md: the name `uno` is not the name of the folder, `one`
    M027 warning root/two/SKILL.md: the name `dos` is not the name of the folder, `two`
    ");
}

#[test]
fn a_deleted_skill_is_forgotten() {
    let scratch = sample();
    warm(&scratch);
    fs::remove_dir_all(scratch.path("root/two")).unwrap();
    assert_eq!(warm(&scratch), cold(&scratch));
    assert_eq!(records(&cache_file(&scratch)).len(), 2);
}

#[test]
fn a_renamed_folder_is_judged_by_its_new_name() {
    let scratch = sample();
    warm(&scratch);
    fs::rename(scratch.path("root/two"), scratch.path("root/three")).unwrap();
    assert_eq!(warm(&scratch), cold(&scratch));
    assert!(warm(&scratch).contains("M027"), "{}", warm(&scratch));
}

#[test]
fn a_cache_that_is_not_ours_is_ignored_and_replaced() {
    let scratch = sample();
    let wanted = warm(&scratch);
    let file = cache_file(&scratch);
    let whole = fs::read(&file).unwrap();
    let version = [b"metier cache 00\n", &whole[16..]].concat();
    let flipped = [&whole[..40], &[whole[40] ^ 1], &whole[41..]].concat();
    for broken in [&whole[..whole.len() / 2], &[], b"SQLite format 3\0", &version, &flipped] {
        fs::write(&file, broken).unwrap();
        assert_eq!(warm(&scratch), wanted);
        assert_eq!(records(&file).len(), 3, "it is written anew");
    }
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(warm(&scratch), wanted);
    fs::remove_dir(&file).unwrap();
    fs::remove_dir_all(scratch.path("cache")).unwrap();
    assert_eq!(warm(&scratch), wanted);
}

#[test]
fn records_of_other_files_are_ignored() {
    let scratch = sample();
    let wanted = warm(&scratch);
    let file = cache_file(&scratch);
    let known = records(&file);
    let (one, two) = (scratch.path("root/one/SKILL.md"), scratch.path("root/two/SKILL.md"));
    let (first, second) = (known[&one].clone(), known[&two].clone());
    store(&file, BTreeMap::from([(one, second), (two, first)]));
    assert_eq!(warm(&scratch), wanted);
}

#[test]
fn a_pipe_in_place_of_the_cache_is_not_waited_for() {
    let scratch = sample();
    let wanted = warm(&scratch);
    let file = cache_file(&scratch);
    fs::remove_file(&file).unwrap();
    scratch.fifo(&file);
    assert_eq!(warm(&scratch), wanted);
}

#[test]
fn a_cache_that_cannot_be_written_is_harmless() {
    let scratch = sample();
    for place in ["/proc/nowhere", "/dev/full", "/dev/null/cache"] {
        let scan = scan_one(root(scratch.path("root")), Some(Path::new(place)));
        assert_eq!(render(&scratch, &scan), cold(&scratch), "{place}");
    }
}

#[test]
fn a_file_that_changed_a_moment_ago_is_not_remembered() {
    for _ in 0..50 {
        let scratch = Scratch::new();
        let file = scratch.skill("root/one").join("SKILL.md");
        warm(&scratch);
        let known = records(&cache_file(&scratch));
        let identity = crate::files::Identity::of(&fs::metadata(&file).unwrap());
        // On a busy machine the file may have aged before it was read.
        if !identity.is_settled() {
            assert!(known.is_empty());
            return;
        }
    }
    panic!("no file was ever young");
}

#[test]
fn roots_are_scanned_together_and_come_back_in_their_order() {
    let scratch = Scratch::new();
    let mut roots: Vec<Root> = Vec::new();
    for number in 0..12 {
        for skill in 0..number {
            scratch.skill(format!("r{number}/s{skill}"));
        }
        roots.push(root(scratch.path(format!("r{number}"))));
    }
    let cache = scratch.path("cache");
    for cache in [None, Some(cache.as_path()), Some(cache.as_path())] {
        let scans = scan(&ScanOptions { roots: &roots, cache });
        let counts: Vec<usize> = scans.iter().map(|scan| scan.found.len()).collect();
        assert_eq!(counts, (0..12).collect::<Vec<_>>());
    }
}

#[test]
fn many_headers_are_read_on_several_threads_in_the_same_order() {
    let scratch = Scratch::new();
    for number in 0..500 {
        scratch.skill(format!("root/s{number:03}"));
    }
    let once = cold(&scratch);
    assert_eq!(once.lines().count(), 500);
    assert!(once.lines().is_sorted());
    assert_eq!(cold(&scratch), once);
}
