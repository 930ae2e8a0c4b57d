//! How much of a file is read to know its header.

use super::{outcome, root, scan_one};
use crate::discover::read_skill;
use crate::scratch::Scratch;

const FIRST_READ: usize = 8 << 10;

/// The description and the problems of a skill with this file.
fn reading(bytes: impl AsRef<[u8]>) -> String {
    let scratch = Scratch::new();
    scratch.write("root/skill/SKILL.md", bytes);
    let scan = scan_one(root(scratch.path("root")), None);
    let described = scan.found.first().map_or("nothing".to_owned(), |found| {
        let text = &found.manifest.description;
        let end: String = text.chars().rev().take(8).collect();
        format!("{} bytes, …{}", text.len(), end.chars().rev().collect::<String>())
    });
    let (alone, problems) = read_skill(&scratch.path("root/skill")).unwrap();
    assert_eq!(alone.map(|it| it.manifest), scan.found.first().map(|it| it.manifest.clone()));
    assert_eq!(problems, scan.problems);
    format!("{described}\n{}", scratch.problems(&scan.problems))
}

fn long_header(padding: usize, rest: &str) -> String {
    format!("---\nname: skill\nlicense: {}\n{rest}", "x".repeat(padding))
}

#[test]
fn a_header_longer_than_the_first_read_is_read_whole() {
    let text = long_header(3 * FIRST_READ, "description: All of it.\n---\nBody\n");
    insta::assert_snapshot!(reading(text), @"10 bytes, …l of it.");
    let longest = long_header(900_000, "description: All of it.\n---\nBody\n");
    insta::assert_snapshot!(reading(longest), @"10 bytes, …l of it.");
}

#[test]
fn a_header_reads_the_same_wherever_the_first_read_ends() {
    let rest = "description: Größe 語 🦀 end.\n---\nBody 語\n";
    let fits = FIRST_READ - long_header(0, rest).len();
    let wanted = reading(long_header(fits, rest));
    for longer in 0..rest.len() {
        assert_eq!(reading(long_header(fits + longer, rest)), wanted, "{longer}");
    }
    insta::assert_snapshot!(wanted, @"21 bytes, …語 🦀 end.");
}

/// Cut after three dashes, a longer line looks like the end of the header.
#[test]
fn a_line_that_only_begins_like_the_end_does_not_end_the_header() {
    let rest = "description: |\n  All\n---- of it\n---\nBody\n";
    let dashes = long_header(0, rest).find("----").unwrap() + 3;
    let whole = reading(long_header(FIRST_READ, rest));
    assert_eq!(reading(long_header(FIRST_READ - dashes, rest)), whole);
}

#[test]
fn a_header_that_never_closes_is_an_error_however_long_the_file() {
    let endless = |lines: usize| format!("---\n{}", "key: value\n".repeat(lines));
    insta::assert_snapshot!(reading(endless(3)), @"
    nothing
    M002 error root/skill/SKILL.md: the header is never closed by a `---` line
    ");
    insta::assert_snapshot!(reading(endless(90_000)), @"
    nothing
    M002 error root/skill/SKILL.md: the header is never closed by a `---` line
    ");
}

#[test]
fn broken_bytes_after_the_header_do_not_matter() {
    let header = b"---\nname: skill\ndescription: Fine.\n---\n".to_vec();
    for body in [&b"\xff\xfe\x00"[..], &[0x80; 20_000]] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(reading([&header, body].concat()), @"5 bytes, …Fine.");
        }
    }
}

#[test]
fn broken_bytes_in_the_header_are_reported() {
    insta::assert_snapshot!(reading(b"---\nname: skill\ndescription: caf\xe9\n---\n"), @"
    6 bytes, …caf�
    M008 warning root/skill/SKILL.md: byte 0xe9 is not UTF-8
    ");
}

#[test]
fn a_file_without_a_header_is_cut_at_a_line() {
    let text = format!("First paragraph.\n\n{}", "語 word\n".repeat(3_000));
    insta::assert_snapshot!(reading(text), @"
    16 bytes, …ragraph.
    M013 warning root/skill/SKILL.md: there is no header; the folder and the first paragraph stand in for it
    ");
}

#[test]
fn a_first_line_longer_than_the_first_read_is_cut_between_characters() {
    for before in 0..4 {
        let text = format!("{}{}", "x".repeat(before), "語🦀".repeat(3_000));
        let reading = reading(text);
        assert!(!reading.contains("M008"), "{before}: {reading}");
    }
}

#[test]
fn what_is_no_skill_says_why_with_a_line() {
    let scratch = Scratch::new();
    scratch.write("root/empty/SKILL.md", "");
    scratch.write("root/no-description/SKILL.md", "---\nname: x\n---\nBody\n");
    scratch.write("root/list/SKILL.md", "---\n- a\n---\n");
    scratch.write("root/twice/SKILL.md", "---\nname: x\nname: y\ndescription: z\n---\n");
    scratch.write("root/unsafe/SKILL.md", "---\nname: ../x\ndescription: z\n---\n");
    insta::assert_snapshot!(outcome(&scratch), @"
    M001 error root/empty/SKILL.md: the file does not start with a `---` line
    M004 error root/list/SKILL.md: the header is a list, not a mapping of fields
    M030 error root/no-description/SKILL.md: `description` is missing
    M027 warning root/no-description/SKILL.md: the name `x` is not the name of the folder, `no-description`
    M005 error root/twice/SKILL.md: the key `name` stands twice
    M028 error root/unsafe/SKILL.md: `../x` cannot be a name: it contains a path separator
    ");
}
