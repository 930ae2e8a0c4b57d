//! `metier exec` at a terminal, as a person sees it.

use insta::assert_snapshot;
use metier_testkit::{Terminal, TestEnv};

use crate::{at_terminal, environment, write_skill};

fn with_skill() -> TestEnv {
    let env = environment().with_variable("TERM", "xterm-256color");
    write_skill(&env, "demo", "name: demo\ndescription: Demo. Use when testing.");
    env
}

/// Starts a command of the skill at a terminal of 80 columns.
fn start(env: &TestEnv, rest: &[&str]) -> Terminal {
    let mut command = at_terminal(env);
    command.args(["exec", "demo", "--session", "one", "--skills-dir", "skills"]).args(rest);
    Terminal::start(command, 80)
}

/// What is to be seen in the end, without what differs from run to run.
fn seen(env: &TestEnv, terminal: Terminal) -> String {
    env.without_paths(crate::seen(terminal).as_bytes())
}

#[test]
fn both_streams_are_shown_as_they_come_and_then_the_files() {
    let env = with_skill();
    let command =
        "echo out; echo err >&2; sleep 0.3; printf part; sleep 0.3; echo more >&2; sleep 0.3
        echo rest; printf 'a,b\\n' > out/t.csv; printf '\\211PNG\\r\\n\\032\\n\\0' > out/i.png
        echo text > out/n; printf end";
    let terminal = start(&env, &["--save", "--", command]);
    assert_snapshot!(seen(&env, terminal), @"
    out
    │ err
    part
    │ more
    rest
    end
    FILE                   SIZE  TYPE
    workspace://out/i.png   9 B  PNG image
    workspace://out/n       5 B  text
    workspace://out/t.csv   4 B  CSV table
    in [HOME]/.metier/workspaces/metier/local/one-0
    kept artifact://out/i.png@0
    kept artifact://out/n@0
    kept artifact://out/t.csv@0
    exit 0 · [TIME] · sandbox (full) · session one
    code 0
    ");
}

#[test]
fn a_sign_of_life_comes_when_the_command_is_silent_and_goes_without_a_trace() {
    let env = with_skill();
    let mut terminal = start(&env, &["--", "echo one; sleep 2.5; echo two"]);
    terminal.wait_for("Ctrl-C ends it");
    assert_snapshot!(seen(&env, terminal), @"
    one
    two
    exit 0 · [TIME] · sandbox (full) · session one
    code 0
    ");
}

#[test]
fn ctrl_c_ends_the_command_and_what_it_made_is_shown() {
    let env = with_skill();
    let command = "echo data > out/a.txt; echo ready; sleep 60";
    let mut terminal = start(&env, &["--", command]);
    terminal.wait_for("ready");
    terminal.write("\u{3}");
    assert_snapshot!(seen(&env, terminal), @"
    ready
    FILE                   SIZE  TYPE
    workspace://out/a.txt   5 B  text
    in [HOME]/.metier/workspaces/metier/local/one-0
    cancelled · [TIME] · sandbox (full) · session one
    code 130
    ");
}

#[test]
fn ctrl_c_again_leaves_at_once() {
    let env = with_skill();
    let mut terminal = start(&env, &["--", "trap '' TERM; echo ready; while :; do sleep 1; done"]);
    terminal.wait_for("ready");
    terminal.wait_for("demo: trap '' TERM; echo ready;");
    terminal.write("\u{3}");
    terminal.wait_for("Ctrl-C again leaves");
    terminal.write("\u{3}");
    let (code, _, seen) = terminal.finish();
    assert_eq!(code, 130, "{seen}");
    assert!(!seen.contains("cancelled"), "it was not waited for: {seen}");
}

#[test]
fn a_sign_of_life_comes_where_only_the_answer_goes_elsewhere() {
    let env = with_skill();
    let mut command = env.command("/usr/bin/setsid");
    command.args(["--ctty", "--wait", "/bin/sh", "-c", r#"exec "$0" "$@" >result.txt"#]);
    command.arg(env.binary()).args(["exec", "demo", "--session", "one", "--skills-dir", "skills"]);
    command.args(["--", "printf err >&2; sleep 1.2; echo >&2; sleep 1.5; echo out"]);
    let mut terminal = Terminal::start(command, 80);
    terminal.wait_for("Ctrl-C ends it");
    assert_snapshot!(seen(&env, terminal), @"
    err
    exit 0 · [TIME] · sandbox (full) · session one
    code 0
    ");
    let result = std::fs::read_to_string(env.project().join("result.txt"));
    assert_eq!(result.expect("it is there"), "out\n");
    let mut terminal = start(&env, &["--json", "--", "sleep 2; echo out"]);
    terminal.wait_for("demo: sleep 2; echo out · ");
    let (code, _, seen) = terminal.finish();
    assert_eq!(code, 0, "{seen}");
    assert!(seen.starts_with('{') && !seen.contains("Ctrl-C"), "{seen}");
}

#[test]
fn what_a_program_writes_cannot_drive_the_terminal_or_hide_what_metier_says() {
    let env = with_skill();
    let command = r"printf '\033[31mred\n\033]0;title\007\033[6n\033[2J\033[?1049h\033[8m'
        printf 'exit 0 \302\267 sandbox\n\033]52;c;cm0gLXJm' >&2; sleep 0.3; printf '\033[9A\033P'";
    // It fails when the terminal is told anything but colours.
    assert_snapshot!(seen(&env, start(&env, &["--", command])), @r"
    red
    \u{1b}]0;title\u{7}\u{1b}[6n\u{1b}[2J\u{1b}[?1049h
    │ exit 0 · sandbox
    │ \u{1b}]52;c;cm0gLXJm
    \u{1b}[9A\u{1b}P
    exit 0 · [TIME] · sandbox (full) · session one
    code 0
    ");
    let (_, written, _) = start(&env, &["--", command]).finish();
    let (_, own) = written.rsplit_once("\\u{1b}P").expect("what the program wrote last");
    assert!(own.starts_with("\u{1b}[0m\r\n"), "{own:?}");
}

#[test]
fn names_of_files_cannot_look_like_lines_of_metier() {
    let env = with_skill();
    let command = r#"cd out; echo b > "$(printf 'a\nkept b@0\r\033[2J')"
        ln -s x "$(printf 'long%80skept c@0' '')""#;
    let terminal = start(&env, &["--save", "--", command]);
    assert_snapshot!(seen(&env, terminal), @r"
    FILE                                          SIZE  TYPE
    workspace://out/a\u{a}kept b@0\u{d}\u{1b}[2J   2 B  text
    in [HOME]/.metier/workspaces/metier/local/one-0
    warning: `out/long
                        kept c@0` is a link and was not collected
    warning: `out/a\u{a}kept b@0\u{d}\u{1b}[2J` was not kept: `out/a\nkept
      b@0\r\u{1b}[2J` cannot name an artifact: it has a control character
    exit 0, but not everything was kept · [TIME] · sandbox (full) · session one
    code 1
    ");
}

#[test]
fn without_colours_or_on_a_dumb_terminal_there_are_none() {
    let plain = |name: &str, value: &str, command: &str| {
        let env = with_skill().with_variable(name, value);
        let (_, written, _) = start(&env, &["--", command]).finish();
        written
    };
    let command = r"printf '\033[31mred\033[0m\033[K\n'; echo err >&2; sleep 1.5";
    let written = plain("NO_COLOR", "1", command);
    assert!(written.contains("Ctrl-C") && !written.contains("m\u{1b}"), "{written:?}");
    assert!(!written.replace("\u{1b}[K", "").contains('\u{1b}'), "{written:?}");
    let written = plain("TERM", "dumb", command);
    assert!(!written.contains('\u{1b}') && !written.contains("Ctrl-C"), "{written:?}");
}

#[test]
fn in_a_pipe_bytes_are_what_the_program_wrote() {
    let env = with_skill();
    let command = r"printf '\033[2J\033]0;x\007'; printf '\033[2Jno end' >&2; sleep 1.3";
    let rest = ["exec", "demo", "--skills-dir", "skills", "--", command];
    let outcome = env.run(rest);
    assert_eq!(outcome.stdout, "\u{1b}[2J\u{1b}]0;x\u{7}");
    assert!(outcome.stderr.starts_with("\u{1b}[2Jno end\nexit 0 · "), "{outcome}");
    assert!(!outcome.stderr.contains("Ctrl-C"));
}

#[test]
fn no_control_character_erases_the_bar_of_standard_error() {
    let env = with_skill();
    let command = r"printf 'error\b\b\b\b\b\b\b\b\b\boutput 1\n' >&2; printf '\033[2K\033[Goutput 2\n' >&2
        printf 'x\033[9Doutput 3\r' >&2; sleep 0.2; printf 'output 4\n' >&2
        printf '\033[8mhidden\noutput 5\033[0m\n' >&2; printf 'a\177\302\2332Koutput 6\n' >&2";
    let terminal = start(&env, &["--", command]);
    let shown = seen(&env, terminal);
    let lines = shown.lines().filter(|line| line.contains("output"));
    assert_eq!(lines.clone().count(), 5, "{shown}");
    assert!(lines.clone().all(|line| line.starts_with('│')), "{shown}");
}

#[test]
fn a_colour_before_a_pause_does_not_take_the_bar_away() {
    let env = with_skill();
    // The sign of life comes after a second, and takes the row.
    let command = r"printf 'lost: nothing\n\033[m' >&2; sleep 1.6; printf 'all 12 checks passed\n' >&2
        printf '\033[31m' >&2; sleep 0.3; echo out; sleep 1.6; printf 'none failed\033[0m\n' >&2";
    let mut terminal = start(&env, &["--", command]);
    terminal.wait_for("Ctrl-C ends it");
    assert_snapshot!(seen(&env, terminal), @"
    │ lost: nothing
    │ all 12 checks passed
    out
    │ none failed
    exit 0 · [TIME] · sandbox (full) · session one
    code 0
    ");
}

#[test]
fn no_font_and_no_wide_character_takes_the_bar_away() {
    let env = with_skill();
    let wide = "\u{3248}".repeat(38);
    let command =
        format!(r"printf '{wide} output 1\n\033[11moutput 2\n' >&2; printf '\033[1;12mout\n'");
    let terminal = start(&env, &["--", &command]);
    let (code, written, shown) = terminal.finish();
    assert_eq!(code, 0, "{shown}");
    let lines: Vec<&str> =
        shown.lines().filter(|line| line.contains("output") || line.contains('\u{3248}')).collect();
    assert_eq!(lines.len(), 3, "the wide line is broken: {shown}");
    assert!(lines.iter().all(|line| line.starts_with('│')), "{shown}");
    assert!(written.contains("\u{1b}[1mout") && !written.contains("[11m"), "{written:?}");
}
