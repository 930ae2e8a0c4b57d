//! `skills list` for people: widths, colours, and text that wants to be more than text.

use insta::assert_snapshot;
use metier_testkit::TestEnv;

use crate::{environment, run_own, write_skill};

fn with_columns(columns: &str) -> TestEnv {
    let env = environment().with_variable("COLUMNS", columns);
    write_skill(
        &env,
        "pipes",
        "name: pipes\ndescription: Mends pipes of every size, old and new, over and under the ground. Use when a pipe leaks.",
    );
    write_skill(
        &env,
        "技能-测试",
        "name: 技能-测试\ndescription: 处理中文文本，统计字数，检查标点符号，并给出修改建议。当用户提到中文写作时使用。",
    );
    write_skill(
        &env,
        "needy",
        "name: needy\ndescription: Needs what is not there. Use when it is.\n\
         metadata:\n  metier:\n    requires:\n      bins: [some-program]\n      env: [SOME_KEY]",
    );
    env
}

/// The widest line as a terminal shows it: these tests use no characters of other widths.
fn widest(text: &str) -> usize {
    let width = |line: &str| line.chars().map(|it| if it > '\u{2e80}' { 2 } else { 1 }).sum();
    text.lines().map(width).max().unwrap_or(0)
}

#[test]
fn a_table_of_the_usual_width() {
    let env = with_columns("not a number");
    assert_snapshot!(run_own(&env, "skills list"), @"
    exit 0
    ----- stdout
    NAME       SOURCE  STATUS              TOKENS  DESCRIPTION
    needy      flag    needs $SOME_KEY +1      13  Needs what is not there. Use when it is.
    pipes      flag    ready                   24  Mends pipes of every size, old and new, over and und…
    技能-测试  flag    ready                   31  处理中文文本，统计字数，检查标点符号，并给出修改建议…
    ----- stderr
    3 skills, 2 ready · catalog 68 of 4000 tokens
    ");
}

#[test]
fn a_table_of_eighty_columns() {
    let outcome = run_own(&with_columns("80"), "skills list");
    assert_snapshot!(outcome.stdout, @"
    NAME       SOURCE  STATUS              TOKENS  DESCRIPTION
    needy      flag    needs $SOME_KEY +1      13  Needs what is not there. Use whe…
    pipes      flag    ready                   24  Mends pipes of every size, old a…
    技能-测试  flag    ready                   31  处理中文文本，统计字数，检查标点…
    ");
    assert!(widest(&outcome.stdout) <= 80);
}

#[test]
fn a_table_is_never_narrower_than_its_columns_need() {
    let narrow = run_own(&with_columns("40"), "skills list");
    assert_snapshot!(narrow.stdout, @"
    NAME       SOURCE  STATUS              TOKENS  DESCRIPTION
    needy      flag    needs $SOME_KEY +1      13  Needs what is n…
    pipes      flag    ready                   24  Mends pipes of…
    技能-测试  flag    ready                   31  处理中文文本，…
    ");
    assert_eq!(run_own(&with_columns("1"), "skills list").stdout, narrow.stdout);
    assert_eq!(run_own(&with_columns("0"), "skills list").stdout, narrow.stdout);
}

#[test]
fn a_table_is_never_wider_than_a_person_reads() {
    let wide = run_own(&with_columns("160"), "skills list");
    assert_eq!(run_own(&with_columns("9999"), "skills list").stdout, wide.stdout);
    assert!(widest(&wide.stdout) <= 160);
    assert!(wide.stdout.contains("Use when a pipe leaks.\n"));
}

#[test]
fn a_pipe_gets_no_colours() {
    let outcome = run_own(&with_columns("80"), "skills list --all");
    assert!(!outcome.stdout.contains('\u{1b}') && !outcome.stderr.contains('\u{1b}'));
}

#[test]
fn colours_come_on_demand_and_change_no_text() {
    let plain = run_own(&with_columns("80"), "skills list");
    let coloured = run_own(&with_columns("80"), "skills list --color always");
    assert!(coloured.stdout.contains("\u{1b}[1m\u{1b}[36mpipes\u{1b}[0m"), "{}", coloured.stdout);
    let stripped = |text: &str| {
        let mut parts = text.split('\u{1b}');
        let first = parts.next().unwrap_or_default().to_owned();
        first
            + &parts
                .filter_map(|part| part.split_once('m'))
                .map(|(_, rest)| rest)
                .collect::<String>()
    };
    assert_eq!(stripped(&coloured.stdout), plain.stdout);
    assert_eq!(stripped(&coloured.stderr), plain.stderr);
    assert_eq!(run_own(&with_columns("80"), "skills list --color never"), plain);
}

#[test]
fn no_color_is_heeded_unless_colour_is_asked_for() {
    let env =
        with_columns("80").with_variable("NO_COLOR", "1").with_variable("CLICOLOR_FORCE", "1");
    assert!(!run_own(&env, "skills list").stdout.contains('\u{1b}'));
    assert!(run_own(&env, "skills list --color always").stdout.contains('\u{1b}'));
}

#[test]
fn json_is_never_coloured() {
    let env = with_columns("80");
    let plain = run_own(&env, "skills list --json");
    assert_eq!(run_own(&env, "skills list --json --color always"), plain);
}

#[test]
fn control_characters_are_written_out() {
    let env = environment();
    write_skill(
        &env,
        "sly",
        "name: sly\ndescription: \"\\e]0;owned\\a\\e[2Jred\\u202etfel\\u200b\\r\\nsecond line\\x9b1m\"",
    );
    assert_snapshot!(run_own(&env, "skills list").stdout, @"
    NAME  SOURCE  STATUS  TOKENS  DESCRIPTION
    sly   flag    ready       16  ]0;owned[2Jredtfel second line1m
    ");
    assert_snapshot!(run_own(&env, "skills info sly --color always").stdout.lines().nth(1).unwrap(), @"]0;owned[2Jredtfel second line1m");
    let json = run_own(&env, "skills list --json").stdout;
    assert!(!json.contains('\u{1b}') && json.contains(r"\u001b]0;owned\u0007"), "{json}");
}

#[test]
fn quiet_leaves_only_the_answer() {
    let env = with_columns("80");
    write_skill(&env, "broken", "name: broken");
    let usual = run_own(&env, "skills list");
    assert_snapshot!(usual.stderr, @"
    error: [PROJECT]/skills/broken/SKILL.md:2:1: `description` is missing [M030]
      hint: say what the skill does and when to use it
    3 skills, 2 ready · catalog 68 of 4000 tokens
    ");
    for quiet in ["--quiet", "-q"] {
        let outcome = run_own(&env, &format!("skills list {quiet}"));
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
        assert_eq!(outcome.stdout, usual.stdout);
    }
}

#[test]
fn quiet_does_not_silence_failures() {
    assert_snapshot!(run_own(&environment(), "skills info nobody --quiet"), @"
    exit 1
    ----- stdout

    ----- stderr
    error: there is no skill `nobody`
    hint: `metier skills list --all` shows every skill that was found
    ");
}
