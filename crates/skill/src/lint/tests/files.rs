//! The other files: M066, M069, M070.

use super::{outcome, ship};

#[test]
fn m066_a_script_says_what_runs_it() {
    let scratch = ship("Do it.\n");
    scratch.write("ship/scripts/silent", "echo\n");
    scratch.write("ship/scripts/odd.xyz", "echo\n");
    scratch.write("ship/bin/empty", "");
    scratch.write("ship/scripts/deep/silent", "x");
    for (path, text) in [
        ("scripts/shebang", "#!/usr/bin/env python3\n"),
        ("bin/compiled", "\x7fELF\u{2}"),
        ("scripts/known.PY", "x"),
        ("scripts/data.json", "{}"),
        ("scripts/.gitkeep", ""),
        ("other/silent", "x"),
        ("silent", "x"),
    ] {
        scratch.write(format!("ship/{path}"), text);
    }
    insta::assert_snapshot!(outcome(&scratch), @"
    ship/bin/empty M066 nothing says what runs this script
    ship/scripts/deep/silent M066 nothing says what runs this script
    ship/scripts/odd.xyz M066 nothing says what runs this script
    ship/scripts/silent M066 nothing says what runs this script
    ");
}

#[test]
fn m066_the_executable_bit_says_nothing() {
    let scratch = ship("Do it.\n");
    scratch.program("ship/scripts/with-shebang");
    assert_eq!(outcome(&scratch), "");
}

#[test]
fn m069_what_is_left_out_of_the_skill_is_said() {
    let scratch = ship("Do it.\n");
    scratch.link("ship/out.md", "/etc/passwd");
    scratch.fifo("ship/pipe");
    scratch.write("ship/a.md", "");
    scratch.link("ship/in.md", "a.md");
    insta::assert_snapshot!(outcome(&scratch), @"
    ship/out.md M069 left out of the skill: it is a link that leads outside
    ship/pipe M069 left out of the skill: it is neither a file nor a folder
    ");
}

#[test]
fn m070_files_differ_by_more_than_case() {
    let scratch = ship("Do it.\n");
    scratch.write("ship/Notes.md", "");
    assert_eq!(outcome(&scratch), "");
    scratch.write("ship/notes.md", "");
    insta::assert_snapshot!(outcome(&scratch), @"ship/notes.md M070 `Notes.md` and `notes.md` are one file where case does not count");
}

#[test]
fn a_skill_with_too_many_files_is_judged_by_its_text() {
    let scratch = ship("[a](missing.md)\n");
    scratch.write(format!("ship/{}x", "d/".repeat(30)), "");
    insta::assert_snapshot!(outcome(&scratch), @"ship M080 `ship` has more than 20000 entries or folders more than 24 deep");
}
