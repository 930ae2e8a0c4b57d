//! Bombs: archives that cost more than they look.

use super::build::{Tar, Zip, gzip, tar, zip, zip_overlapping};
use super::{Limits, outcome, outcome_within};

const SMALL: Limits = Limits {
    max_archive_bytes: 64 * 1024,
    max_file_bytes: 4096,
    max_total_bytes: 10_000,
    max_entries: 10,
    max_ratio: 200,
    ratio_grace_bytes: 10_000,
    max_depth: 4,
    max_name_bytes: 255,
};

/// Limits under which only the ratio can be crossed.
const RATIO: Limits = Limits {
    max_ratio: 20,
    ratio_grace_bytes: 3000,
    max_file_bytes: u64::MAX,
    max_total_bytes: u64::MAX,
    ..SMALL
};

#[test]
fn the_standard_limits_are_those_of_the_documentation() {
    insta::assert_debug_snapshot!(Limits::STANDARD, @r"
    Limits {
        max_archive_bytes: 67108864,
        max_file_bytes: 67108864,
        max_total_bytes: 268435456,
        max_entries: 20000,
        max_ratio: 200,
        ratio_grace_bytes: 1048576,
        max_depth: 32,
        max_name_bytes: 255,
    }
    ");
}

#[test]
fn an_archive_may_not_be_too_large_itself() {
    let archive = vec![0; 64 * 1024 + 1];
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.zip", &archive), @"the archive has 65537 bytes, more than the 65536 allowed");
    insta::assert_snapshot!(outcome_within(&SMALL, "SKILL.md", &archive), @"the archive has 65537 bytes, more than the 65536 allowed");
}

#[test]
fn a_file_may_not_be_too_large() {
    let zeros = vec![0; 4097];
    let bomb = zip(&[Zip::file("big", &zeros).deflated()]);
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.zip", &bomb), @"`big` unpacks to more than 4096 bytes");
    let bomb = tar(&[Tar::file("big", &zeros)]);
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.tar", &bomb), @"`big` unpacks to more than 4096 bytes");
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.tgz", &gzip(&bomb)), @"`big` unpacks to more than 4096 bytes");
    insta::assert_snapshot!(outcome_within(&SMALL, "SKILL.md", &zeros), @"`downloaded/SKILL.md` unpacks to more than 4096 bytes");
}

#[test]
fn all_files_together_may_not_be_too_large() {
    let files: Vec<_> = (0..3).map(|n| Zip::file(format!("{n}"), [b'x'; 4096])).collect();
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.zip", &zip(&files)), @"the archive unpacks to more than 10000 bytes, reached in `2`");
    let files: Vec<_> = (0..3).map(|n| Tar::file(format!("{n}"), [b'x'; 4096])).collect();
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.tar", &tar(&files)), @"the archive unpacks to more than 10000 bytes, reached in `2`");
}

#[test]
fn litter_counts_as_unpacked() {
    let files: Vec<_> = (0..3).map(|n| Tar::file(format!("._{n}"), [b'x'; 4096])).collect();
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.tgz", &gzip(&tar(&files))), @"the archive unpacks to more than 10000 bytes, reached in `._2`");
}

#[test]
fn an_archive_may_not_grow_too_much() {
    let zeros = vec![0; 400_000];
    let bomb = zip(&[Zip::file("SKILL.md", ""), Zip::file("bomb", &zeros).deflated()]);
    insta::assert_snapshot!(outcome_within(&RATIO, "skills.zip", &bomb), @"the archive unpacks to more than 20 times its size, reached in `bomb`");
    let bomb = gzip(&tar(&[Tar::file("SKILL.md", ""), Tar::file("bomb", &zeros)]));
    insta::assert_snapshot!(outcome_within(&RATIO, "skills.tgz", &bomb), @"the archive unpacks to more than 20 times its size, reached in `bomb`");
}

#[test]
fn a_small_archive_may_grow_within_the_grace() {
    let archive = gzip(&tar(&[Tar::file("zeros", [b'0'; 3000])]));
    assert!(archive.len() < 150, "the ratio alone would refuse this");
    assert!(outcome_within(&RATIO, "skills.tgz", &archive).starts_with("tar.gz: 1 files"));
}

#[test]
fn a_bomb_of_the_real_size_is_refused_with_the_standard_limits() {
    let zeros = vec![0; 60 * 1024 * 1024];
    let bomb = zip(&[Zip::file("bomb", &zeros).deflated()]);
    insta::assert_snapshot!(outcome("skills.zip", &bomb), @"the archive unpacks to more than 200 times its size, reached in `bomb`");
    let bomb = gzip(&tar(&[Tar::file("bomb", &zeros)]));
    insta::assert_snapshot!(outcome("skills.tgz", &bomb), @"the archive unpacks to more than 200 times its size, reached in `bomb`");
}

#[test]
fn a_header_that_lies_about_the_size_gains_nothing() {
    let zeros = vec![0; 9000];
    let bomb = zip(&[Zip::file("small", &zeros).deflated().declares(1)]);
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.zip", &bomb), @r"
    the zip archive is damaged or incomplete
      because: File is larger than its declared uncompressed size
    ");
    let short = zip(&[Zip::file("large", "x").declares(2)]);
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.zip", &short), @r"
    the zip archive is damaged or incomplete
      because: unexpected end of file
    ");
    let short = zip(&[Zip::file("large", "x").deflated().declares(4000)]);
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.zip", &short), @r"
    the zip archive is damaged or incomplete
      because: unexpected end of file
    ");
    let huge = tar(&[Tar::file("huge", "x").declares(0o77_777_777_777)]);
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.tar", &huge), @r"
    the tar archive is damaged or incomplete
      because: unexpected end of file
    ");
    let huge = tar(&[Tar::pax(b'x', "size", b"18446744073709551615"), Tar::file("huge", "")]);
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.tar", &huge), @r"
    the tar archive is damaged or incomplete
      because: size overflow
    ");
}

#[test]
fn entries_that_share_their_contents_are_refused() {
    let copies: Vec<_> = (0..4).map(|n| Zip::file(format!("{n}"), "shared")).collect();
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.zip", &zip_overlapping(&copies)), @r"
    the zip archive is damaged or incomplete
      because: invalid Zip archive: header inconsistency detected: Local file header filename mismatch (does not match central directory)
    ");
}

#[test]
fn entries_are_counted_and_so_are_implied_folders() {
    let files: Vec<_> = (0..11).map(|n| Tar::file(format!("{n}"), "")).collect();
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.tar", &tar(&files)), @"the archive holds more than 10 entries");
    let files: Vec<_> = (0..4).map(|n| Tar::file(format!("{n}/a/x"), "")).collect();
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.tar", &tar(&files)), @"the archive holds more than 10 entries");
    let folders = vec![Tar::folder("again"); 11];
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.tar", &tar(&folders)), @"the archive holds more than 10 entries");
    let litter = vec![Tar::file(".DS_Store", ""); 11];
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.tar", &tar(&litter)), @"the archive holds more than 10 entries");
}

#[test]
fn twenty_thousand_and_one_entries_are_too_many() {
    let files: Vec<_> = (0..20_001).map(|n| Zip::file(format!("{n}"), "")).collect();
    insta::assert_snapshot!(outcome("skills.zip", &zip(&files)), @"the archive holds more than 20000 entries");
    let files: Vec<_> = (0..20_001).map(|n| Tar::file(format!("{n}"), "")).collect();
    insta::assert_snapshot!(outcome("skills.tgz", &gzip(&tar(&files))), @"the archive holds more than 20000 entries");
}

#[test]
fn a_directory_full_of_records_is_refused_before_it_is_read() {
    let files: Vec<_> = (0..41).map(|n| Zip::file(format!("{n}"), "")).collect();
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.zip", &zip(&files)), @"the archive holds more than 10 entries");
}

#[test]
fn headers_may_not_be_endless() {
    let long = vec![b'a'; 2 * 1024 * 1024];
    let name = Tar::new(b'L', "././@LongLink").contents(&long);
    let archive = gzip(&tar(&[name, Tar::file("short", "")]));
    insta::assert_snapshot!(outcome("skills.tgz", &archive), @"the archive has headers of more than 1048576 bytes");
    let record = Tar::pax(b'x', "comment", &long);
    let archive = gzip(&tar(&[record, Tar::file("short", "")]));
    insta::assert_snapshot!(outcome("skills.tgz", &archive), @"the archive has headers of more than 1048576 bytes");
    let headers = vec![Tar::pax(b'g', "comment", b"again"); 100];
    insta::assert_snapshot!(outcome_within(&SMALL, "skills.tgz", &gzip(&tar(&headers))), @"the archive has headers of more than 40960 bytes");
}

#[test]
fn data_behind_the_end_is_not_unpacked_without_bound() {
    let mut archive = tar(&[Tar::file("SKILL.md", "")]);
    archive.resize(archive.len() + 2 * 1024 * 1024, 0);
    insta::assert_snapshot!(outcome("skills.tgz", &gzip(&archive)), @"the archive has headers of more than 1048576 bytes");
}
