//! Which of the skills that were found are used: flags, settings, variables, and projects, which
//! can only take away.

use std::fs;

use insta::assert_snapshot;
use metier_testkit::TestEnv;

use crate::{environment, json, problems, run};

fn with_skills() -> TestEnv {
    let env = environment();
    for name in ["git-commit", "git-push", "pdf", "写作"] {
        env.skill("project/skills", name, "Does it. Use when asked.");
    }
    env
}

/// What stands in the way of each skill.
fn verdicts(env: &TestEnv, flags: &str) -> String {
    let sources = "--no-default-sources --skills-dir skills";
    let listed = json(&run(env, &format!("skills list --all --json {sources} {flags}")));
    let mut lines = Vec::new();
    for skill in listed["skills"].as_array().expect("a list") {
        let name = skill["name"].as_str().expect("a name");
        let explained = json(&run(env, &format!("skills explain {name} --json {sources} {flags}")));
        let blocks = explained["blocks"].as_array().expect("a list");
        assert_eq!(skill["eligible"], blocks.is_empty());
        let reasons: Vec<&str> = blocks.iter().filter_map(|it| it["reason"].as_str()).collect();
        lines.push(format!(
            "{name}: {}",
            if reasons.is_empty() { "ready".into() } else { reasons.join("; ") }
        ));
    }
    lines.join("\n")
}

fn with_config(text: &str) -> TestEnv {
    let env = with_skills();
    env.write("home/.metier/config.toml", text);
    env
}

#[test]
fn a_flag_names_the_only_skills() {
    let env = with_skills();
    assert_snapshot!(verdicts(&env, "--skill git-* --skill 写作"), @"
    git-commit: ready
    git-push: ready
    pdf: not in `--skill`
    写作: ready
    ");
    assert_snapshot!(verdicts(&env, "--skill nobody"), @"
    git-commit: not in `--skill`
    git-push: not in `--skill`
    pdf: not in `--skill`
    写作: not in `--skill`
    ");
}

#[test]
fn a_glob_that_cannot_be_read_opens_nothing() {
    assert_snapshot!(run(&with_skills(), "skills list --skill [a"), @"
    exit 2
    ----- stdout

    ----- stderr
    error: `[a` is not a name or a pattern of names: unclosed character class; missing ']'
    hint: write names such as `pdf`, or patterns such as `git-*`
    ");
}

#[test]
fn no_skills_means_none() {
    let env = with_skills();
    assert_snapshot!(verdicts(&env, "--no-skills"), @"
    git-commit: skills are switched off
    git-push: skills are switched off
    pdf: skills are switched off
    写作: skills are switched off
    ");
    assert_snapshot!(run(&env, "skills catalog --no-skills"), @"
    exit 0
    ----- stdout

    ----- stderr
    0 skills: 0 in full, 0 shortened, 0 by name only, 0 by search only; at most 0 tokens
    ");
    assert_snapshot!(run(&env, "skills list --no-skills --no-default-sources --skills-dir skills"), @"
    exit 0
    ----- stdout

    ----- stderr
    4 skills, 0 ready · catalog 0 of 4000 tokens · 4 switched off (--all shows them)
    ");
}

#[test]
fn settings_allow_deny_and_switch_off() {
    let env = with_config(
        "skills.allowed = ['git-*', 'pdf']\nskills.denied = ['*-push']\nskills.entries.pdf.enabled = false\n",
    );
    assert_snapshot!(verdicts(&env, ""), @"
    git-commit: ready
    git-push: `*-push` is denied
    pdf: `pdf` is disabled
    写作: not in `skills.allowed`
    ");
}

#[test]
fn an_agent_has_a_list_of_its_own() {
    let env =
        with_config("skills.allowed = ['git-*', 'pdf']\nagents.writer.skills = ['pdf', '写作']\n");
    assert_snapshot!(verdicts(&env, "--agent writer"), @"
    git-commit: not in `agents.writer.skills`
    git-push: not in `agents.writer.skills`
    pdf: ready
    写作: not in `skills.allowed`
    ");
    assert_snapshot!(verdicts(&env, "--agent other"), @"
    git-commit: ready
    git-push: ready
    pdf: ready
    写作: not in `skills.allowed`
    ");
}

#[test]
fn skills_can_be_switched_off_altogether() {
    assert_snapshot!(verdicts(&with_config("skills.enabled = false"), ""), @"
    git-commit: skills are switched off
    git-push: skills are switched off
    pdf: skills are switched off
    写作: skills are switched off
    ");
}

#[test]
fn variables_set_what_the_file_sets() {
    let env = with_config("skills.denied = ['pdf']");
    let env = env.with_variable("METIER_SKILLS_DENIED", "git-push, 写作");
    assert_snapshot!(verdicts(&env, ""), @"
    git-commit: ready
    git-push: `git-push` is denied
    pdf: ready
    写作: `写作` is denied
    ");
    let env =
        env.with_variable("METIER_SKILLS_DENIED", "").with_variable("METIER_SKILLS_ALLOWED", "pdf");
    assert_snapshot!(verdicts(&env, ""), @"
    git-commit: not in `skills.allowed`
    git-push: not in `skills.allowed`
    pdf: `pdf` is denied
    写作: not in `skills.allowed`
    ");
    let env = env.with_variable("METIER_SKILLS_ENABLED", "0");
    assert_snapshot!(verdicts(&env, "--skill pdf"), @"
    git-commit: skills are switched off; not in `skills.allowed`; not in `--skill`
    git-push: skills are switched off; not in `skills.allowed`; not in `--skill`
    pdf: skills are switched off; `pdf` is denied
    写作: skills are switched off; not in `skills.allowed`; not in `--skill`
    ");
}

#[test]
fn a_variable_that_makes_no_sense_is_a_mistake() {
    for (name, value) in [
        ("METIER_SKILLS_ENABLED", "maybe"),
        ("METIER_SKILLS_CATALOG_TOKENS", "many"),
        ("METIER_SKILLS_DENIED", "[a"),
    ] {
        let outcome = run(&with_skills().with_variable(name, value), "skills list");
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
        assert!(outcome.stderr.starts_with(&format!("error: ${name}: `skills.")), "{outcome}");
    }
}

#[test]
fn more_folders_come_from_a_variable() {
    let env = with_skills();
    env.skill("one", "first", "Does it. Use when asked.");
    env.skill("two", "second", "Does it. Use when asked.");
    let env = env.with_variable("METIER_SKILLS_EXTRA_DIRS", "../one, ../two");
    let listed = json(&run(&env, "skills list --json --skill first --skill second"));
    assert_eq!(listed["skills"].as_array().unwrap().len(), 2);
}

#[test]
fn a_project_narrows() {
    let env =
        with_config("skills.allowed = ['git-*', 'pdf', '写作']\nskills.catalog_tokens = 2000\n");
    env.write(
        "project/.metier/config.toml",
        "[skills]\nallowed = ['git-*', 'pdf']\ndenied = ['*-push']\ncatalog_tokens = 1500\n\
         entries.pdf.enabled = false\n",
    );
    assert_snapshot!(verdicts(&env, ""), @"
    git-commit: ready
    git-push: `*-push` is denied
    pdf: `pdf` is disabled
    写作: not in `skills.allowed` of [PROJECT]/.metier/config.toml:2
    ");
    assert_snapshot!(run(&env, "config show"), @r#"
    exit 0
    ----- stdout
    # state: [HOME]/.metier
    skills.allowed = ["git-*", "pdf", "写作"]  # [HOME]/.metier/config.toml:1
    skills.allowed = ["git-*", "pdf"]  # [PROJECT]/.metier/config.toml:2, also
    skills.catalog_tokens = 1500  # [PROJECT]/.metier/config.toml:4, before that [HOME]/.metier/config.toml:2
    skills.denied = ["*-push"]  # [PROJECT]/.metier/config.toml:3
    skills.entries.pdf.enabled = false  # [PROJECT]/.metier/config.toml:5
    ----- stderr
    "#);
}

#[test]
fn an_empty_list_allows_all_in_a_project_too() {
    let env = with_config("skills.allowed = []");
    env.write("project/.metier/config.toml", "skills.allowed = []\n");
    assert!(verdicts(&env, "").lines().all(|line| line.ends_with(": ready")));
}

#[test]
fn a_project_never_widens() {
    let env = with_config(
        "skills.denied = ['git-*']\nskills.catalog_tokens = 2000\nskills.entries.pdf.enabled = false\n",
    );
    env.skill("outside", "smuggled", "Does it. Use when asked.");
    fs::create_dir_all(env.project().join(".agents/skills")).unwrap();
    let link = env.project().join(".agents/skills/linked");
    std::os::unix::fs::symlink(env.root().join("outside/smuggled"), link).unwrap();
    env.write(
        "project/.metier/config.toml",
        "[skills]\nextra_dirs = ['../outside']\nplugin_dirs = ['../outside']\n\
         allow_symlink_targets = ['/']\nenabled = true\ndenied = []\nallowed = []\n\
         catalog_tokens = 9000\n\
         [skills.entries.pdf]\nenabled = true\napi_key = 'theirs'\nenv.LD_PRELOAD = 'theirs'\n\
         [agents.default]\nworkspace = '../outside'\n",
    );
    let listed = run(&env, "skills list --trust-project --skill smuggled");
    assert_eq!(listed.stdout, "");
    assert_snapshot!(problems(&listed), @"
    error: [PROJECT]/.agents/skills/linked: the link leads outside its root [M083]
    warning: [PROJECT]/.metier/config.toml:2:1: `skills.extra_dirs` is not taken from a project, which may not set it [M090]
    warning: [PROJECT]/.metier/config.toml:3:1: `skills.plugin_dirs` is not taken from a project, which may not set it [M090]
    warning: [PROJECT]/.metier/config.toml:4:1: `skills.allow_symlink_targets` is not taken from a project, which may not set it [M090]
    warning: [PROJECT]/.metier/config.toml:8:1: `skills.catalog_tokens` is not taken from a project, which may only lower it [M090]
    warning: [PROJECT]/.metier/config.toml:10:1: `skills.entries.pdf.enabled` is not taken from a project, which may only switch it off [M090]
    warning: [PROJECT]/.metier/config.toml:11:1: `skills.entries.pdf.api_key` is not taken from a project, which may not set it [M090]
    warning: [PROJECT]/.metier/config.toml:12:1: `skills.entries.pdf.env.LD_PRELOAD` is not taken from a project, which may not set it [M090]
    warning: [PROJECT]/.metier/config.toml:14:1: `agents.default.workspace` is not taken from a project, which may not set it [M090]
    ");
    assert_snapshot!(run(&env, "config show").stdout, @r#"
    # state: [HOME]/.metier
    skills.allowed = []  # [PROJECT]/.metier/config.toml:7, also
    skills.catalog_tokens = 2000  # [HOME]/.metier/config.toml:2
    skills.denied = ["git-*"]  # [PROJECT]/.metier/config.toml:6, before that [HOME]/.metier/config.toml:1
    skills.entries.pdf.enabled = false  # [HOME]/.metier/config.toml:3
    "#);
    assert_snapshot!(run(&env, "skills list --all --no-default-sources --skills-dir skills --quiet"), @"
    exit 0
    ----- stdout
    NAME        SOURCE  STATUS  TOKENS  DESCRIPTION
    git-commit  flag    denied      10  Does it. Use when asked.
    git-push    flag    denied      10  Does it. Use when asked.
    pdf         flag    off          8  Does it. Use when asked.
    写作        flag    ready        9  Does it. Use when asked.
    ----- stderr
    ");
}

#[test]
fn nothing_a_project_says_stops_the_program() {
    for text in
        ["skills = [", "skils.enabled = true", "skills.denied = 'x'", "skills.denied = ['[x']"]
    {
        let env = with_skills();
        env.write("project/.metier/config.toml", text);
        let outcome = run(&env, "skills list --no-default-sources --skills-dir skills");
        assert_eq!(outcome.code, 0, "{outcome}");
        assert_eq!(outcome.stdout.lines().count(), 5, "{outcome}");
        let warnings = outcome.stderr.matches("warning: [PROJECT]/.metier/config.toml:").count();
        assert_eq!(warnings, 1, "{outcome}");
    }
}
