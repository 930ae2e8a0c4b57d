use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::facts::{Executable, FileFact, Identity};
use crate::parse::parse;
use crate::plan::Plan;
use crate::verdict::Judged;

fn fact(path: &str) -> FileFact {
    FileFact { real: PathBuf::from(path), identity: Identity::default() }
}

fn approved(plan: Plan) -> Approved {
    let program = Executable {
        path: "/bin/x".into(),
        file: fact("/usr/bin/x"),
        is_replaceable: false,
        interpreter: None,
    };
    let judged = Judged {
        program: program.clone(),
        inner: vec![(1, program)],
        directory: fact("/proj"),
        scripts: vec![fact("/proj/run.sh")],
        basis: None,
    };
    Approved { plan, programs: vec![judged], directory: fact("/proj") }
}

fn lines(command: &str) -> String {
    let shown = shown(&approved(parse(command).unwrap())).unwrap();
    let flags = [(shown.is_masked, " [masked]"), (shown.is_escaped, " [escaped]")];
    let flags: String = flags.into_iter().filter(|(is, _)| *is).map(|(_, flag)| flag).collect();
    format!("{}{flags}", shown.lines.join(" ⏎ "))
}

fn table(commands: &[&str]) -> String {
    commands.iter().map(|command| lines(command)).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_plan_is_shown_with_everything_that_decides() {
    let shown = shown(&approved(
        parse("cd ../proj/sub && A=1 ls 'a b' | wc -l > out 2>&1; x < in || y 2>> log >/dev/null")
            .unwrap(),
    ));
    insta::assert_debug_snapshot!(shown.unwrap(), @r#"
    Shown {
        lines: [
            "cd /proj/sub",
            "&& A=1 ls 'a b' | wc -l > out 2>&1",
            "x < in",
            "|| y 2>> log > /dev/null",
        ],
        directory: Some(
            "/proj",
        ),
        programs: [
            "/usr/bin/x",
            "/proj/run.sh",
        ],
        is_masked: false,
        is_escaped: false,
    }
    "#);
}

#[test]
fn nothing_in_a_word_is_hidden() {
    insta::assert_snapshot!(table(&[
        "ls 'a '",
        "ls ''",
        "ls 'a\u{200b}b'",
        "ls '\u{202e}gpj.exe'",
        "ls 'a\u{a0}b'",
        "ls '\u{3164}'",
        "ls 'a\u{2800}b'",
        "ls 'a\u{ff1b}rm'",
        "ls 'a\u{37e}rm'",
        "ls '\u{2215}etc'",
        "ls '\u{2013}rf'",
        "ls 'a\tb'",
        "ls 'a\u{1b}[2J'",
        "ls 'a\u{feff}\u{e0041}\u{fe0f}'",
        r"ls 'a\u{200b}b'",
        "ls 'a\\\u{200b}'",
        "ls '\u{301}x'",
        "'l\u{455}' x",
        "ls naïve 技能",
    ]), @r"
    ls 'a '
    ls ''
    ls $'a\u{200b}b' [escaped]
    ls $'\u{202e}gpj.exe' [escaped]
    ls $'a\u{a0}b' [escaped]
    ls $'\u{3164}' [escaped]
    ls $'a\u{2800}b' [escaped]
    ls $'a\u{ff1b}rm' [escaped]
    ls $'a\u{37e}rm' [escaped]
    ls $'\u{2215}etc' [escaped]
    ls $'\u{2013}rf' [escaped]
    ls $'a\u{9}b' [escaped]
    ls $'a\u{1b}[2J' [escaped]
    ls $'a\u{feff}\u{e0041}\u{fe0f}' [escaped]
    ls 'a\u{200b}b'
    ls $'a\\\u{200b}' [escaped]
    ls $'\u{301}x' [escaped]
    $'l\u{455}' x [escaped]
    ls naïve 技能
    ");
}

#[test]
fn secrets_are_masked() {
    insta::assert_snapshot!(table(&[
        "x --password=hunter2 y",
        "x --password hunter2 y",
        "x --api-key 'abc1' y",
        "x --token=abc",
        "x -H 'Authorization: Bearer abc.Def'",
        "x -H 'X-Api-Key: abc1'",
        "x -u me:hunter2 https://a",
        "x https://me:hunter2@host/path",
        "x 'https://host/?token=abc1&q=1'",
        "x sk-abcdefghijklmnopqrstuv",
        "x ghp_abcdefghijklmnopqrstuv",
        "x AKIAABCDEFGHIJKLMNOP",
        "x xoxb-1234567890-abc",
        "x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
        "x '{\"client_secret\": \"abc1\"}'",
        "API_TOKEN=abc x",
        "x 's\u{200b}k-abcdefghijklmnopqrstuv'",
        "x '--pass\u{200b}word=hunter2'",
        "x '--pass\u{200b}word' hunter2",
    ]), @r#"
    x '--password=****' y [masked]
    x --password '****' y [masked]
    x --api-key '****' y [masked]
    x '--token=****' [masked]
    x -H 'Authorization: Bearer ****' [masked]
    x -H 'X-Api-Key: ****' [masked]
    x -u 'me:****' https://a [masked]
    x 'https://me:****@host/path' [masked]
    x 'https://host/?token=****&q=1' [masked]
    x 'sk-****' [masked]
    x 'ghp_****' [masked]
    x 'AKIA****' [masked]
    x 'xoxb-****' [masked]
    x 'eyJ****' [masked]
    x '{"client_secret": "****"}' [masked]
    API_TOKEN='****' x [masked]
    x $'s\u{200b}k-****' [masked] [escaped]
    x $'--pass\u{200b}word=****' [masked] [escaped]
    x $'--pass\u{200b}word' '****' [masked] [escaped]
    "#);
}

#[test]
fn what_is_no_secret_is_shown() {
    insta::assert_snapshot!(table(&[
        "x --password-file=/run/p --token-url https://a",
        "x --keyboard=us --author=me key",
        "x sk-short skip-this",
        "x --password-command='rm -rf /'",
        "xargs --token rm",
        "sh -c 'token=rm; $token file'",
        "sh --secret ./run2.sh",
    ]), @"
    x --password-file=/run/p --token-url https://a
    x --keyboard=us --author=me key
    x sk-short skip-this
    x '--password-command=rm -rf /'
    xargs --token rm
    sh -c 'token=rm; $token file'
    sh --secret ./run2.sh
    ");
    insta::assert_snapshot!(
        shown_text("TOKEN=$(rm -rf /) x; PASSWORD=a`id`b x\n--secret $(x)").unwrap().lines.join("\n"),
        @"
    TOKEN=$(rm -rf /) x; PASSWORD=a`id`b x
    --secret $(x)
    "
    );
}

#[test]
fn a_sentence_has_no_part_of_a_secret() {
    for before in 60..90 {
        let text = format!("{} ghp_{}", "x".repeat(before), "Abc1".repeat(9));
        assert!(!brief(&text).contains("Abc1"), "{}", brief(&text));
    }
    assert_eq!(brief("short"), "short");
    assert_eq!(brief(&"x".repeat(100)), format!("{}…", "x".repeat(80)));
}

#[test]
fn a_text_is_shown_line_by_line() {
    insta::assert_debug_snapshot!(shown_text("for x in a; do\n\techo \u{202e}$x\r\ndone"), @r#"
    Ok(
        Shown {
            lines: [
                "for x in a; do",
                "\techo \\u{202e}$x\\u{d}",
                "done",
            ],
            directory: None,
            programs: [],
            is_masked: false,
            is_escaped: true,
        },
    )
    "#);
}

#[test]
fn what_is_too_long_cannot_be_shown() {
    assert!(shown_text(&"x".repeat(MAX_SHOWN + 1)).is_err());
    assert!(shown_text(&"\u{200b}".repeat(MAX_SHOWN / 4)).is_err());
    assert!(shown(&approved(parse(&format!("ls {}", "x".repeat(MAX_SHOWN))).unwrap())).is_err());
    assert!(shown_text(&"x".repeat(MAX_SHOWN - 1)).is_ok());
}

proptest! {
    #[test]
    fn whatever_a_text_has_what_is_shown_is_visible(text in "\\PC{0,30}|(sk-|token[=:]|--|://|@|\\u{200b}|[a-z]|\u{202e}| ){0,40}|.{0,40}") {
        let shown = shown_text(&text).unwrap();
        for line in &shown.lines {
            prop_assert!(!line.chars().any(|sign| sign != '\t' && is_hidden(sign)), "{line:?}");
        }
        prop_assert!(!brief(&text).chars().any(is_hidden));
    }

    #[test]
    fn different_words_are_shown_differently(one in "[a\\\\' u\u{200b}{}20b$]{0,8}", two in "[a\\\\' u\u{200b}{}20b$]{0,8}") {
        let written = |word: &str| signs::written(word, Part::Word, &mut false);
        prop_assert_eq!(written(&one) == written(&two), one == two);
    }
}
