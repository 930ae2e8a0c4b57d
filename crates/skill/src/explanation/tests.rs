//! That every text can be read and says what it should. That the examples are true is tested with the
//! real program, in the tests of the command line.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::*;

#[test]
fn every_rule_has_a_meaning_and_two_examples() {
    for &code in Code::ALL {
        let Explanation { meaning, bad, good, .. } = explain(code);
        let sentences = meaning.matches(". ").count() + 1;
        assert!(meaning.ends_with(['.', ')']), "{code}: {meaning}");
        assert!((1..=6).contains(&sentences), "{code}: {meaning}");
        for example in [&bad, &good] {
            assert!(!(example.files.is_empty() && example.commands.is_empty()), "{code}");
            for file in &example.files {
                assert!(!file.path.is_empty() && !file.path.contains(' '), "{code}: {file:?}");
            }
        }
        assert_ne!(bad, good, "{code}");
    }
}

#[test]
fn there_is_no_text_for_a_rule_that_is_gone() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/explanation/texts");
    let texts: BTreeSet<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let codes: BTreeSet<String> = Code::ALL.iter().map(|code| format!("{code}.txt")).collect();
    assert_eq!(texts, codes);
}

#[test]
fn only_bad_and_good_begin_a_part() {
    for code in Code::ALL {
        let heads = code.explanation().lines().filter_map(|line| line.strip_prefix("=== "));
        for head in heads {
            assert!(head.starts_with("bad ") || head.starts_with("good "), "{code}: {head}");
        }
    }
}

#[test]
fn what_stands_for_something_is_replaced() {
    let bytes = |text| Content::Text(text).bytes();
    assert_eq!(bytes("a\\u{200B}b\\xE9c\\n\n"), b"a\xe2\x80\x8bb\xe9c\\n\n");
    assert_eq!(bytes("x\n  y\n  … 2 more lines like this one\nz\n"), b"x\n  y\n  y\n  y\nz\n");
    assert_eq!(bytes("… and so on\n"), "… and so on\n".as_bytes());
    assert_eq!(bytes("\\u{zz} \\x"), b"\\u{zz} \\x");
    assert_eq!(Content::Link("elsewhere").bytes(), b"");
}

#[test]
fn an_example_without_commands_is_linted() {
    assert_eq!(explain(Code::NoHeader).bad.steps(), [LINT]);
    assert_eq!(explain(Code::Untrusted).good.steps(), ["metier trust", "metier skills list"],);
}
