//! Skills of a project are used once a person has said so, and as they were then.

use std::fs;

use insta::assert_snapshot;
use metier_testkit::TestEnv;

use crate::{environment, json, problems, run};

/// A repository with two skills, one of them with a script.
pub(crate) fn with_project() -> TestEnv {
    let env = environment();
    fs::create_dir(env.project().join(".git")).expect("an empty project");
    env.skill("project/.agents/skills", "first", "Comes first. Use when asked.");
    let second = env.skill("project/.claude/skills", "second", "Comes second. Use when asked.");
    fs::create_dir(second.join("scripts")).expect("a new skill");
    fs::write(second.join("scripts/run.sh"), "#!/bin/sh\n").expect("its script");
    env
}

/// The state of the project's skills, one a line, as the table shows it.
pub(crate) fn states(env: &TestEnv) -> String {
    let table = run(env, "skills list").stdout;
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let own = rows.filter(|cells| cells.get(1) == Some(&"project"));
    own.map(|cells| format!("{} {}", cells[0], cells[2])).collect::<Vec<_>>().join(", ")
}

#[test]
fn nobody_is_trusted_at_first() {
    let env = with_project();
    assert_eq!(states(&env), "first untrusted, second untrusted");
    assert_snapshot!(problems(&run(&env, "skills list")), @"warning: [PROJECT]: the project is not trusted, so its 2 skills are not used; look at what is there, then run `metier trust` [M086]");
    let listed = json(&run(&env, "skills list --json"));
    for skill in listed["skills"].as_array().unwrap().iter().filter(|it| it["source"] == "project")
    {
        assert_eq!(skill["eligible"], false);
        assert_eq!(skill["model_visible"], false);
        assert_eq!(skill["user_invocable"], false);
    }
    assert!(!run(&env, "skills catalog").stdout.contains("Comes first"));
    assert_eq!(run(&env, "skills search comes first").code, 1);
}

#[test]
fn an_untrusted_skill_hides_nobody() {
    let env = with_project();
    env.skill("home/.agents/skills", "first", "Mine. Use when asked.");
    assert_snapshot!(run(&env, "skills explain first"), @"
    exit 0
    ----- stdout
    first
        found  [HOME]/.agents/skills/first/SKILL.md (user)
        hides  [PROJECT]/.agents/skills/first/SKILL.md
     eligible  yes
      catalog  in full, 10 tokens
      started  by a model, or by a person
      noticed  note: [PROJECT]/.agents/skills/first/SKILL.md: `first` is hidden by [HOME]/.agents/skills/first/SKILL.md (user) [M084]
    ----- stderr
    ");
}

#[test]
fn trust_is_given_listed_and_taken_back() {
    let env = with_project();
    assert_snapshot!(run(&env, "trust"), @"
    exit 0
    ----- stdout
    trusted: [PROJECT], 2 skills
      .claude/skills/second
      .agents/skills/first
    ----- stderr
    ");
    assert_eq!(states(&env), "first ready, second ready");
    assert_eq!(problems(&run(&env, "skills list")), "");
    assert_snapshot!(run(&env, "trust --list"), @"
    exit 0
    ----- stdout
    [PROJECT]  2 skills
    ----- stderr
    ");
    assert_snapshot!(run(&env, "trust --revoke"), @"
    exit 0
    ----- stdout
    no longer trusted: [PROJECT]
    ----- stderr
    ");
    assert_eq!(states(&env), "first untrusted, second untrusted");
    assert_snapshot!(run(&env, "trust --list"), @"
    exit 0
    ----- stdout

    ----- stderr
    nothing is trusted
    ");
    assert_snapshot!(run(&env, "trust --revoke"), @"
    exit 1
    ----- stdout

    ----- stderr
    error: `[PROJECT]` was not trusted
    hint: `metier trust --list` shows what is
    ");
}

#[test]
fn programs_read_the_same() {
    let env = with_project();
    assert_snapshot!(run(&env, "trust --json"), @r#"
    exit 0
    ----- stdout
    {
      "path": "[PROJECT]",
      "skills": [
        "[PROJECT]/.claude/skills/second",
        "[PROJECT]/.agents/skills/first"
      ]
    }
    ----- stderr
    "#);
    assert_snapshot!(run(&env, "trust --list --json"), @r#"
    exit 0
    ----- stdout
    [
      {
        "kind": "project",
        "path": "[PROJECT]",
        "skills": [
          ".agents/skills/first",
          ".claude/skills/second"
        ]
      }
    ]
    ----- stderr
    "#);
    assert_snapshot!(run(&env, "trust --revoke --json"), @r#"
    exit 0
    ----- stdout
    {
      "path": "[PROJECT]",
      "revoked": true
    }
    ----- stderr
    "#);
    assert_snapshot!(run(&env, "trust --revoke --json"), @r#"
    exit 1
    ----- stdout
    {
      "path": "[PROJECT]",
      "revoked": false
    }
    ----- stderr
    "#);
    assert_snapshot!(run(&env, "trust --list --json"), @"
    exit 0
    ----- stdout
    []
    ----- stderr
    ");
}

#[test]
fn a_project_is_trusted_by_name_from_elsewhere() {
    let env = with_project();
    assert_snapshot!(env.run_in(&env.root(), ["trust", "project"], "").stdout, @"
    trusted: [PROJECT], 2 skills
      .claude/skills/second
      .agents/skills/first
    ");
    assert_eq!(states(&env), "first ready, second ready");
    assert_snapshot!(env.run_in(&env.root(), ["trust", "--revoke", "project/.agents"], "").stdout, @"no longer trusted: [PROJECT]");
    assert_snapshot!(run(&env, "trust nowhere"), @"
    exit 2
    ----- stdout

    ----- stderr
    error: cannot find the folder `[PROJECT]/nowhere`: No such file or directory (os error 2)
    hint: check the path
    ");
}

#[test]
fn a_flag_trusts_for_one_run() {
    let env = with_project();
    let listed = run(&env, "skills list --trust-project");
    assert_eq!(problems(&listed), "");
    assert!(listed.stdout.contains("first") && !listed.stdout.contains("untrusted"));
    assert_eq!(states(&env), "first untrusted, second untrusted");
}

#[test]
fn neither_home_nor_the_state_directory_is_a_project() {
    let env = environment();
    env.skill("home/.agents/skills", "mine", "Mine. Use when asked.");
    env.skill("home/.metier/skills", "managed", "Managed. Use when asked.");
    assert_snapshot!(env.run_in(&env.home(), ["trust"], ""), @"
    exit 2
    ----- stdout

    ----- stderr
    error: the state directory is not a project
    hint: name the project: `metier trust PATH`
    ");
    assert_snapshot!(run(&env, "trust ../home"), @"
    exit 2
    ----- stdout

    ----- stderr
    error: the state directory is not a project
    hint: name the project: `metier trust PATH`
    ");
    assert_snapshot!(env.run_in(&env.home().join(".metier"), ["trust"], ""), @"
    exit 1
    ----- stdout

    ----- stderr
    error: `[HOME]/.metier` has no skills
    hint: skills of a project are in .metier/skills, .agents/skills or .claude/skills
    ");
    // A home that is itself a repository, as people have who keep their settings in one.
    fs::create_dir(env.home().join(".git")).unwrap();
    let here = env.home().join("work");
    fs::create_dir(&here).unwrap();
    let outcome =
        env.run_in(&here, ["skills", "list", "--skill", "mine", "--skill", "managed"], "");
    assert_eq!(problems(&outcome), "");
    assert_snapshot!(outcome.stdout, @"
    NAME     SOURCE   STATUS  TOKENS  DESCRIPTION
    managed  managed  ready        7  Managed. Use when asked.
    mine     user     ready        7  Mine. Use when asked.
    ");
}

#[test]
fn a_project_without_skills_has_nothing_to_trust() {
    assert_snapshot!(run(&environment(), "trust"), @"
    exit 1
    ----- stdout

    ----- stderr
    error: `[PROJECT]` has no skills
    hint: skills of a project are in .metier/skills, .agents/skills or .claude/skills
    ");
}

#[test]
fn a_link_out_of_the_project_is_not_followed_unless_the_user_allows_it() {
    let env = environment();
    env.skill("elsewhere", "linked", "Comes from elsewhere. Use when asked.");
    fs::create_dir_all(env.project().join(".agents/skills")).unwrap();
    let link = env.project().join(".agents/skills/linked");
    std::os::unix::fs::symlink(env.root().join("elsewhere/linked"), link).unwrap();
    assert_snapshot!(run(&env, "trust"), @"
    exit 1
    ----- stdout

    ----- stderr
    error: [PROJECT]/.agents/skills/linked: the link leads outside its root [M083]
      hint: move the skill into the root, or add its target to `skills.allow_symlink_targets`
    error: `[PROJECT]` has no skills
    hint: skills of a project are in .metier/skills, .agents/skills or .claude/skills
    ");
    let elsewhere = env.root().join("elsewhere").display().to_string();
    env.write(
        "home/.metier/config.toml",
        format!("skills.allow_symlink_targets = [{elsewhere:?}]"),
    );
    assert_eq!(run(&env, "trust").code, 0);
    assert_eq!(states(&env), "linked ready");
}
