//! `skills new`: what is made is clean, and nothing is overwritten.

use insta::assert_snapshot;

use crate::{compact, environment, json, run};

#[test]
fn a_new_skill_is_clean() {
    let env = environment();
    assert_snapshot!(run(&env, "skills new my-skill"), @"
    exit 0
    ----- stdout
    made my-skill
    ----- stderr
    next: write SKILL.md, then run `metier skills lint` on the folder
    ");
    assert_snapshot!(compact(&run(&env, "skills lint my-skill --strict")), @"0 |  | 1 skill: 0 errors, 0 warnings, 0 notes");
    assert_snapshot!(compact(&run(&env, "validate my-skill")), @"0 | Valid skill: my-skill |");
    // What others may do with it is for its author to say.
    let text = std::fs::read_to_string(env.project().join("my-skill/SKILL.md")).unwrap();
    assert!(!text.contains("license"), "{text}");
    let arguments = [
        "skills",
        "new",
        "技能",
        "--dir",
        "deep/er",
        "--json",
        "--description",
        "It: \"does\" 'it' & <that>\n#1. Use when asked.",
    ];
    assert_snapshot!(compact(&env.run(arguments)), @r#"0 | {"name":"技能","path":"[PROJECT]/deep/er/技能"} |"#);
    assert_snapshot!(compact(&run(&env, "skills lint deep --strict")), @"0 |  | 1 skill: 0 errors, 0 warnings, 0 notes");
    let listed = json(&run(&env, "skills list --json --no-default-sources --skills-dir deep"));
    assert_snapshot!(listed["skills"][0]["description"].as_str().unwrap(), @r#"It: "does" 'it' & <that> #1. Use when asked."#);
}

#[test]
fn a_new_skill_needs_a_name_and_room() {
    let env = environment();
    env.write("project/taken/notes.txt", "");
    for name in ["Bad_Name", "-x", "", "a/b", "../x", "a--b", "x\u{1b}y", &"a".repeat(65)] {
        let outcome = env.run(["skills", "new", "--", name]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{outcome}");
        assert_eq!(outcome.stderr.lines().count(), 2, "{outcome}");
        assert!(!outcome.stderr.contains('\u{1b}'));
    }
    assert_snapshot!(compact(&run(&env, "skills new Bad_Name")), @"2 |  | error: `Bad_Name` is not a name for a skill / hint: `bad-name` would be");
    assert_snapshot!(compact(&run(&env, "skills new taken")), @"1 |  | error: `taken` is already there / hint: choose another name, or name another folder");
    assert_snapshot!(compact(&run(&env, "skills new fresh --dir taken/notes.txt")), @"1 |  | error: cannot make `taken/notes.txt/fresh`: Not a directory (os error 20) / hint: choose a folder that you can write to");
}
