//! Archives that are damaged, cut off, or say one thing to one reader and another to the next.

use super::build::{Tar, Zip, gzip, tar, tar_unfinished, zip};
use super::outcome;

#[test]
fn bytes_that_are_no_archive_are_damaged() {
    insta::assert_snapshot!(outcome("skills.zip", b"<!doctype html>"), @r"
    the zip archive is damaged or incomplete
      because: invalid Zip archive: Could not find EOCD
    ");
    insta::assert_snapshot!(outcome("skills.zip", b""), @r"
    the zip archive is damaged or incomplete
      because: invalid Zip archive: Could not find EOCD
    ");
    insta::assert_snapshot!(outcome("skills.tar", &[b'x'; 1024]), @r"
    the tar archive is damaged or incomplete
      because: numeric field was not a number: xxxxxxxx when getting cksum for xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    ");
    insta::assert_snapshot!(outcome("skills.tar", b""), @r"
    the tar archive is damaged or incomplete
      because: unexpected end of file
    ");
    insta::assert_snapshot!(outcome("skills.tgz", b"<!doctype html>"), @r"
    the tar.gz archive is damaged or incomplete
      because: invalid gzip header
    ");
    insta::assert_snapshot!(outcome("skills.tar.gz", b""), @r"
    the tar.gz archive is damaged or incomplete
      because: unexpected end of file
    ");
    insta::assert_snapshot!(outcome("skills.tgz", &gzip(b"not tar")), @r"
    the tar.gz archive is damaged or incomplete
      because: failed to read entire block
    ");
}

#[test]
fn an_archive_cut_anywhere_is_an_error() {
    let text = b"The quick brown fox jumps over the lazy dog, 0123456789 times. ".repeat(20);
    let files = [Tar::file("SKILL.md", &text), Tar::file("b/notes.md", "two")];
    let plain = tar_unfinished(&files);
    let archives = [
        ("skills.tar", plain),
        ("skills.tgz", gzip(&tar(&files))),
        ("skills.zip", zip(&[Zip::file("SKILL.md", &text).deflated(), Zip::file("b/n", "two")])),
    ];
    for (name, archive) in archives {
        let longest = if name == "skills.tar" { archive.len() } else { archive.len() - 1 };
        for length in (0..=longest).step_by(7).chain([longest]) {
            let shown = outcome(name, &archive[..length]);
            assert!(shown.contains("is damaged or incomplete"), "{name} cut at {length}: {shown}");
        }
    }
}

#[test]
fn a_wrong_checksum_is_found() {
    let archive = zip(&[Zip::file("SKILL.md", "text").checksum(1)]);
    insta::assert_snapshot!(outcome("skills.zip", &archive), @r"
    the zip archive is damaged or incomplete
      because: Invalid checksum
    ");
    let mut archive = gzip(&tar(&[Tar::file("SKILL.md", "text")]));
    let checksum = archive.len() - 8;
    archive[checksum] ^= 1;
    insta::assert_snapshot!(outcome("skills.tgz", &archive), @r"
    the tar.gz archive is damaged or incomplete
      because: corrupt gzip stream does not have a matching checksum
    ");
    let mut archive = tar(&[Tar::file("SKILL.md", "text")]);
    archive[0] = b'T';
    insta::assert_snapshot!(outcome("skills.tar", &archive), @r"
    the tar archive is damaged or incomplete
      because: archive header checksum mismatch
    ");
}

#[test]
fn a_zip_that_shows_two_names_for_one_entry_is_damaged() {
    let archive = zip(&[Zip::file("SKILL.md", "text").local_name("evil.md!")]);
    insta::assert_snapshot!(outcome("skills.zip", &archive), @r"
    the zip archive is damaged or incomplete
      because: invalid Zip archive: header inconsistency detected: Local file header filename mismatch (does not match central directory)
    ");
}

#[test]
fn a_zip_with_an_entry_that_its_directory_hides_is_damaged() {
    let hidden = zip(&[Zip::file("hidden.md", "text")]);
    let hidden = &hidden[..30 + "hidden.md".len() + "text".len()];
    let archive = [hidden, &zip(&[Zip::file("SKILL.md", "text")])].concat();
    insta::assert_snapshot!(outcome("skills.zip", &archive), @r"
    the zip archive is damaged or incomplete
      because: invalid Zip archive: header inconsistency detected: local file header missing from central directory
    ");
}

#[test]
fn what_cannot_be_read_is_refused_by_name() {
    let locked = zip(&[Zip::file("secret.md", "text").flags(1)]);
    insta::assert_snapshot!(outcome("skills.zip", &locked), @"the archive holds `secret.md`, which is refused: it is encrypted");
    let packed = zip(&[Zip::file("SKILL.md", "text").method(12)]);
    insta::assert_snapshot!(outcome("skills.zip", &packed), @"the archive holds `SKILL.md`, which is refused: its compression method is not supported");
}

#[test]
fn a_damaged_pax_header_is_not_ignored() {
    let broken = Tar::new(b'x', "pax_header").contents("999 path=evil\n");
    let archive = tar(&[broken, Tar::file("SKILL.md", "")]);
    insta::assert_snapshot!(outcome("skills.tar", &archive), @r"
    the tar archive is damaged or incomplete
      because: malformed pax extension
    ");
}

#[test]
fn a_header_for_an_entry_that_never_comes_is_damaged() {
    let archive = tar(&[Tar::file("SKILL.md", ""), Tar::pax(b'x', "path", b"evil")]);
    insta::assert_snapshot!(outcome("skills.tar", &archive), @r"
    the tar archive is damaged or incomplete
      because: members found describing a future member but no future member found
    ");
}

/// Changed bytes must end in an error or in an honest folder; the helper looks beside the target.
#[test]
fn no_changed_byte_brings_unpacking_down() {
    let tarball = tar(&[
        Tar::pax(b'x', "path", b"pdf/SKILL.md"),
        Tar::file("short", "text"),
        Tar::symlink("pdf/link", "SKILL.md"),
    ]);
    let zipped = zip(&[Zip::file("SKILL.md", "text").deflated(), Zip::symlink("link", "SKILL.md")]);
    let mut random: u32 = 1;
    for (name, archive) in [("a.tar", &tarball), ("a.tgz", &gzip(&tarball)), ("a.zip", &zipped)] {
        for _ in 0..100 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let mut changed = archive.clone();
            let at = random as usize / 256 % changed.len();
            changed[at] = changed[at].wrapping_add(random.to_be_bytes()[0] | 1);
            assert!(!outcome(name, &changed).is_empty());
        }
    }
}
