//! Names that must never reach the disk.

use super::build::{Tar, Zip, tar, zip};
use super::{Limits, outcome};

fn in_tar(name: impl AsRef<[u8]>) -> String {
    outcome("skills.tar", &tar(&[Tar::file("SKILL.md", ""), Tar::file(name, "owned")]))
}

fn in_pax(name: impl AsRef<[u8]>) -> String {
    let pax = Tar::pax(b'x', "path", name.as_ref());
    outcome("skills.tar", &tar(&[Tar::file("SKILL.md", ""), pax, Tar::file("short", "owned")]))
}

fn in_zip(name: impl AsRef<[u8]>) -> String {
    outcome("skills.zip", &zip(&[Zip::file("SKILL.md", ""), Zip::file(name, "owned")]))
}

#[test]
fn hostile_names_are_refused_in_both_formats() {
    let names: &[&[u8]] = &[
        b"../evil",
        b"a/../../evil",
        b"a/../evil",
        b"..",
        b"/etc/passwd",
        b"//server/share",
        b"C:/evil",
        b"c:evil",
        b"./d:/evil",
        b"a\\evil",
        b"..\\evil",
        b"\\evil",
        b"line\nbreak",
        b"escape\x1b[2J",
        b"\x7f",
        b"latin\xe9.md",
        b"\xff",
        "\u{85}".as_bytes(),
    ];
    let mut table = String::new();
    for name in names {
        let (tar, zip) = (in_tar(name), in_zip(name));
        assert_eq!(tar, zip);
        if !name.contains(&b'\n') {
            assert_eq!(tar, in_pax(name));
        }
        table.push_str(&tar);
        table.push('\n');
    }
    insta::assert_snapshot!(table, @r#"
    the archive holds `../evil`, which is refused: its path contains `..`
    the archive holds `a/../../evil`, which is refused: its path contains `..`
    the archive holds `a/../evil`, which is refused: its path contains `..`
    the archive holds `..`, which is refused: its path contains `..`
    the archive holds `/etc/passwd`, which is refused: its path is absolute
    the archive holds `//server/share`, which is refused: its path is absolute
    the archive holds `C:/evil`, which is refused: its path begins with a drive letter
    the archive holds `c:evil`, which is refused: its path begins with a drive letter
    the archive holds `./d:/evil`, which is refused: its path begins with a drive letter
    the archive holds `a\evil`, which is refused: its path contains a backslash
    the archive holds `..\evil`, which is refused: its path contains a backslash
    the archive holds `\evil`, which is refused: its path contains a backslash
    the archive holds `line\nbreak`, which is refused: its path contains a control character
    the archive holds `escape\u{1b}[2J`, which is refused: its path contains a control character
    the archive holds `\u{7f}`, which is refused: its path contains a control character
    the archive holds `latin�.md`, which is refused: its path is not UTF-8
    the archive holds `�`, which is refused: its path is not UTF-8
    the archive holds `\u{85}`, which is refused: its path contains a control character
    "#);
}

#[test]
fn a_nul_does_not_cut_a_name() {
    insta::assert_snapshot!(in_pax("SKILL.md\0.sh"), @r#"the archive holds `SKILL.md\u{0}.sh`, which is refused: its path contains a control character"#);
    insta::assert_snapshot!(in_zip("notes\0.sh"), @r#"the archive holds `notes\u{0}.sh`, which is refused: its path contains a control character"#);
}

#[test]
fn a_file_needs_a_name() {
    insta::assert_snapshot!(outcome("skills.tar", &tar(&[Tar::file(".", "owned")])), @"the archive holds `.`, which is refused: it has no name");
    insta::assert_snapshot!(outcome("skills.zip", &zip(&[Zip::file("", "owned")])), @"the archive holds ``, which is refused: it has no name");
}

#[test]
fn a_folder_cannot_have_contents() {
    insta::assert_snapshot!(in_tar("folder/"), @"the archive holds `folder/`, which is refused: it is named like a folder but has the contents of a file");
    insta::assert_snapshot!(in_zip("folder/"), @"the archive holds `folder/`, which is refused: it is named like a folder but has the contents of a file");
}

#[test]
fn a_file_is_not_unpacked_twice() {
    let twice = [Tar::file("SKILL.md", "good"), Tar::file("SKILL.md", "evil")];
    insta::assert_snapshot!(outcome("skills.tar", &tar(&twice)), @"the archive holds `SKILL.md`, which is refused: another entry has the same path");
    let twice = [Zip::file("a", ""), Zip::file("SKILL.md", "good"), Zip::file("SKILL.md", "evil")];
    insta::assert_snapshot!(outcome("skills.zip", &zip(&twice)), @"the archive holds `SKILL.md`, which is refused: another entry has the same path");
    let twice = [Zip::file("SKILL.md", "good"), Zip::file("./SKILL.md", "evil")];
    insta::assert_snapshot!(outcome("skills.zip", &zip(&twice)), @"the archive holds `./SKILL.md`, which is refused: another entry has the same path");
}

#[test]
fn names_that_some_file_system_confuses_collide() {
    let mut table = String::new();
    let pairs = [
        ("SKILL.md", "skill.MD"),
        ("Pdf/a", "pdf/b"),
        ("caf\u{e9}", "cafe\u{301}"),
        ("CAFE\u{301}", "caf\u{e9}"),
        ("straße", "STRASSE"),
        ("σας", "ΣΑΣ"),
        ("\u{212a}elvin", "kelvin"),
    ];
    for (first, second) in pairs {
        let archive = tar(&[Tar::file(first, ""), Tar::file(second, "")]);
        table.push_str(&outcome("skills.tar", &archive));
        table.push('\n');
    }
    insta::assert_snapshot!(table, @r"
    the archive holds `skill.MD`, which is refused: its path cannot be told from `SKILL.md` on every system
    the archive holds `pdf/b`, which is refused: its path cannot be told from `Pdf` on every system
    the archive holds `café`, which is refused: its path cannot be told from `café` on every system
    the archive holds `café`, which is refused: its path cannot be told from `CAFÉ` on every system
    the archive holds `STRASSE`, which is refused: its path cannot be told from `straße` on every system
    the archive holds `ΣΑΣ`, which is refused: its path cannot be told from `σας` on every system
    the archive holds `kelvin`, which is refused: its path cannot be told from `Kelvin` on every system
    ");
}

#[test]
fn a_file_and_a_folder_cannot_share_a_path() {
    let file_first = [Tar::file("pdf", ""), Tar::file("pdf/SKILL.md", "")];
    insta::assert_snapshot!(outcome("skills.tar", &tar(&file_first)), @"the archive holds `pdf/SKILL.md`, which is refused: `pdf` is not a folder");
    let folder_first = [Tar::file("pdf/SKILL.md", ""), Tar::file("pdf", "")];
    insta::assert_snapshot!(outcome("skills.tar", &tar(&folder_first)), @"the archive holds `pdf`, which is refused: another entry has the same path");
    let folder_after = [Tar::file("pdf", ""), Tar::folder("pdf/")];
    insta::assert_snapshot!(outcome("skills.tar", &tar(&folder_after)), @"the archive holds `pdf/`, which is refused: another entry has the same path");
}

#[test]
fn depth_and_length_are_bounded() {
    let part = "d/".repeat(Limits::STANDARD.max_depth);
    insta::assert_snapshot!(in_tar(format!("{part}evil")), @"the archive holds `d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/evil`, which is refused: its path has more than 32 parts");
    insta::assert_snapshot!(in_zip("Z".repeat(256)).replace("ZZ", ""), @"the archive holds `…`, which is refused: a part of its path is longer than 255 bytes");
}
