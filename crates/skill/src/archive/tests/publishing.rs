//! Where the folder appears, and what happens when it cannot.

use std::fs;
use std::io::Cursor;
use std::os::unix::fs::PermissionsExt;

use tempfile::TempDir;

use super::super::{ArchiveError, Limits, Refusal, UnpackRequest, unpack};
use super::build::{Tar, tar};
use super::{request, unpack_in};

#[test]
fn an_existing_target_is_left_alone() {
    let parent = TempDir::new().unwrap();
    let archive = tar(&[Tar::file("SKILL.md", "new")]);
    unpack_in(parent.path(), &Limits::STANDARD, "a.tar", &archive).unwrap();
    let second = tar(&[Tar::file("SKILL.md", "other")]);
    let error = unpack_in(parent.path(), &Limits::STANDARD, "a.tar", &second).unwrap_err();
    assert!(matches!(error, ArchiveError::TargetExists { .. }), "{error:?}");
    assert_eq!(fs::read_to_string(parent.path().join("out/SKILL.md")).unwrap(), "new");
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
}

#[test]
fn a_dangling_link_at_the_target_is_not_followed() {
    let parent = TempDir::new().unwrap();
    std::os::unix::fs::symlink("elsewhere", parent.path().join("out")).unwrap();
    let error = unpack_in(parent.path(), &Limits::STANDARD, "a.tar", &tar(&[])).unwrap_err();
    assert!(matches!(error, ArchiveError::TargetExists { .. }), "{error:?}");
    assert!(!parent.path().join("elsewhere").exists());
}

#[test]
fn the_folder_above_the_target_must_exist() {
    let parent = TempDir::new().unwrap();
    let missing = parent.path().join("missing");
    let error = unpack_in(&missing, &Limits::STANDARD, "a.tar", &tar(&[])).unwrap_err();
    assert!(matches!(error, ArchiveError::Write { .. }), "{error:?}");
    assert!(!missing.exists());
}

#[test]
fn the_folder_is_as_open_as_any_other() {
    let parent = TempDir::new().unwrap();
    unpack_in(parent.path(), &Limits::STANDARD, "a.tar", &tar(&[])).unwrap();
    let mode = fs::metadata(parent.path().join("out")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
}

#[test]
fn the_folder_of_a_bare_skill_file_is_one_plain_name() {
    for folder in ["", ".", "..", "a/b", "/a", "a/", "a\\b"] {
        let parent = TempDir::new().unwrap();
        let into = parent.path().join("out");
        let request =
            UnpackRequest { skill_folder: folder, ..request("SKILL.md", &into, &Limits::STANDARD) };
        let error = unpack(Cursor::new(b"# Hi"), &request).unwrap_err();
        assert!(matches!(error, ArchiveError::Refused { .. }), "{folder}: {error:?}");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0, "{folder}");
    }
}

#[test]
fn a_refusal_can_be_told_from_another() {
    let parent = TempDir::new().unwrap();
    let archive = tar(&[Tar::new(b'1', "hard").link("SKILL.md")]);
    let error = unpack_in(parent.path(), &Limits::STANDARD, "a.tar", &archive).unwrap_err();
    assert!(matches!(error, ArchiveError::Refused { reason: Refusal::HardLink, .. }));
}
