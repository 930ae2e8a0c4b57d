//! What changes the digest of a skill, and what does not.

use std::fs::{self, File, FileTimes, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use super::digest;
use crate::discover::{BundledFile, BundledSkill};
use crate::files::{Digest, DigestCache, combine, digest_of, entry_digest, list};
use crate::scratch::Scratch;

/// A small skill with one of everything.
fn sample() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("s/SKILL.md", "text");
    scratch.write("s/a/doc.md", "doc");
    scratch.write("s/b.md", "other");
    scratch.program("s/run");
    scratch.link("s/link.md", "b.md");
    scratch
}

fn changed_by(change: impl FnOnce(&Scratch)) -> bool {
    let scratch = sample();
    let before = digest(&scratch.path("s"));
    change(&scratch);
    digest(&scratch.path("s")) != before
}

fn set_mode(scratch: &Scratch, path: &str, mode: u32) {
    fs::set_permissions(scratch.path(path), Permissions::from_mode(mode)).unwrap();
}

#[test]
fn content_names_executable_bits_and_link_targets_change_the_digest() {
    assert!(changed_by(|it| drop(it.write("s/SKILL.md", "test"))));
    assert!(changed_by(|it| drop(it.write("s/new", ""))));
    assert!(changed_by(|it| fs::remove_file(it.path("s/b.md")).unwrap()));
    assert!(changed_by(|it| fs::rename(it.path("s/b.md"), it.path("s/c.md")).unwrap()));
    assert!(changed_by(|it| fs::rename(it.path("s/a"), it.path("s/c")).unwrap()));
    assert!(changed_by(|it| set_mode(it, "s/run", 0o644)));
    assert!(changed_by(|it| set_mode(it, "s/b.md", 0o744)));
    assert!(changed_by(|it| {
        fs::remove_file(it.path("s/link.md")).unwrap();
        it.link("s/link.md", "a/doc.md");
    }));
    assert!(changed_by(|it| {
        fs::remove_file(it.path("s/link.md")).unwrap();
        it.write("s/link.md", "b.md");
    }));
    assert!(changed_by(|it| {
        fs::rename(it.path("s/b.md"), it.path("s/swap")).unwrap();
        fs::rename(it.path("s/a/doc.md"), it.path("s/b.md")).unwrap();
        fs::rename(it.path("s/swap"), it.path("s/a/doc.md")).unwrap();
    }));
}

#[test]
fn nothing_else_changes_the_digest() {
    assert!(!changed_by(|it| drop(it.write("s/SKILL.md", "text"))));
    assert!(!changed_by(|it| set_mode(it, "s/b.md", 0o600)));
    assert!(!changed_by(|it| set_mode(it, "s/run", 0o700)));
    assert!(!changed_by(|it| drop(it.folder("s/empty"))));
    assert!(!changed_by(|it| drop(it.write("s/__pycache__/x.pyc", "x"))));
    assert!(!changed_by(|it| drop(it.link("s/outside", "/etc/passwd"))));
    assert!(!changed_by(|it| {
        let yesterday = SystemTime::now() - Duration::from_secs(86_400);
        let file = File::options().write(true).open(it.path("s/SKILL.md")).unwrap();
        file.set_times(FileTimes::new().set_modified(yesterday).set_accessed(yesterday)).unwrap();
    }));
    let scratch = sample();
    let before = digest(&scratch.path("s"));
    fs::rename(scratch.path("s"), scratch.path("moved")).unwrap();
    assert_eq!(digest(&scratch.path("moved")), before);
}

#[test]
fn moving_bytes_between_name_and_content_changes_the_digest() {
    let of = |path: &str, text: &str| {
        let scratch = Scratch::new();
        scratch.write(format!("s/{path}"), text);
        digest(&scratch.path("s"))
    };
    assert_ne!(of("ab", "c"), of("a", "bc"));
    assert_ne!(of("a", "file"), of("a", ""));
}

#[test]
fn the_digests_of_the_entries_name_what_differs() {
    let scratch = sample();
    let files = || digest_of(&list(&scratch.path("s")).unwrap(), &DigestCache::in_memory());
    let before = files().unwrap().entries;
    scratch.write("s/a/doc.md", "another");
    let after = files().unwrap().entries;
    let differing: Vec<&String> =
        after.iter().filter(|(path, it)| before.get(*path) != Some(it)).map(|(it, _)| it).collect();
    assert_eq!(differing, ["a/doc.md"]);
    assert_eq!(after.len(), 5);
}

#[test]
fn the_whole_its_entries_and_their_contents_are_of_one_reading() {
    let scratch = sample();
    let tree = list(&scratch.path("s")).unwrap();
    let digests = digest_of(&tree, &DigestCache::in_memory()).unwrap();
    assert_eq!(digests.whole, combine(&digests.entries));
    let named: Vec<&str> = digests.contents.keys().map(String::as_str).collect();
    assert_eq!(named, ["SKILL.md", "a/doc.md", "b.md", "run"]);
    assert_eq!(digests.contents["b.md"], Digest::of_bytes(b"other"));
    for (path, content) in &digests.contents {
        let kind = if path == "run" { "executable" } else { "file" };
        assert_eq!(digests.entries[path], entry_digest(kind, *content), "{path}");
    }
}

#[test]
fn a_bundled_skill_has_the_digest_of_its_unpacked_folder() {
    const FILES: &[BundledFile] = &[
        BundledFile { path: "SKILL.md", bytes: b"---\n---\n", executable: false },
        BundledFile { path: "scripts/run.sh", bytes: b"#!/bin/sh\n", executable: true },
        BundledFile { path: "docs/deep/a.md", bytes: b"", executable: false },
    ];
    let skill = BundledSkill { folder: "sample", files: FILES };
    let scratch = Scratch::new();
    let content = scratch.path("state/content");
    let folder = skill.unpack(&content).unwrap();
    assert_eq!(digest(&folder), skill.digest());
    assert_eq!(folder, content.join(skill.digest().to_string()).join("sample"));
    assert_eq!(skill.unpack(&content).unwrap(), folder);
    let left: Vec<_> = fs::read_dir(&content).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing half-written stays");
}

#[test]
fn a_digest_is_read_from_sixty_four_hexadecimal_digits_only() {
    let digest = Digest::of_bytes(b"");
    assert_eq!(Digest::from_hex(&digest.to_string()), Some(digest));
    let digits = digest.to_string();
    for text in [&digits[1..], "", &format!("{digits}0"), &digits.replacen('e', "g", 1)] {
        assert_eq!(Digest::from_hex(text), None, "{text}");
    }
    assert_eq!(Digest::from_hex(&format!("+f{}", &digits[2..])), None, "a sign is no digit");
    assert_eq!(Digest::from_hex(&"é".repeat(32)), None);
}
