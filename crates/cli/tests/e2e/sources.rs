//! Where skills are found, and which of a name wins.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use insta::assert_snapshot;
use metier_testkit::TestEnv;

use crate::archives::{sha256, weather, zip_of};
use crate::{environment, json, problems, run};

/// Writes a skill of a name whose description tells where it is.
fn put(env: &TestEnv, folder: &str, name: &str) {
    env.skill(folder, name, &format!("From {folder}. Use when asked."));
}

/// The winner of a name, as `source: description`, with what it hides.
fn winner(env: &TestEnv, folder: &Path, name: &str, flags: &str) -> String {
    let line = format!("skills list --json --trust-project --skill {name} {flags}");
    let listed = json(&env.run_in(folder, line.split_whitespace(), ""));
    let Some(skill) = listed["skills"].as_array().and_then(|skills| skills.first()) else {
        return "nobody".to_owned();
    };
    let text = |field: &str| skill[field].as_str().unwrap_or_default().to_owned();
    let hidden = skill["shadows"].as_array().map_or(0, Vec::len);
    format!("{}: {} hides {hidden}", text("source"), text("description"))
}

/// Every place that can hold a skill, from the one that wins to the one that yields.
const PLACES: [&str; 13] = [
    "given",
    "home/.metier/workspace/skills",
    "project/deep/.metier/skills",
    "project/deep/.agents/skills",
    "project/deep/.claude/skills",
    "project/.metier/skills",
    "project/.agents/skills",
    "project/.claude/skills",
    "home/.agents/skills",
    "home/.claude/skills",
    "home/.metier/skills",
    "root",
    "extra",
];

#[test]
fn the_nearer_and_the_more_personal_wins() {
    let env = environment();
    let extra = env.root().join("extra").display().to_string();
    env.write("home/.metier/config.toml", format!("skills.extra_dirs = [{extra:?}]"));
    let named = env.root().join("root").display().to_string();
    let env = env.with_variable("SKILLS_ROOT", &named);
    fs::create_dir_all(env.project().join(".git")).unwrap();
    fs::create_dir_all(env.project().join("deep")).unwrap();
    for place in PLACES {
        put(&env, place, "same");
    }
    let mut order = Vec::new();
    for place in PLACES {
        order.push(winner(&env, &env.project().join("deep"), "same", "--skills-dir ../../given"));
        fs::remove_dir_all(env.root().join(place).join("same")).unwrap();
    }
    order.push(winner(&env, &env.project().join("deep"), "same", "--skills-dir ../../given"));
    assert_snapshot!(order.join("\n"), @"
    flag: From given. Use when asked. hides 12
    workspace: From home/.metier/workspace/skills. Use when asked. hides 11
    project: From project/deep/.metier/skills. Use when asked. hides 10
    project: From project/deep/.agents/skills. Use when asked. hides 9
    project: From project/deep/.claude/skills. Use when asked. hides 8
    project: From project/.metier/skills. Use when asked. hides 7
    project: From project/.agents/skills. Use when asked. hides 6
    project: From project/.claude/skills. Use when asked. hides 5
    user: From home/.agents/skills. Use when asked. hides 4
    user: From home/.claude/skills. Use when asked. hides 3
    managed: From home/.metier/skills. Use when asked. hides 2
    extra: From root. Use when asked. hides 1
    extra: From extra. Use when asked. hides 0
    nobody
    ");
}

#[test]
fn the_last_skills_dir_wins() {
    let env = environment();
    put(&env, "one", "same");
    put(&env, "two", "same");
    let flags = "--no-default-sources --skills-dir ../one --skills-dir ../two";
    assert_snapshot!(winner(&env, &env.project(), "same", flags), @"flag: From two. Use when asked. hides 1");
    let flags = "--no-default-sources --skills-dir ../two --skills-dir ../one";
    assert_snapshot!(winner(&env, &env.project(), "same", flags), @"flag: From one. Use when asked. hides 1");
}

#[test]
fn a_folder_named_by_a_point_is_shown_by_its_own_name() {
    let env = environment();
    put(&env, "one", "same");
    let told = run(&env, "skills explain same --no-default-sources --skills-dir ./../one/.");
    assert!(told.stdout.contains("/../one/same/SKILL.md (flag)"), "{told}");
    assert!(!told.stdout.contains("/./"), "{told}");
}

#[test]
fn no_default_sources_leaves_only_what_is_named() {
    let env = environment();
    for place in PLACES {
        put(&env, place, "same");
    }
    assert_snapshot!(winner(&env, &env.project(), "same", "--no-default-sources"), @"nobody");
    let listed = json(&run(&env, "skills list --json --no-default-sources --skills-dir ../given"));
    assert_eq!(listed["skills"].as_array().unwrap().len(), 1);
}

#[test]
fn bundled_skills_are_there_and_yield_to_the_users_own() {
    let env = environment();
    let listed = json(&run(&env, "skills list --json"));
    let bundled = listed["skills"].as_array().unwrap();
    assert!(bundled.iter().all(|skill| skill["source"] == "bundled"), "{bundled:?}");
    let name = bundled[0]["name"].as_str().unwrap();
    put(&env, "extra", name);
    let extra = env.root().join("extra").display().to_string();
    let env = env.with_variable("SKILLS_ROOT", &extra);
    assert!(winner(&env, &env.project(), name, "").starts_with("bundled: "));
    put(&env, "home/.metier/skills", name);
    assert!(winner(&env, &env.project(), name, "").starts_with("managed: "));
}

#[test]
fn a_root_may_be_a_folder_an_address_or_start_at_home() {
    let place = |value: &dyn Fn(&TestEnv) -> String| {
        let env = environment();
        put(&env, "home/mine", "one");
        let value = value(&env);
        let env = env.with_variable("SKILLS_ROOT", &value);
        winner(&env, &env.project(), "one", "")
    };
    let expected = "extra: From home/mine. Use when asked. hides 0";
    assert_eq!(place(&|env| env.home().join("mine").display().to_string()), expected);
    assert_eq!(place(&|env| format!("file://{}", env.home().join("mine").display())), expected);
    assert_eq!(place(&|_| "~/mine".to_owned()), expected);
    assert_eq!(place(&|_| "../home/mine".to_owned()), expected);
}

#[test]
fn a_project_reaches_from_the_repository_to_here() {
    let env = environment();
    put(&env, ".agents/skills", "above");
    put(&env, "project/.agents/skills", "top");
    put(&env, "project/deep/.agents/skills", "deep");
    put(&env, "project/deep/er/.agents/skills", "deeper");
    let found = |folder: &str| {
        let folder = env.root().join(folder);
        ["above", "top", "deep", "deeper"]
            .into_iter()
            .filter(|name| winner(&env, &folder, name, "") != "nobody")
            .collect::<Vec<_>>()
            .join(" ")
    };
    // Without a repository a project is the folder alone.
    assert_snapshot!(found("project/deep"), @"deep");
    fs::create_dir(env.project().join(".git")).unwrap();
    assert_snapshot!(found("project"), @"top");
    assert_snapshot!(found("project/deep"), @"top deep");
    assert_snapshot!(found("project/deep/er"), @"top deep deeper");
    // A repository inside another is a project of its own; a worktree has a file `.git`.
    env.write("project/deep/.git", "gitdir: elsewhere");
    assert_snapshot!(found("project/deep/er"), @"deep deeper");
}

#[test]
fn an_agent_has_a_workspace_of_its_own() {
    let env = environment();
    put(&env, "home/.metier/workspace/skills", "of-default");
    put(&env, "home/.metier/workspace-writer/skills", "of-writer");
    put(&env, "home/named/skills", "of-named");
    put(&env, "home/.metier/workspace-work/skills", "of-profile");
    env.write("home/.metier/config.toml", "agents.named.workspace = \"~/named\"");
    let found = |env: &TestEnv, flags: &str| {
        ["of-default", "of-writer", "of-named", "of-profile"]
            .into_iter()
            .filter(|name| winner(env, &env.project(), name, flags) != "nobody")
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_snapshot!(found(&env, ""), @"of-default");
    assert_snapshot!(found(&env, "--agent writer"), @"of-writer");
    assert_snapshot!(found(&env, "--agent named"), @"of-named");
    let env = env.with_variable("METIER_PROFILE", "work");
    assert_snapshot!(found(&env, ""), @"of-profile");
    assert_snapshot!(found(&env, "--agent writer"), @"of-writer");
}

#[test]
fn a_plugin_keeps_its_name_before_a_name_that_clashes() {
    let env = environment();
    env.write("home/.metier/plugins/tools/plugin.toml", "name = \"tools\"");
    put(&env, "home/.metier/plugins/tools/skills", "same");
    put(&env, "home/.metier/plugins/tools/skills", "own");
    env.write("home/.metier/plugins/bad/.claude-plugin/plugin.json", r#"{ "skills": "../../.." }"#);
    put(&env, "home/.agents/skills", "same");
    let names = ["same", "tools:same", "own"].map(|it| winner(&env, &env.project(), it, ""));
    assert_snapshot!(names.join("\n"), @"
    user: From home/.agents/skills. Use when asked. hides 0
    plugin: From home/.metier/plugins/tools/skills. Use when asked. hides 0
    plugin: From home/.metier/plugins/tools/skills. Use when asked. hides 0
    ");
    assert_snapshot!(problems(&run(&env, "skills list --skill nothing")), @"warning: [HOME]/.metier/plugins/bad/.claude-plugin/plugin.json: the folder `../../..` leads outside the plugin [M089]");
}

#[test]
fn a_home_that_is_reached_through_a_link_is_no_project() {
    let env = environment();
    put(&env, "home/.agents/skills", "mine");
    env.write("home/.metier/config.toml", "skills.extra_dirs = []");
    symlink(env.home(), env.root().join("way")).unwrap();
    let way = env.root().join("way");
    let env = env
        .with_variable("HOME", &way.display().to_string())
        .with_variable("METIER_HOME", &way.join(".metier").display().to_string());
    let here = env.home();
    let listed = env.run_in(&here, ["skills", "list", "--skill", "mine"], "");
    assert_eq!(problems(&listed), "");
    assert_snapshot!(listed.stdout, @"
    NAME  SOURCE  STATUS  TOKENS  DESCRIPTION
    mine  user    ready       12  From home/.agents/skills. Use when asked.
    ");
    assert_snapshot!(env.run_in(&here, ["trust"], ""), @"
    exit 2
    ----- stdout

    ----- stderr
    error: the state directory is not a project
    hint: name the project: `metier trust PATH`
    ");
}

#[test]
fn a_relative_place_leads_to_no_skill_of_a_project_that_is_not_trusted() {
    let env = environment();
    put(&env, "project/skills", "first");
    env.write("home/.metier/config.toml", "skills.extra_dirs = ['skills-more']");
    put(&env, "project/skills-more", "first");
    put(&env, "home/.metier/skills-more", "first");
    let expected = "extra: From home/.metier/skills-more. Use when asked. hides 0";
    assert_eq!(winner(&env, &env.project(), "first", ""), expected);
    env.write("home/.metier/config.toml", "");
    let env = env.with_variable("SKILLS_ROOT", "skills");
    let blocked = |env: &TestEnv| run(env, "exec first -- true").code != 0;
    assert!(blocked(&env), "nobody trusted the project");
    assert_eq!(run(&env, "trust").code, 0);
    assert!(!blocked(&env));
}

/// Returns whether a skill called `first`, which only the project has, runs without trust. Its places are written by
/// `prepare`, and the variable leads there.
fn is_run_untrusted(prepare: impl Fn(&TestEnv), (name, value): (&str, &str)) -> bool {
    let env = environment();
    fs::create_dir(env.project().join(".git")).expect("a new folder");
    prepare(&env);
    let env = env.with_variable(name, value);
    run(&env, "exec first -- true").code == 0
}

#[test]
fn no_way_to_write_a_relative_place_passes_for_an_absolute_one() {
    let pinned = format!("skills.zip#sha256={}", "0".repeat(64));
    let rows = [
        ("project/skills", ("SKILLS_ROOT", "file://skills")),
        ("project/skills", ("SKILLS_ROOT", "file://./skills")),
        ("project/skills", ("METIER_SKILLS_EXTRA_DIRS", "file://skills")),
        ("project/skills", ("METIER_SKILLS_EXTRA_DIRS", "[\"file://skills\"]")),
        ("project/skills.zip", ("SKILLS_ROOT", &*pinned)),
        ("project/~bob/skills", ("SKILLS_ROOT", "~bob/skills")),
    ];
    for (folder, variable) in rows {
        assert!(!is_run_untrusted(|env| put(env, folder, "first"), variable), "{variable:?}");
    }
    let from_file = |env: &TestEnv| {
        put(env, "project/skills", "first");
        env.write("home/.metier/config.toml", "skills.extra_dirs = ['file://skills']");
    };
    assert!(!is_run_untrusted(from_file, ("UNUSED", "")));
    let without_home = |env: &TestEnv| put(env, "project/~/skills", "first");
    let env = environment();
    without_home(&env);
    let state = env.home().join(".metier").display().to_string();
    let env = env.with_variable("HOME", "").with_variable("METIER_HOME", &state);
    let env = env.with_variable("SKILLS_ROOT", "~/skills");
    let refused = run(&env, "exec first -- true");
    assert_ne!(refused.code, 0);
    assert!(problems(&run(&env, "skills list")).contains("HOME is not set"), "{refused}");
}

#[test]
fn a_link_of_the_project_takes_no_relative_place_out_of_it() {
    for repository in [true, false] {
        let linked = |env: &TestEnv| {
            put(env, "elsewhere/skills", "first");
            symlink("../elsewhere/skills", env.project().join("skills")).unwrap();
            symlink("../elsewhere", env.project().join("way")).unwrap();
            if !repository {
                fs::remove_dir(env.project().join(".git")).unwrap();
            }
        };
        for place in ["skills", "./skills", "way/skills", "way/../elsewhere/skills"] {
            let is_run = is_run_untrusted(linked, ("SKILLS_ROOT", place));
            assert!(!is_run, "{place}, repository: {repository}");
        }
        // The person leaves the project without its help.
        assert!(is_run_untrusted(linked, ("SKILLS_ROOT", "../elsewhere/skills")));
    }
}

#[test]
fn a_relative_place_in_the_folder_with_the_state_directory_is_not_searched() {
    let env = environment();
    fs::create_dir(env.home().join(".git")).unwrap();
    put(&env, "home/downloads/skills", "first");
    let env = env.with_variable("SKILLS_ROOT", "skills");
    let downloads = env.home().join("downloads");
    let refused = env.run_in(&downloads, ["exec", "first", "--", "true"], "");
    assert_ne!(refused.code, 0);
    assert_snapshot!(env.run_in(&downloads, ["skills", "list", "--skill", "first"], ""), @"
    exit 0
    ----- stdout

    ----- stderr
    error: [HOME]/downloads/skills: a relative path is not searched in the folder that has the state directory, which cannot be trusted as a project [M080]
      hint: name the folder by its absolute path
    4 skills, 0 ready · catalog 0 of 4000 tokens · 4 switched off (--all shows them)
    ");

    let env = environment();
    put(&env, "project/skills", "first");
    let state = env.project().join(".metier").display().to_string();
    let env = env.with_variable("METIER_HOME", &state).with_variable("SKILLS_ROOT", "skills");
    assert_ne!(run(&env, "exec first -- true").code, 0);
    // A place that the person writes out is theirs.
    let absolute = env.project().join("skills").display().to_string();
    let env = env.with_variable("SKILLS_ROOT", &absolute);
    assert_eq!(run(&env, "exec first -- true").code, 0);
}

#[test]
fn a_project_plants_no_copy_of_an_archive() {
    let env = environment();
    let bytes = zip_of(&[("weather/SKILL.md", &weather("Of the archive."))]);
    let (archive, pin) = (env.write("a.zip", &bytes), sha256(&bytes));
    let archive = archive.display().to_string();
    env.write(
        "home/.metier/config.toml",
        format!("skills.extra_dirs = ['{archive}#sha256={pin}']"),
    );
    let key = &sha256(archive.as_bytes())[..32];
    put(&env, &format!("project/.cache/{key}/{pin}"), "first");
    let env = env.with_variable("SKILLS_CACHE_DIR", ".cache");
    assert_ne!(run(&env, "exec first -- true").code, 0);
    assert_eq!(run(&env, "exec weather -- true").code, 0);
    assert!(env.home().join(".metier/.cache").is_dir(), "it starts at the state directory");
}

#[test]
fn a_root_of_a_project_that_is_a_link_leads_nowhere_outside() {
    let env = environment();
    fs::create_dir_all(env.project().join(".git")).unwrap();
    fs::create_dir_all(env.project().join(".agents")).unwrap();
    put(&env, "elsewhere", "outside");
    put(&env, "project/.claude/skills", "inside");
    symlink("../../elsewhere", env.project().join(".agents/skills")).unwrap();
    symlink(".claude", env.project().join(".metier")).unwrap();
    let names = |env: &TestEnv| {
        let listed = json(&run(env, "skills list --all --json"));
        let skills = listed["skills"].as_array().unwrap().iter();
        let skills = skills.filter(|it| it["source"] == "project");
        skills.map(|it| it["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(&env), "inside");
    let listed = run(&env, "skills list --skill inside");
    assert_snapshot!(problems(&listed), @"
    warning: [PROJECT]: the project is not trusted, so its 2 skills are not used; look at what is there, then run `metier trust` [M086]
    error: [PROJECT]/.agents/skills: the folder is a link that leads outside the project, and is not searched [M083]
    ");
    assert_snapshot!(run(&env, "trust"), @"
    exit 0
    ----- stdout
    trusted: [PROJECT], 2 skills
      .claude/skills/inside
      .metier/skills/inside
    ----- stderr
    error: [PROJECT]/.agents/skills: the folder is a link that leads outside the project, and is not searched [M083]
      hint: move the skills into the project, or add the target to `skills.allow_symlink_targets`
    ");
    let elsewhere = env.root().join("elsewhere").display().to_string();
    let allowed = format!("skills.allow_symlink_targets = [{elsewhere:?}]");
    env.write("home/.metier/config.toml", allowed);
    assert_eq!(names(&env), "inside outside");
}
