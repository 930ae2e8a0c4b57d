//! Docs and resources.

use std::fs;

use crate::files::{MAX_DOC_BYTES, Tree, is_doc, list};
use crate::scratch::Scratch;

const LIMIT: usize = MAX_DOC_BYTES as usize;

/// The length of what is read of a doc with these bytes, its last character, and whether it was
/// cut.
fn read(bytes: &[u8]) -> (usize, Option<char>, bool) {
    let scratch = Scratch::new();
    scratch.write("s/doc.md", bytes);
    let doc = list(&scratch.path("s")).unwrap().read_doc("doc.md").unwrap();
    (doc.text.len(), doc.text.chars().last(), doc.truncated)
}

fn tree(scratch: &Scratch) -> Tree {
    list(&scratch.path("s")).unwrap()
}

#[test]
fn docs_are_markdown_and_text_in_any_case_and_never_a_skill_file() {
    for path in ["a.md", "A.MD", "b.txt", "b.TxT", "x/y/c.Md", "a.b.md", ".md", "skill.md.txt"] {
        assert!(is_doc(path), "{path}");
    }
    for path in ["SKILL.md", "skill.MD", "x/SKILL.md", "x/Skill.md", "md", "txt", "a.mdx", "a.md/b"]
    {
        assert!(!is_doc(path), "{path}");
    }
}

#[test]
fn docs_and_resources_share_the_files_between_them() {
    let scratch = Scratch::new();
    for path in ["SKILL.md", "b.md", "a/Z.TXT", "a/x.py", "sub/SKILL.md", "data.csv", "LICENSE"] {
        scratch.write(format!("s/{path}"), "1234");
    }
    scratch.link("s/link.md", "b.md");
    scratch.link("s/link.csv", "data.csv");
    let tree = tree(&scratch);
    let docs: Vec<&str> = tree.docs().map(|entry| entry.path.as_str()).collect();
    assert_eq!(docs, ["a/Z.TXT", "b.md", "link.md"]);
    let resources: Vec<(&str, u64)> = tree.resources().collect();
    assert_eq!(resources, [("LICENSE", 4), ("a/x.py", 4), ("data.csv", 4), ("sub/SKILL.md", 4)]);
}

#[test]
fn a_doc_of_a_mebibyte_is_read_whole_and_one_byte_more_is_cut() {
    assert_eq!(read(&vec![b'x'; LIMIT]), (LIMIT, Some('x'), false));
    assert_eq!(read(&vec![b'x'; LIMIT + 1]), (LIMIT, Some('x'), true));
    assert_eq!(read(b""), (0, None, false));
}

#[test]
fn a_doc_is_cut_between_characters() {
    for (character, kept) in [("é", 2), ("語", 3), ("🦀", 4)] {
        for before in 0..character.len() {
            let start = LIMIT - before;
            let text = format!("{}{}", "x".repeat(start), character.repeat(2));
            let whole = if before == kept { LIMIT } else { start };
            let last = if before == kept { character.chars().last() } else { Some('x') };
            assert_eq!(read(text.as_bytes()), (whole, last, true), "{character} {before}");
        }
    }
}

#[test]
fn a_doc_that_is_not_utf_8_is_read_as_far_as_it_goes() {
    assert_eq!(read(b"caf\xe9"), (6, Some(char::REPLACEMENT_CHARACTER), false));
    let (_, last, truncated) = read(&vec![0x80; LIMIT + 9]);
    assert_eq!((last, truncated), (Some(char::REPLACEMENT_CHARACTER), true));
}

#[test]
fn only_listed_docs_can_be_read() {
    let scratch = Scratch::new();
    scratch.write("s/a.md", "text");
    scratch.write("s/SKILL.md", "text");
    scratch.write("s/run.py", "text");
    scratch.write("secret.md", "text");
    scratch.link("s/out.md", "../secret.md");
    scratch.write("s/.git/x.md", "text");
    let tree = tree(&scratch);
    let absolute = scratch.path("secret.md").display().to_string();
    for path in ["SKILL.md", "run.py", "../secret.md", "out.md", "./a.md", ".git/x.md", &absolute] {
        assert!(tree.read_doc(path).is_err(), "{path}");
    }
    assert_eq!(tree.read_doc("a.md").unwrap().text, "text");
}

#[test]
fn a_link_to_a_doc_reads_the_doc() {
    let scratch = Scratch::new();
    scratch.write("s/real.md", "text");
    scratch.link("s/link.md", "real.md");
    assert_eq!(tree(&scratch).read_doc("link.md").unwrap().text, "text");
}

#[test]
fn a_doc_that_became_a_pipe_is_an_error_and_nobody_waits_for_it() {
    let scratch = Scratch::new();
    let doc = scratch.write("s/a.md", "text");
    let tree = tree(&scratch);
    fs::remove_file(doc).unwrap();
    scratch.fifo("s/a.md");
    assert!(tree.read_doc("a.md").is_err());
}
