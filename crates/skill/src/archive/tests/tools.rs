//! Archives of programs: without links, and without the folders that their makers put around them.

use std::io::Cursor;

use tempfile::TempDir;

use super::super::{Limits, LinkRule, UnpackRequest, unpack};
use super::build::{Tar, Zip, tar, zip};
use super::{chain, render, request};

/// Unpacks as the archive of a tool, without so many leading folders.
fn tool(name: &str, archive: &[u8], strip: usize) -> String {
    let parent = TempDir::new().unwrap();
    let into = parent.path().join("out");
    let links = LinkRule::Refused;
    let request = UnpackRequest { strip, links, ..request(name, &into, &Limits::STANDARD) };
    match unpack(Cursor::new(archive), &request) {
        Ok(unpacked) => render(&unpacked, &into),
        Err(error) => {
            assert!(!into.exists(), "what is refused leaves nothing behind");
            chain(&error)
        }
    }
}

#[test]
fn no_link_is_made_even_if_it_stays_inside() {
    let in_tar = [Tar::file("tool", "x"), Tar::symlink("bin/tool", "../tool")];
    let in_zip = [Zip::file("tool", "x"), Zip::symlink("bin/tool", "../tool")];
    insta::assert_snapshot!(tool("a.tar", &tar(&in_tar), 0), @"the archive holds `bin/tool`, which is refused: it is a link");
    insta::assert_snapshot!(tool("a.zip", &zip(&in_zip), 0), @"the archive holds `bin/tool`, which is refused: it is a link");
}

#[test]
fn leading_folders_are_left_out() {
    let entries = [
        Tar::folder("tool-1.0"),
        Tar::file("README", "not below a folder"),
        Tar::folder("tool-1.0/bin"),
        Tar::file("tool-1.0/bin/tool", "x"),
        Tar::file("./tool-1.0/./LICENSE", "y"),
    ];
    insta::assert_snapshot!(tool("a.tar", &tar(&entries), 1), @r#"
    tar: 2 files, 1 folders, 0 links, 2 skipped, 2 bytes
    644 LICENSE "y"
    755 bin/
    644 bin/tool "x"
    "#);
    insta::assert_snapshot!(tool("a.tar", &tar(&entries), 2), @r#"
    tar: 1 files, 0 folders, 0 links, 4 skipped, 1 bytes
    644 tool "x"
    "#);
    insta::assert_snapshot!(tool("a.tar", &tar(&entries), 3), @"tar: 0 files, 0 folders, 0 links, 5 skipped, 0 bytes");
    let zipped = [Zip::file("a/b/tool", "x"), Zip::file("c", "y")];
    insta::assert_snapshot!(tool("a.zip", &zip(&zipped), 2), @r#"
    zip: 1 files, 0 folders, 0 links, 1 skipped, 1 bytes
    644 tool "x"
    "#);
}

#[test]
fn leaving_folders_out_opens_no_way() {
    let twice = [Tar::file("a/tool", "x"), Tar::file("b/tool", "y")];
    insta::assert_snapshot!(tool("a.tar", &tar(&twice), 1), @"the archive holds `b/tool`, which is refused: another entry has the same path");
    for path in ["a/../../x", "../a/x", "/a/b/x", "a//../x"] {
        let told = tool("a.tar", &tar(&[Tar::file(path, "x")]), 1);
        assert!(told.contains("absolute") || told.contains("`..`"), "{path}: {told}");
    }
}
