//! `skills lint --fix`: files are mended, once, in place, and nothing else about them changes.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;

use crate::{compact, environment, run, write_skill};

const HEADER: &str = "name: pipes\ndescription: Mends pipes: all of them. Use when a pipe leaks.\n\
     allowed-tools:\n  - Read\n  - Bash(git:*)";

#[test]
fn a_file_is_mended_and_then_clean() {
    let env = environment();
    let folder = write_skill(&env, "pipes", HEADER);
    assert_snapshot!(compact(&run(&env, "skills lint skills --fix --strict")), @"0 |  | mended skills/pipes/SKILL.md / 1 skill: 0 errors, 0 warnings, 0 notes");
    assert_snapshot!(fs::read_to_string(folder.join("SKILL.md")).unwrap(), @"
    ---
    name: pipes
    description: 'Mends pipes: all of them. Use when a pipe leaks.'
    allowed-tools:
      'Read Bash(git:*)'
    ---

    # Steps

    Do it.
    ");
    assert_snapshot!(compact(&run(&env, "skills lint skills --fix --strict")), @"0 |  | 1 skill: 0 errors, 0 warnings, 0 notes");
    assert_snapshot!(compact(&run(&env, "validate skills/pipes")), @"0 | Valid skill: skills/pipes |");
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names, ["SKILL.md"], "nothing is left beside it");
}

#[test]
fn what_has_no_fix_stays_and_is_said() {
    let env = environment();
    write_skill(&env, "pipes", &format!("{HEADER}\nauthor: me"));
    let outcome = run(&env, "skills lint skills --fix --strict");
    assert_eq!(outcome.code, 1);
    assert_snapshot!(outcome.stderr, @"
    mended skills/pipes/SKILL.md
    1 skill: 1 error, 0 warnings, 0 notes
    `metier skills lint --explain M040` says what M040 means
    ");
}

#[test]
fn a_clean_file_is_not_written() {
    let env = environment();
    let folder = write_skill(&env, "clean", "name: clean\ndescription: Does it. Use when asked.");
    let before = fs::metadata(folder.join("SKILL.md")).unwrap().modified().unwrap();
    assert_snapshot!(compact(&run(&env, "skills lint skills --fix")), @"0 |  | 1 skill: 0 errors, 0 warnings, 0 notes");
    assert_eq!(fs::metadata(folder.join("SKILL.md")).unwrap().modified().unwrap(), before);
}

#[test]
fn the_mode_is_kept() {
    let env = environment();
    let file = write_skill(&env, "pipes", HEADER).join("SKILL.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(run(&env, "skills lint skills --fix").code, 0);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_link_stays_a_link() {
    let env = environment();
    let text = format!("---\n{HEADER}\n---\n\n# Steps\n");
    let real = env.write("project/skills/pipes/docs/real.md", text);
    let link = env.project().join("skills/pipes/SKILL.md");
    std::os::unix::fs::symlink("docs/real.md", &link).unwrap();
    assert_eq!(run(&env, "skills lint skills --fix").code, 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("description: 'Mends pipes: all of them."));
}

#[test]
fn line_ends_and_everything_else_are_kept() {
    let env = environment();
    let text = format!(
        "---\n{HEADER}\n# a comment\nlicense:   MIT\n---\n\nBody  \n\n\nlast line without end"
    );
    let file = env.write("project/skills/pipes/SKILL.md", text.replace('\n', "\r\n"));
    assert_eq!(run(&env, "skills lint skills --fix").code, 0);
    let mended = fs::read_to_string(&file).unwrap();
    assert!(!mended.replace("\r\n", "").contains(['\r', '\n']), "{mended:?}");
    assert!(mended.ends_with(
        "\r\n# a comment\r\nlicense:   MIT\r\n---\r\n\r\nBody  \r\n\r\n\r\nlast line without end"
    ));
}

#[test]
fn a_comment_is_never_lost() {
    let env = environment();
    let header = "name: pipes\ndescription: Mends pipes. Use when one leaks.\n\
                  allowed-tools:\n  - Read # to look\n  # and to do\n  - Bash(git:*)";
    let file = write_skill(&env, "pipes", header).join("SKILL.md");
    let before = fs::read_to_string(&file).unwrap();
    assert_eq!(run(&env, "skills lint skills --fix").code, 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
}

#[test]
fn json_lists_what_is_left() {
    let env = environment();
    write_skill(&env, "pipes", HEADER);
    assert_snapshot!(compact(&run(&env, "skills lint skills --fix --json --quiet")), @"0 | [] |");
}

#[test]
fn a_pipe_is_not_waited_for() {
    let env = environment();
    let path = env.project().join("SKILL.md");
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    assert_snapshot!(compact(&run(&env, "skills lint SKILL.md --fix")), @"1 | error[M010]: the file cannot be read: not a regular file / --> SKILL.md /  | 0 skills: 1 error, 0 warnings, 0 notes / `metier skills lint --explain M010` says what M010 means");
}

#[test]
fn text_that_is_not_utf8_is_left_alone() {
    let env = environment();
    let bytes = b"---\nname: latin\ndescription: Caf\xe9: always. Use when asked.\n---\nBody\n";
    let file = env.write("project/skills/latin/SKILL.md", bytes);
    assert_eq!(run(&env, "skills lint skills --fix").code, 0);
    assert_eq!(fs::read(&file).unwrap(), bytes);
}
