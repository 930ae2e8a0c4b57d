//! Pages of help, as a terminal of 80 columns has them; their colours; and what is said to whoever types nothing.

use insta::assert_snapshot;
use metier_testkit::{Outcome, Terminal, TestEnv};

use crate::{at_terminal, environment, run};

/// Columns of the terminals that people still have.
const WIDTH: usize = 80;

/// Every command that is shown, as the program itself tells: a new one is among them.
fn commands(env: &TestEnv) -> Vec<String> {
    let reference = run(env, "__reference").stdout;
    let headings = reference.lines().filter_map(|line| line.strip_prefix("## `metier"));
    headings.filter_map(|line| Some(line.strip_suffix('`')?.trim().to_owned())).collect()
}

fn help(env: &TestEnv, command: &str) -> Outcome {
    run(env, &format!("{command} --help"))
}

#[test]
fn every_page_reads_well_at_80_columns() {
    let env = environment();
    let mut pages = String::new();
    for command in commands(&env) {
        let outcome = help(&env, &command);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{command}");
        let title = format!("metier {command}");
        assert!(outcome.stdout.contains(&format!("Usage: {}", title.trim())), "{outcome}");
        for line in outcome.stdout.lines() {
            assert!(line.chars().count() <= WIDTH, "too wide in `{}`: {line}", title.trim());
            assert_eq!(line.trim_end(), line, "blanks at the end in `{}`", title.trim());
        }
        pages.push_str(&format!("$ {} --help\n{}\n", title.trim(), outcome.stdout));
    }
    assert_snapshot!(pages);
}

#[test]
fn all_ways_to_help_lead_to_the_same_page() {
    let env = environment();
    let page = help(&env, "skills lint").stdout;
    assert_eq!(run(&env, "skills lint -h").stdout, page);
    assert_eq!(run(&env, "help skills lint").stdout, page);
    assert_eq!(run(&env, "skills help lint").stdout, page);
    let mut command = at_terminal(&env);
    command.args(["skills", "lint", "--help", "--color", "never"]);
    let (code, _, seen) = Terminal::start(command, 80).finish();
    assert_eq!((code, seen.trim_end()), (0, page.trim_end()));
    // Without a command there is nothing to do, but something to read.
    let outcome = run(&env, "skills");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
    assert_eq!(outcome.stderr, help(&env, "skills").stdout);
}

#[test]
fn help_is_as_wide_as_the_terminal_within_reason() {
    let env = environment().with_variable("COLUMNS", "60");
    let widest = |env: &TestEnv| {
        let page = help(env, "skills").stdout;
        page.lines().map(|line| line.chars().count()).max().unwrap_or_default()
    };
    assert!(widest(&env) <= 60);
    let env = environment().with_variable("COLUMNS", "400");
    assert!((81..=100).contains(&widest(&env)));
}

#[test]
fn whoever_types_nothing_gets_an_overview() {
    let outcome = run(&environment(), "");
    assert_eq!(outcome.code, 0);
    assert!(outcome.stdout.lines().all(|line| line.chars().count() <= WIDTH));
    assert_snapshot!(outcome, @r#"
    exit 0
    ----- stdout
    metier lets a model use Agent Skills: folders with a SKILL.md that teach a job.

    Start here:
      metier run "draw a chart of the sales by region"  # needs no key
      metier skills list                                # which skills there are
      metier skills explain csv-stats                   # why one is used, or not
      metier exec number-lab -- 'ls scripts'            # run a skill's command
      metier help skills lint                           # help on one command

    `metier --help` lists all commands.
    ----- stderr
    "#);
}

#[test]
fn colour_is_used_as_asked_in_help_and_in_mistakes() {
    let has_colour = |env: &TestEnv, line: &str| {
        let Outcome { stdout, stderr, .. } = run(env, line);
        format!("{stdout}{stderr}").contains('\u{1b}')
    };
    let plain = environment();
    let forced = environment().with_variable("CLICOLOR_FORCE", "1");
    let unwanted = environment().with_variable("NO_COLOR", "1");
    for command in ["--help", "help run", "frobnicate", "skills list --frob", "skills info nothing"]
    {
        assert!(!has_colour(&plain, command), "{command}");
        assert!(has_colour(&plain, &format!("--color always {command}")), "{command}");
        assert!(has_colour(&forced, command), "{command}");
        assert!(!has_colour(&forced, &format!("--color=never {command}")), "{command}");
        assert!(!has_colour(&unwanted, command), "{command}");
        assert!(has_colour(&unwanted, &format!("--color=always {command}")), "{command}");
    }
}

#[test]
fn at_a_terminal_help_is_coloured_unless_somebody_minds() {
    let written = |env: &TestEnv| {
        let mut command = at_terminal(env);
        command.arg("--help");
        Terminal::start(command, 80).finish().1
    };
    let env = environment().with_variable("TERM", "xterm-256color");
    assert!(written(&env).contains("\u{1b}["));
    let env = env.with_variable("NO_COLOR", "1");
    assert!(!written(&env).contains("\u{1b}["));
}
