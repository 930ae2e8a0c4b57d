//! What becomes of trust when skills, or its own file, change.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;

use crate::trust::{states, with_project};
use crate::{json, problems, run};

#[test]
fn a_change_names_the_file_and_asks_again() {
    let env = with_project();
    run(&env, "trust");
    let second = env.project().join(".claude/skills/second");
    fs::write(second.join("scripts/run.sh"), "#!/bin/sh\nrm -rf /\n").unwrap();
    assert_eq!(states(&env), "first ready, second changed");
    assert_snapshot!(problems(&run(&env, "skills list")), @"warning: [PROJECT]/.claude/skills/second/SKILL.md:1:1: changed since it was trusted: scripts/run.sh [M087]");
    assert_snapshot!(run(&env, "skills explain second"), @"
    exit 0
    ----- stdout
    second
        found  [PROJECT]/.claude/skills/second/SKILL.md (project)
     eligible  no
      because  changed since it was trusted: scripts/run.sh
       remedy  look at the changes, then run `metier trust` again
      catalog  not listed
      started  by nobody
      noticed  warning: line 1: changed since it was trusted: scripts/run.sh [M087]
       remedy  look at the changes, then run `metier trust`
    ----- stderr
    ");
    run(&env, "trust");
    assert_eq!(states(&env), "first ready, second ready");
}

#[test]
fn every_kind_of_change_counts() {
    let env = with_project();
    let second = env.project().join(".claude/skills/second");
    let script = second.join("scripts/run.sh");
    let why = |change: &dyn Fn()| {
        assert_eq!(run(&env, "trust").code, 0);
        change();
        let outcome = run(&env, "skills explain second --json");
        json(&outcome)["blocks"][0]["reason"].as_str().unwrap_or("ready").to_owned()
    };
    assert_snapshot!(why(&|| {}), @"ready");
    assert_snapshot!(why(&|| fs::write(second.join("new.txt"), "").unwrap()), @"changed since it was trusted: new.txt (new)");
    assert_snapshot!(why(&|| fs::remove_file(second.join("new.txt")).unwrap()), @"changed since it was trusted: new.txt (gone)");
    assert_snapshot!(
        why(&|| fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap()), @"changed since it was trusted: scripts/run.sh");
    assert_snapshot!(why(&|| {
        fs::rename(&script, second.join("scripts/go.sh")).unwrap();
        std::os::unix::fs::symlink("go.sh", &script).unwrap();
    }), @"changed since it was trusted: scripts/go.sh (new), scripts/run.sh");
    assert_snapshot!(why(&|| {
        for number in 0..12 {
            fs::write(second.join(format!("{number:02}.txt")), "").unwrap();
        }
    }), @"changed since it was trusted: 00.txt (new), 01.txt (new), 02.txt (new), 03.txt (new), 04.txt (new), 05.txt (new), 06.txt (new), 07.txt (new), 4 more");
}

#[test]
fn a_new_skill_is_not_trusted_with_the_others() {
    let env = with_project();
    run(&env, "trust");
    env.skill("project/.metier/skills", "third", "Comes third. Use when asked.");
    assert_eq!(states(&env), "first ready, second ready, third changed");
    assert_snapshot!(problems(&run(&env, "skills list")), @"warning: [PROJECT]/.metier/skills/third/SKILL.md:1:1: changed since it was trusted: the whole skill is new [M087]");
}

#[test]
fn trust_in_one_folder_of_a_repository_keeps_that_in_another() {
    let env = with_project();
    env.skill("project/web/.agents/skills", "web", "Comes later. Use when asked.");
    env.skill("project/api/.agents/skills", "api", "Comes later. Use when asked.");
    let states_in = |folder: &str| {
        let listed = env.run_in(&env.project().join(folder), ["skills", "list"], "").stdout;
        listed.lines().filter(|line| line.contains(" project ")).count()
            - listed.lines().filter(|line| line.contains(" changed ")).count()
    };
    for folder in ["web", "api", "."] {
        assert_eq!(env.run_in(&env.project().join(folder), ["trust"], "").code, 0);
    }
    assert_eq!((states_in("web"), states_in("api"), states_in(".")), (3, 3, 2));
    assert_snapshot!(run(&env, "trust --list"), @"
    exit 0
    ----- stdout
    [PROJECT]  4 skills
    ----- stderr
    ");
    // What is gone from a folder that is searched is forgotten.
    fs::remove_dir_all(env.project().join(".agents")).unwrap();
    run(&env, "trust");
    assert_snapshot!(run(&env, "trust --list"), @"
    exit 0
    ----- stdout
    [PROJECT]  3 skills
    ----- stderr
    ");
}

#[test]
fn a_trust_file_that_cannot_be_read_trusts_nobody() {
    let env = with_project();
    run(&env, "trust");
    env.write("home/.metier/trust.json", "{ \"version\": 1, \"projects\": [");
    assert_eq!(states(&env), "first untrusted, second untrusted");
    assert_snapshot!(problems(&run(&env, "skills list")), @"
    warning: [HOME]/.metier/trust.json: cannot be used: invalid type: sequence, expected a map at line 1 column 28; until then no project is trusted [M086]
    warning: [PROJECT]: the project is not trusted, so its 2 skills are not used; look at what is there, then run `metier trust` [M086]
    ");
    assert_snapshot!(run(&env, "trust"), @"
    exit 1
    ----- stdout

    ----- stderr
    error: the trust file `[HOME]/.metier/trust.json` cannot be understood: invalid type: sequence, expected a map at line 1 column 28
    hint: delete it and run `metier trust` in each project you trust
    ");
    assert_snapshot!(run(&env, "trust --list"), @"
    exit 1
    ----- stdout

    ----- stderr
    error: the trust file `[HOME]/.metier/trust.json` cannot be understood: invalid type: sequence, expected a map at line 1 column 28
    hint: delete it and run `metier trust` in each project you trust
    ");
}
