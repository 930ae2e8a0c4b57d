//! `skills lint`: what it looks at, how it says it, and how it ends.

use std::fs;

use insta::assert_snapshot;
use metier_testkit::TestEnv;
use serde_json::Value;

use crate::{compact, environment, json, run, run_own, write_skill};

/// A skill with an error, a warning and a note, one of them with a fix.
pub(crate) fn with_findings() -> TestEnv {
    let env = environment();
    write_skill(
        &env,
        "pipes",
        "name: Pipes\ndescription: Mends pipes: all of them. Use when a pipe leaks.\nauthor: me",
    );
    env.write("project/skills/pipes/scripts/mend", "no first line\n");
    env
}

#[test]
fn people_see_the_lines_it_is_about() {
    assert_snapshot!(run(&with_findings(), "skills lint skills"), @"
    exit 0
    ----- stdout
    warning[M023]: `Pipes` is not lowercase
     --> skills/pipes/SKILL.md:2:7
      |
    2 | name: Pipes
      |       ^^^^^
      |
      = help: call it `pipes`, and the folder too

    warning[M027]: the name `Pipes` is not the name of the folder, `pipes`
     --> skills/pipes/SKILL.md:2:7
      |
    2 | name: Pipes
      |       ^^^^^
      |
      = help: rename one of the two

    warning[M006]: the value of `description` is not valid YAML as it stands
     --> skills/pipes/SKILL.md:3:14
      |
    3 | description: Mends pipes: all of them. Use when a pipe leaks.
      |              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: put quotes around the value

    note[M040]: `author` is not a field of the format
     --> skills/pipes/SKILL.md:4:1
      |
    4 | author: me
      | ^^^^^^
      |
      = help: put fields of your own under `metadata`

    warning[M066]: nothing says what runs this script
     --> skills/pipes/scripts/mend
      = help: start it with a line like `#!/usr/bin/env python3`, or give it an ending
    ----- stderr
    1 skill: 0 errors, 4 warnings, 1 note; 2 can be mended with --fix
    `metier skills lint --explain M023` says what M023 means
    ");
}

#[test]
fn the_letter_of_the_format_is_stricter() {
    let env = with_findings();
    assert_eq!(run(&env, "skills lint skills").code, 0);
    let strict = run(&env, "skills lint skills --strict");
    assert_eq!(strict.code, 1);
    let severities = |text: &str| -> Vec<String> {
        let titles = text.lines().filter_map(|line| line.split_once("]: ").map(|(head, _)| head));
        titles.map(|title| format!("{title}]")).collect()
    };
    assert_snapshot!(severities(&strict.stdout).join(" "), @"error[M023] error[M027] error[M006] error[M040] warning[M066]");
    assert_snapshot!(strict.stderr, @"
    1 skill: 4 errors, 1 warning, 0 notes; 2 can be mended with --fix
    `metier skills lint --explain M023` says what M023 means
    ");
}

#[test]
fn paths_are_files_skills_or_folders_of_skills() {
    let env = with_findings();
    write_skill(&env, "deep/er/clean", "name: clean\ndescription: Does it. Use when asked.");
    let counts = |line: &str| run(&env, line).stderr;
    assert_snapshot!(counts("skills lint skills/pipes/SKILL.md"), @"
    1 skill: 0 errors, 4 warnings, 1 note; 2 can be mended with --fix
    `metier skills lint --explain M023` says what M023 means
    ");
    assert_snapshot!(counts("skills lint skills/pipes"), @"
    1 skill: 0 errors, 4 warnings, 1 note; 2 can be mended with --fix
    `metier skills lint --explain M023` says what M023 means
    ");
    assert_snapshot!(counts("skills lint skills"), @"
    2 skills: 0 errors, 4 warnings, 1 note; 2 can be mended with --fix
    `metier skills lint --explain M023` says what M023 means
    ");
    assert_snapshot!(counts("skills lint skills/pipes skills/pipes/SKILL.md skills/deep"), @"
    2 skills: 0 errors, 4 warnings, 1 note; 2 can be mended with --fix
    `metier skills lint --explain M023` says what M023 means
    ");
    let here = env.project().join("skills/deep/er/clean");
    assert_snapshot!(env.run_in(&here, ["skills", "lint", "."], "").stderr, @"1 skill: 0 errors, 0 warnings, 0 notes");
    assert_snapshot!(env.run_in(&here, ["skills", "lint", "SKILL.md", "--strict"], "").stderr, @"1 skill: 0 errors, 0 warnings, 0 notes");
}

#[test]
fn a_path_that_leads_nowhere_is_a_mistake() {
    let env = environment();
    env.write("project/empty/notes.txt", "");
    assert_snapshot!(compact(&run(&env, "skills lint nowhere")), @"2 |  | error: there is no file or folder `nowhere` / hint: name a path; `metier skills info NAME` shows the folder of a skill");
    assert_snapshot!(compact(&run(&env, "skills lint empty")), @"2 |  | error: `empty` has no `SKILL.md` in it / hint: name the folder of a skill, or one with such folders in it");
    assert_snapshot!(compact(&run(&env, "skills lint empty --json")), @"2 |  | error: `empty` has no `SKILL.md` in it / hint: name the folder of a skill, or one with such folders in it");
    assert_snapshot!(run(&env, "skills lint --json --format sarif .").code, @"2");
    assert_snapshot!(run(&env, "skills lint --format xml .").code, @"2");
}

#[test]
fn without_a_path_every_skill_is_looked_at() {
    let env = with_findings();
    env.skill("home/.agents/skills", "mine", "Does it.");
    env.skill("project/.agents/skills", "theirs", "Does it too.");
    let paths = |outcome: &metier_testkit::Outcome| -> Vec<String> {
        let findings = json(outcome);
        let paths =
            findings.as_array().unwrap().iter().map(|it| it["path"].as_str().unwrap().to_owned());
        let mut paths: Vec<String> = paths.collect();
        paths.dedup();
        paths
    };
    assert_snapshot!(paths(&run(&env, "skills lint --json")).join("\n"), @"
    [HOME]/.agents/skills/mine/SKILL.md
    [PROJECT]/.agents/skills/theirs/SKILL.md
    ");
    assert_snapshot!(paths(&run_own(&env, "skills lint --json")).join("\n"), @"
    [PROJECT]/skills/pipes/SKILL.md
    [PROJECT]/skills/pipes/scripts/mend
    ");
    assert_snapshot!(compact(&run(&environment(), "skills lint --no-default-sources")), @"0 |  | 0 skills: 0 errors, 0 warnings, 0 notes");
}

#[test]
fn what_cannot_be_read_is_a_finding() {
    let env = environment();
    write_skill(&env, "clean", "name: clean\ndescription: Does it. Use when asked.");
    fs::create_dir_all(env.project().join("skills/folder/SKILL.md")).unwrap();
    fs::create_dir(env.project().join("skills/dangling")).unwrap();
    std::os::unix::fs::symlink("nowhere", env.project().join("skills/dangling/SKILL.md")).unwrap();
    env.write("project/skills/large/SKILL.md", vec![b'x'; (1 << 20) + 1]);
    assert_snapshot!(run(&env, "skills lint skills"), @"
    exit 1
    ----- stdout
    error[M010]: `SKILL.md` cannot be read: No such file or directory (os error 2)
     --> skills/dangling/SKILL.md

    error[M010]: `SKILL.md` cannot be read: it is not a regular file
     --> skills/folder/SKILL.md

    error[M009]: the file cannot be read: the file has 1048577 bytes, more than 1048576
     --> skills/large/SKILL.md
    ----- stderr
    1 skill: 3 errors, 0 warnings, 0 notes
    `metier skills lint --explain M010` says what M010 means
    ");
}

#[test]
fn skills_that_say_the_same_are_told_apart() {
    let env = environment();
    for name in ["one", "two"] {
        write_skill(
            &env,
            name,
            &format!(
                "name: {name}\ndescription: Turns tables into charts. Use when a chart is wanted."
            ),
        );
    }
    let findings = json(&run(&env, "skills lint skills --json"));
    let codes: Vec<&Value> = findings.as_array().unwrap().iter().map(|it| &it["code"]).collect();
    assert_eq!(codes, ["M065", "M065"]);
    assert_snapshot!(findings[0]["message"].as_str().unwrap(), @"the description is 100 % like that of `two`");
}

#[test]
fn the_order_for_people_is_that_of_the_text() {
    let env = environment();
    for name in ["one", "two"] {
        write_skill(
            &env,
            name,
            &format!(
                "name: {name}\ndescription: Turns tables into charts. Use when a chart is wanted.\nauthor: me"
            ),
        );
    }
    let text = run(&env, "skills lint skills/one skills/two").stdout;
    let places: Vec<&str> =
        text.lines().filter_map(|line| line.trim().strip_prefix("--> ")).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn an_excerpt_is_the_text_and_no_line_more() {
    let env = environment();
    env.write(
        "project/windows/SKILL.md",
        "---\r\nname: windows\r\ndescription: Does it.\r\n---\r\nBody\r\n",
    );
    env.write(
        "project/block/SKILL.md",
        "---\nname: block\ndescription: >\n  Does\n  it.\n---\nBody\n",
    );
    assert_snapshot!(run(&env, "skills lint windows block").stdout, @r#"
    warning[M033]: the description does not say when to use the skill
     --> block/SKILL.md:4:3
      |
    4 | /   Does
    5 | |   it.
      | |_____^
      |
      = help: a model chooses by the description: add "Use when …"

    warning[M033]: the description does not say when to use the skill
     --> windows/SKILL.md:3:14
      |
    3 | description: Does it.
      |              ^^^^^^^^
      |
      = help: a model chooses by the description: add "Use when …"
    "#);
}

#[test]
fn nothing_in_a_skill_reaches_the_terminal() {
    let env = environment();
    env.write(
        "project/sly/SKILL.md",
        "---\nname: sly\ndescription: \u{202e}Use when \u{1b}[31mred: x\nk\u{1b}]0;owned\u{7}: 1\n---\nBody \u{200b}\u{9b}2J\n",
    );
    for format in ["human", "json", "sarif"] {
        let outcome = run(&env, &format!("skills lint sly --format {format}"));
        let all = outcome.stdout + &outcome.stderr;
        assert!(!all.contains(['\u{1b}', '\u{7}']), "{format}: {all}");
    }
    let human = run(&env, "skills lint sly").stdout;
    assert!(!human.contains(['\u{202e}', '\u{9b}', '\u{200b}']), "{human}");
}
