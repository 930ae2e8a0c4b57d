//! Archives that honest tools write.

use super::build::{Tar, Zip, gzip, tar, zip};
use super::outcome;

#[test]
fn a_zip_with_nested_and_empty_folders_is_unpacked() {
    let archive = zip(&[
        Zip::folder("pdf/"),
        Zip::file("pdf/SKILL.md", "# PDF"),
        Zip::file("pdf/scripts/run.sh", "echo").mode(0o100_755).deflated(),
        Zip::folder("pdf/empty/"),
    ]);
    insta::assert_snapshot!(outcome("skills.zip", &archive), @r##"
    zip: 2 files, 3 folders, 0 links, 0 skipped, 9 bytes
    755 pdf/
    644 pdf/SKILL.md "# PDF"
    755 pdf/empty/
    755 pdf/scripts/
    755 pdf/scripts/run.sh "echo"
    "##);
}

#[test]
fn a_tar_keeps_only_the_bit_that_lets_the_owner_execute() {
    let archive = tar(&[
        Tar::file("plain", "").mode(0o600),
        Tar::file("script", "").mode(0o700),
        Tar::file("setuid", "").mode(0o4755),
        Tar::file("setgid-sticky", "").mode(0o3666),
        Tar::file("group-execute", "").mode(0o010),
        Tar::file("none", "").mode(0),
        Tar::folder("open").mode(0o1777),
    ]);
    insta::assert_snapshot!(outcome("skills.tar", &archive), @r#"
    tar: 6 files, 1 folders, 0 links, 0 skipped, 0 bytes
    644 group-execute ""
    644 none ""
    755 open/
    644 plain ""
    755 script ""
    644 setgid-sticky ""
    755 setuid ""
    "#);
}

#[test]
fn a_zip_keeps_only_the_bit_that_lets_the_owner_execute() {
    let archive = zip(&[
        Zip::file("setuid", "").mode(0o104_755),
        Zip::file("no-type", "").mode(0o600),
        Zip::file("nothing", "").mode(0),
    ]);
    insta::assert_snapshot!(outcome("skills.zip", &archive), @r#"
    zip: 3 files, 0 folders, 0 links, 0 skipped, 0 bytes
    644 no-type ""
    644 nothing ""
    755 setuid ""
    "#);
}

#[test]
fn a_tarball_as_git_writes_it_is_unpacked() {
    let archive = gzip(&tar(&[
        Tar::pax(b'g', "comment", b"0123456789abcdef0123456789abcdef01234567"),
        Tar::folder("skills-main/"),
        Tar::file("skills-main/SKILL.md", "# Hi"),
    ]));
    insta::assert_snapshot!(outcome("main.tar.gz", &archive), @r##"
    tar.gz: 1 files, 1 folders, 0 links, 0 skipped, 4 bytes
    755 skills-main/
    644 skills-main/SKILL.md "# Hi"
    "##);
    assert_eq!(outcome("main.tgz", &archive), outcome("main.tar.gz", &archive));
}

#[test]
fn long_names_come_from_pax_and_gnu_headers() {
    let long = format!("{}/{}/SKILL.md", "a".repeat(90), "b".repeat(90));
    let archive = tar(&[
        Tar::pax(b'x', "path", format!("pax/{long}").as_bytes()),
        Tar::file("short", "pax"),
        Tar::gnu_long(b'L', &format!("gnu/{long}")),
        Tar::file("short", "gnu"),
        Tar::gnu_long(b'K', &format!("gnu/{long}")),
        Tar::symlink("link", "short"),
    ]);
    let shown = outcome("skills.tar", &archive).replace(&"a".repeat(90), "aaa");
    insta::assert_snapshot!(shown.replace(&"b".repeat(90), "bbb"), @r#"
    tar: 2 files, 6 folders, 1 links, 0 skipped, 6 bytes
    755 gnu/
    755 gnu/aaa/
    755 gnu/aaa/bbb/
    644 gnu/aaa/bbb/SKILL.md "gnu"
    link link -> gnu/aaa/bbb/SKILL.md
    755 pax/
    755 pax/aaa/
    755 pax/aaa/bbb/
    644 pax/aaa/bbb/SKILL.md "pax"
    "#);
}

#[test]
fn a_pax_size_replaces_the_size_of_the_header() {
    let archive = tar(&[
        Tar::pax(b'x', "size", b"4"),
        Tar::file("SKILL.md", "# Hi").declares(0),
        Tar::file("next", "still read"),
    ]);
    insta::assert_snapshot!(outcome("skills.tar", &archive), @r##"
    tar: 2 files, 0 folders, 0 links, 0 skipped, 14 bytes
    644 SKILL.md "# Hi"
    644 next "still read"
    "##);
}

#[test]
fn paths_may_begin_with_a_dot_and_repeat_folders() {
    let archive = tar(&[
        Tar::folder("./"),
        Tar::folder("./pdf/"),
        Tar::file("./pdf//SKILL.md", ""),
        Tar::folder("pdf"),
        Tar::file("pdf/./notes.md", ""),
    ]);
    insta::assert_snapshot!(outcome("skills.tar", &archive), @r#"
    tar: 2 files, 1 folders, 0 links, 0 skipped, 0 bytes
    755 pdf/
    644 pdf/SKILL.md ""
    644 pdf/notes.md ""
    "#);
}

#[test]
fn folders_of_the_oldest_tar_are_files_with_a_slash() {
    let archive = tar(&[Tar::new(0, "pdf/"), Tar::new(0, "pdf/SKILL.md").contents("old")]);
    insta::assert_snapshot!(outcome("skills.tar", &archive), @r#"
    tar: 1 files, 1 folders, 0 links, 0 skipped, 3 bytes
    755 pdf/
    644 pdf/SKILL.md "old"
    "#);
}

#[test]
fn the_litter_of_macos_is_left_out_and_counted() {
    let archive = zip(&[
        Zip::file("pdf/SKILL.md", ""),
        Zip::file("pdf/.DS_Store", "litter"),
        Zip::folder("__MACOSX/"),
        Zip::file("__MACOSX/pdf/._SKILL.md", "litter"),
    ]);
    insta::assert_snapshot!(outcome("skills.zip", &archive), @r#"
    zip: 1 files, 1 folders, 0 links, 3 skipped, 0 bytes
    755 pdf/
    644 pdf/SKILL.md ""
    "#);
    let archive = tar(&[Tar::file("._SKILL.md", "litter"), Tar::file("SKILL.md", "kept")]);
    insta::assert_snapshot!(outcome("skills.tar", &archive), @r#"
    tar: 1 files, 0 folders, 0 links, 1 skipped, 4 bytes
    644 SKILL.md "kept"
    "#);
}

#[test]
fn names_beyond_ascii_are_kept() {
    let archive = zip(&[Zip::file("ğ/読み.md", "").flags(1 << 11), Zip::file("é.md", "")]);
    insta::assert_snapshot!(outcome("skills.zip", &archive), @r#"
    zip: 2 files, 1 folders, 0 links, 0 skipped, 0 bytes
    644 é.md ""
    755 ğ/
    644 ğ/読み.md ""
    "#);
}

#[test]
fn names_with_a_colon_further_on_are_kept() {
    let archive = tar(&[Tar::file("notes: today.md", "")]);
    insta::assert_snapshot!(outcome("skills.tar", &archive), @r#"
    tar: 1 files, 0 folders, 0 links, 0 skipped, 0 bytes
    644 notes: today.md ""
    "#);
}

#[test]
fn gzip_files_may_have_several_members() {
    let archive = tar(&[Tar::file("SKILL.md", "one"), Tar::file("more.md", "two")]);
    let (first, second) = archive.split_at(700);
    let archive = [gzip(first), gzip(second)].concat();
    insta::assert_snapshot!(outcome("skills.tgz", &archive), @r#"
    tar.gz: 2 files, 0 folders, 0 links, 0 skipped, 6 bytes
    644 SKILL.md "one"
    644 more.md "two"
    "#);
}

#[test]
fn a_bare_skill_file_gets_the_folder_of_the_caller() {
    insta::assert_snapshot!(outcome("https/pdf/SKILL.md", b"# Hi"), @r##"
    SKILL.md: 1 files, 1 folders, 0 links, 0 skipped, 4 bytes
    755 downloaded/
    644 downloaded/SKILL.md "# Hi"
    "##);
    insta::assert_snapshot!(outcome("skill.MD", b""), @r#"
    SKILL.md: 1 files, 1 folders, 0 links, 0 skipped, 0 bytes
    755 downloaded/
    644 downloaded/SKILL.md ""
    "#);
}

#[test]
fn without_a_known_ending_the_first_bytes_decide() {
    let files = [Tar::file("SKILL.md", "")];
    insta::assert_snapshot!(outcome("main", &tar(&files)), @r#"
    tar: 1 files, 0 folders, 0 links, 0 skipped, 0 bytes
    644 SKILL.md ""
    "#);
    insta::assert_snapshot!(outcome("pdf.skill", &zip(&[Zip::file("SKILL.md", "")])), @r#"
    zip: 1 files, 0 folders, 0 links, 0 skipped, 0 bytes
    644 SKILL.md ""
    "#);
    insta::assert_snapshot!(outcome("tarball", &gzip(&tar(&files))), @r#"
    tar.gz: 1 files, 0 folders, 0 links, 0 skipped, 0 bytes
    644 SKILL.md ""
    "#);
    insta::assert_snapshot!(outcome("page", b"<!doctype html>"), @"`page` is not a zip, tar or tar.gz archive, nor a `SKILL.md`");
    insta::assert_snapshot!(outcome("", b""), @"`` is not a zip, tar or tar.gz archive, nor a `SKILL.md`");
}

#[test]
fn an_empty_archive_is_an_empty_folder() {
    insta::assert_snapshot!(outcome("skills.zip", &zip(&[])), @"zip: 0 files, 0 folders, 0 links, 0 skipped, 0 bytes");
    insta::assert_snapshot!(outcome("skills.tar", &tar(&[])), @"tar: 0 files, 0 folders, 0 links, 0 skipped, 0 bytes");
}
