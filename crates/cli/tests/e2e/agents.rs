//! Agents with skills and folders of their own.

use insta::assert_snapshot;
use metier_testkit::TestEnv;

use crate::{environment, json, run};

fn with_skills(config: &str) -> TestEnv {
    let env = environment();
    for name in ["git", "pdf", "mail"] {
        env.skill("project/skills", name, "Does it. Use when asked.");
    }
    env.write("home/.metier/config.toml", config);
    env
}

/// The skills that an agent may use.
fn used(env: &TestEnv, agent: &str) -> String {
    let flags = "--no-default-sources --skills-dir skills";
    let listed = json(&run(env, &format!("skills list --all --json {flags} --agent {agent}")));
    let skills = listed["skills"].as_array().expect("a list").iter();
    let eligible = skills.filter(|it| it["eligible"] == true);
    eligible.filter_map(|it| it["name"].as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_list_of_its_own_replaces_the_one_for_all_agents() {
    let env = with_skills(
        "[agents.defaults]\nskills = ['git', 'pdf']\n[agents.writer]\nskills = ['mail']\n\
         [agents.nobody]\nskills = []\n",
    );
    let told = ["default", "other", "writer", "nobody"]
        .map(|agent| format!("{agent}: {}", used(&env, agent)));
    assert_snapshot!(told.join("\n"), @"
    default: git pdf
    other: git pdf
    writer: mail
    nobody:
    ");
    let none = with_skills("agents.defaults.skills = []\nagents.writer.skills = ['*']\n");
    assert_eq!(used(&none, "default"), "");
    assert_eq!(used(&none, "writer"), "git mail pdf");
}

#[test]
fn a_project_narrows_the_list_of_an_agent_and_never_replaces_it() {
    let env = with_skills("agents.writer.skills = ['git', 'pdf']\n");
    env.write(
        "project/.metier/config.toml",
        "agents.writer.skills = ['pdf', 'mail']\nagents.defaults.skills = ['mail', 'pdf']\n",
    );
    assert_eq!(used(&env, "writer"), "pdf");
    assert_eq!(used(&env, "default"), "mail pdf");
}

#[test]
fn the_folder_for_all_is_that_of_the_default_agent() {
    let env = with_skills(
        "agents.defaults.workspace = '~/mine'\nagents.writer.workspace = '~/letters'\n",
    );
    for (folder, name) in [
        ("home/mine", "of-default"),
        ("home/letters", "of-writer"),
        ("home/.metier/workspace-other", "of-other"),
        ("home/.metier/workspace", "of-nobody"),
    ] {
        env.skill(format!("{folder}/skills"), name, "Does it. Use when asked.");
    }
    let found = |agent: &str| {
        let listed = json(&run(&env, &format!("skills list --json --skill of-* --agent {agent}")));
        let skills = listed["skills"].as_array().expect("a list").iter();
        skills.filter_map(|it| it["name"].as_str()).map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found("default"), "of-default");
    assert_eq!(found("writer"), "of-writer");
    assert_eq!(found("other"), "of-other");
}

#[test]
fn the_skills_of_an_agent_are_what_its_tasks_and_commands_have() {
    let env = with_skills("agents.writer.skills = ['mail']\n");
    let own = ["--no-default-sources", "--skills-dir", "skills", "--agent", "writer"];
    let exec = |skill: &str| {
        env.run(["exec", skill].iter().chain(&own).chain(&["--quiet", "--", "echo ran"]))
    };
    assert_eq!(exec("mail").stdout, "ran\n");
    assert_snapshot!(exec("git"), @"
    exit 1
    ----- stdout

    ----- stderr
    error: the skill `git` cannot be used: not in `agents.writer.skills`
    hint: add `git` to `agents.writer.skills`; settings go into `[HOME]/.metier/config.toml`
    ");
    let explained = env.run(["skills", "explain", "git", "--json"].iter().chain(&own));
    assert_eq!(json(&explained)["blocks"][0]["reason"], "not in `agents.writer.skills`");
}

#[test]
fn the_name_of_an_agent_is_a_plain_word() {
    let env = environment();
    let long = "a".repeat(65);
    for name in ["../../x", "A", "-x", "a_b", "", "a b", "defaults", "写", "a/b", &long] {
        for command in [&["skills", "list"][..], &["chat"], &["run", "x"], &["exec", "x"]] {
            let flag = format!("--agent={name}");
            let outcome = env.run(command.iter().copied().chain([flag.as_str()]));
            assert_eq!(outcome.code, 2, "{name}: {outcome}");
            assert!(outcome.stderr.contains("of `--agent <ID>`"), "{name}: {outcome}");
        }
    }
    env.write("home/.metier/config.toml", "agents.'../x'.skills = []\n");
    assert_snapshot!(run(&env, "skills list"), @"
    exit 2
    ----- stdout

    ----- stderr
    error: [HOME]/.metier/config.toml:1: `agents.../x.skills` cannot be a setting of an agent: use lowercase letters, digits and hyphens, and begin with no hyphen
    ");
}
