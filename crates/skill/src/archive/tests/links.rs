//! Links and other things that are neither files nor folders.

use super::build::{Tar, Zip, tar, zip};
use super::outcome;

fn linking(path: &str, target: &str) -> String {
    let in_tar = outcome("skills.tar", &tar(&[Tar::symlink(path, target)]));
    let in_zip = outcome("skills.zip", &zip(&[Zip::symlink(path, target)]));
    if !target.contains('\n') {
        let in_pax = [Tar::pax(b'x', "linkpath", target.as_bytes()), Tar::symlink(path, "short")];
        assert_eq!(in_tar, outcome("skills.tar", &tar(&in_pax)));
    }
    assert_eq!(in_tar.trim_start_matches("tar"), in_zip.trim_start_matches("zip"));
    in_tar
}

#[test]
fn links_that_stay_inside_are_kept() {
    let archive = tar(&[
        Tar::symlink("latest", "v2"),
        Tar::symlink("v2/up", "../v1/notes.md"),
        Tar::symlink("v2/here", "./"),
        Tar::symlink("v2/root", ".."),
        Tar::symlink("dangling", "not/there"),
        Tar::file("v2/SKILL.md", ""),
        Tar::file("v1/notes.md", ""),
    ]);
    insta::assert_snapshot!(outcome("skills.tar", &archive), @r#"
    tar: 2 files, 2 folders, 5 links, 0 skipped, 0 bytes
    link dangling -> not/there
    link latest -> v2
    755 v1/
    644 v1/notes.md ""
    755 v2/
    644 v2/SKILL.md ""
    link v2/here -> ./
    link v2/root -> ..
    link v2/up -> ../v1/notes.md
    "#);
}

#[test]
fn links_that_may_escape_are_refused() {
    let mut table = String::new();
    let links = [
        ("up", ".."),
        ("up", "../"),
        ("up", "./.."),
        ("a/up", "../.."),
        ("a/up", "../../out"),
        ("abs", "/etc/passwd"),
        ("abs", "//etc"),
        ("later", "a/../.."),
        ("later", "a/.."),
        ("windows", "C:\\Windows"),
        ("drive", "C:/Windows"),
        ("empty", ""),
        ("line", "a\nb"),
    ];
    for (path, target) in links {
        table.push_str(&linking(path, target));
        table.push('\n');
    }
    insta::assert_snapshot!(table, @r#"
    the archive holds `up`, which is refused: it links to `..`, which may lead out of the archive
    the archive holds `up`, which is refused: it links to `../`, which may lead out of the archive
    the archive holds `up`, which is refused: it links to `./..`, which may lead out of the archive
    the archive holds `a/up`, which is refused: it links to `../..`, which may lead out of the archive
    the archive holds `a/up`, which is refused: it links to `../../out`, which may lead out of the archive
    the archive holds `abs`, which is refused: it links to `/etc/passwd`, which may lead out of the archive
    the archive holds `abs`, which is refused: it links to `//etc`, which may lead out of the archive
    the archive holds `later`, which is refused: it links to `a/../..`, which may lead out of the archive
    the archive holds `later`, which is refused: it links to `a/..`, which may lead out of the archive
    the archive holds `windows`, which is refused: it links to `C:\Windows`, which may lead out of the archive
    the archive holds `drive`, which is refused: it links to `C:/Windows`, which may lead out of the archive
    the archive holds `empty`, which is refused: it links to ``, which may lead out of the archive
    the archive holds `line`, which is refused: it links to `a\nb`, which may lead out of the archive
    "#);
}

#[test]
fn a_chain_of_harmless_links_cannot_climb_out() {
    let archive = tar(&[
        Tar::file("p/q/file", ""),
        Tar::symlink("p/q/up", "../.."),
        Tar::symlink("escape", "p/q/up/.."),
    ]);
    insta::assert_snapshot!(outcome("skills.tar", &archive), @"the archive holds `escape`, which is refused: it links to `p/q/up/..`, which may lead out of the archive");
}

#[test]
fn nothing_is_written_through_a_link() {
    let through = [Tar::symlink("link", "real"), Tar::folder("real"), Tar::file("link/x", "")];
    insta::assert_snapshot!(outcome("skills.tar", &tar(&through)), @"the archive holds `link/x`, which is refused: `link` is not a folder");
    let through = [Zip::symlink("link", "real"), Zip::file("link/x", "")];
    insta::assert_snapshot!(outcome("skills.zip", &zip(&through)), @"the archive holds `link/x`, which is refused: `link` is not a folder");
    let over = [Tar::symlink("link", "real"), Tar::file("link", "")];
    insta::assert_snapshot!(outcome("skills.tar", &tar(&over)), @"the archive holds `link`, which is refused: another entry has the same path");
    let folder_over = [Tar::symlink("link", "."), Tar::folder("link/")];
    insta::assert_snapshot!(outcome("skills.tar", &tar(&folder_over)), @"the archive holds `link/`, which is refused: another entry has the same path");
    let other_case = [Tar::symlink("Link", "."), Tar::file("link/x", "")];
    insta::assert_snapshot!(outcome("skills.tar", &tar(&other_case)), @"the archive holds `link/x`, which is refused: its path cannot be told from `Link` on every system");
    let link_after = [Tar::file("folder/x", ""), Tar::symlink("folder", ".")];
    insta::assert_snapshot!(outcome("skills.tar", &tar(&link_after)), @"the archive holds `folder`, which is refused: another entry has the same path");
}

#[test]
fn a_zip_link_with_an_endless_target_is_refused() {
    let archive = zip(&[Zip::symlink("link", &"a/".repeat(4000)).deflated()]);
    insta::assert_snapshot!(outcome("skills.zip", &archive).replace("a/", ""), @"the archive holds `link`, which is refused: it links to `…`, which may lead out of the archive");
}

#[test]
fn everything_else_is_refused() {
    let mut table = String::new();
    for kind in *b"1346DMNSVX" {
        let archive = tar(&[Tar::new(kind, "thing").link("SKILL.md"), Tar::file("SKILL.md", "")]);
        let kind = char::from(kind);
        table.push_str(&format!("{kind} {}\n", outcome("skills.tar", &archive)));
    }
    for kind in [0o020_000, 0o060_000, 0o010_000, 0o140_000, 0o110_000, 0o120_000] {
        let archive = zip(&[Zip::file("thing/", "").mode(kind)]);
        table.push_str(&format!("{kind:o} {}\n", outcome("skills.zip", &archive)));
    }
    insta::assert_snapshot!(table, @r"
    1 the archive holds `thing`, which is refused: it is a hard link
    3 the archive holds `thing`, which is refused: it is a device
    4 the archive holds `thing`, which is refused: it is a device
    6 the archive holds `thing`, which is refused: it is a named pipe
    D the archive holds `thing`, which is refused: it is neither a file, a folder nor a link
    M the archive holds `thing`, which is refused: it is neither a file, a folder nor a link
    N the archive holds `thing`, which is refused: it is neither a file, a folder nor a link
    S the tar archive is damaged or incomplete
      because: sparse entry type listed but not GNU header
    V the archive holds `thing`, which is refused: it is neither a file, a folder nor a link
    X the archive holds `thing`, which is refused: it is neither a file, a folder nor a link
    20000 the archive holds `thing/`, which is refused: it is a device
    60000 the archive holds `thing/`, which is refused: it is a device
    10000 the archive holds `thing/`, which is refused: it is a named pipe
    140000 the archive holds `thing/`, which is refused: it is neither a file, a folder nor a link
    110000 the archive holds `thing/`, which is refused: it is neither a file, a folder nor a link
    120000 the archive holds `thing/`, which is refused: it is neither a file, a folder nor a link
    ");
}

#[test]
fn sparse_files_of_pax_are_refused() {
    let archive = tar(&[Tar::pax(b'x', "GNU.sparse.major", b"1"), Tar::file("big", "0\n")]);
    insta::assert_snapshot!(outcome("skills.tar", &archive), @"the archive holds `big`, which is refused: it is neither a file, a folder nor a link");
}
