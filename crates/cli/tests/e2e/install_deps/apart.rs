//! Programs that were installed for one skill, and what another skill finds of them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use metier_testkit::{Outcome, TestEnv};

use super::{link, manager};
use crate::{environment, json, own_tool_folder, write_skill};

const SOURCES: [&str; 3] = ["--no-default-sources", "--skills-dir", "skills"];

/// Skills that need programs of the same name and bring different ones.
fn with_skills() -> TestEnv {
    let env = environment();
    for (name, key) in [("ship", ""), ("boat", ""), ("raft", ", skillKey: barge")] {
        let header = format!(
            "name: {name}\ndescription: Goes. Use when asked.\nmetadata: {{metier: {{requires: \
             {{bins: [tool]}}{key}, install: [{{kind: uv, package: {name}-tool, bins: [tool]}}]}}}}"
        );
        write_skill(&env, name, &header);
    }
    // Each package brings a program that says whose it is.
    let bring = "for package; do :; done; mkdir -p $UV_TOOL_BIN_DIR; cd $UV_TOOL_BIN_DIR; \
                 printf '#!/bin/sh\\necho from %s\\n' $package > tool; chmod +x tool";
    manager(&env, "uv", bring);
    env
}

fn install(env: &TestEnv, skill: &str) -> Outcome {
    env.run(["skills", "install-deps", skill, "--yes"].iter().chain(&SOURCES))
}

fn is_eligible(env: &TestEnv, skill: &str) -> bool {
    let explained = json(&env.run(["skills", "explain", skill, "--json"].iter().chain(&SOURCES)));
    explained["eligible"] == true
}

/// Runs a command as one of a skill, in one session with all others.
fn run(env: &TestEnv, skill: &str, command: &str) -> Outcome {
    let words = ["exec", skill, "--session", "one", "--quiet"];
    env.run(words.iter().chain(&SOURCES).chain(&["--", command]))
}

/// The program that a package brought, wherever the layout puts it.
fn program_of(env: &TestEnv, package: &str) -> PathBuf {
    let mut folders = vec![env.home().join(".metier/tools")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").map(|it| it.expect("an entry")) {
            let kind = entry.file_type().expect("its type");
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file()
                && fs::read_to_string(entry.path()).is_ok_and(|it| it.contains(package))
            {
                return entry.path();
            }
        }
    }
    panic!("no program of {package} was installed");
}

#[test]
fn installing_for_one_skill_replaces_no_program_of_another() {
    let env = with_skills();
    assert_eq!(install(&env, "ship").code, 0);
    assert!(is_eligible(&env, "ship"));
    assert!(!is_eligible(&env, "boat"), "the program of another skill is not there for it");
    let outcome = install(&env, "boat");
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(run(&env, "ship", "tool").stdout, "from ship-tool\n");
    assert_eq!(run(&env, "boat", "tool").stdout, "from boat-tool\n");
}

#[test]
fn a_skill_neither_finds_nor_reads_programs_of_another() {
    let env = with_skills();
    assert_eq!(install(&env, "ship").code, 0);
    assert_eq!(install(&env, "boat").code, 0);
    let other = program_of(&env, "ship-tool");
    let folder = other.parent().and_then(|it| it.parent()).unwrap();
    let command = format!(
        "echo $PATH | tr : '\\n' | grep -c tools; cat {0} && echo read; {0} && echo ran; ls {1} && echo listed; true",
        other.display(),
        folder.display()
    );
    assert_eq!(run(&env, "boat", &command).stdout, "1\n");
}

#[test]
fn a_claimed_key_leads_to_no_tools_of_the_skill_that_has_this_name_later() {
    let env = with_skills();
    assert_eq!(install(&env, "raft").code, 0);
    assert!(is_eligible(&env, "raft"));
    let header = "name: barge\ndescription: Goes. Use when asked.\nmetadata: {metier: {requires: {bins: [tool]}}}";
    write_skill(&env, "barge", header);
    assert!(!is_eligible(&env, "barge"));
}

#[test]
fn programs_of_an_older_layout_go_to_the_skill_they_were_installed_for() {
    let env = with_skills();
    for skill in ["ship", "boat"] {
        assert_eq!(install(&env, skill).code, 0);
    }
    // As before: one folder of links for all, in which the skill that came later has won.
    let tools = env.home().join(".metier/tools");
    let target = fs::read_link(link(&env, "boat", "tool")).unwrap();
    for skill in ["ship", "boat"] {
        fs::remove_dir_all(tools.join(own_tool_folder(&env, skill)).join(".bin")).unwrap();
    }
    fs::create_dir(tools.join("bin")).unwrap();
    symlink(target, tools.join("bin/tool")).unwrap();
    symlink("/bin/sh", tools.join("bin/other")).unwrap();
    assert!(is_eligible(&env, "boat"));
    assert!(
        !is_eligible(&env, "ship"),
        "its program was replaced, so it needs to be installed again"
    );
    assert_eq!(run(&env, "boat", "tool; command -v other").stdout, "from boat-tool\n");
    assert!(!tools.join("bin/tool").exists());
    assert!(tools.join("bin/other").is_symlink(), "what metier did not make stays");
}

/// Two skills called `wx` that the person keeps, in the sources of these folders; both need the program `tool`.
fn with_two_own() -> (TestEnv, [&'static str; 2]) {
    let env = environment();
    let folders = ["home/.claude/skills", "home/.metier/workspace/skills"];
    for folder in folders {
        keep(&env, folder);
    }
    let bring = "mkdir -p $UV_TOOL_BIN_DIR; cd $UV_TOOL_BIN_DIR; \
                 printf '#!/bin/sh\\necho from uv\\n' > tool; chmod +x tool";
    manager(&env, "uv", bring);
    (env, folders)
}

fn keep(env: &TestEnv, folder: &str) {
    let header = "---\nname: wx\ndescription: Goes. Use when asked.\nmetadata: {metier: {requires: \
                  {bins: [tool]}, install: [{kind: uv, package: wx-tool, bins: [tool]}]}}\n---\n";
    env.write(format!("{folder}/wx/SKILL.md"), header);
}

/// What a run of the skill `wx` prints that calls its program.
fn tool(env: &TestEnv) -> String {
    env.run(["exec", "wx", "--quiet", "--", "tool"]).stdout
}

#[test]
fn two_own_skills_of_one_name_have_tools_of_their_own() {
    let (env, [_, workspace]) = with_two_own();
    assert_eq!(env.run(["skills", "install-deps", "wx", "--yes"]).code, 0);
    assert_eq!(tool(&env), "from uv\n");
    // The other one has the name now, and nothing was installed for it.
    fs::rename(env.root().join(workspace), env.root().join("away")).unwrap();
    assert_eq!(tool(&env), "");
    fs::rename(env.root().join("away"), env.root().join(workspace)).unwrap();
    assert_eq!(tool(&env), "from uv\n");
}

#[test]
fn tools_by_name_count_for_a_single_skill_only() {
    let (env, [_, workspace]) = with_two_own();
    let place = format!("{}/.bin", metier_skill::install::tool_folder("wx"));
    let program =
        env.write(format!("home/.metier/tools/{place}/tool"), "#!/bin/sh\necho by name\n");
    fs::set_permissions(program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(tool(&env), "", "two skills have the name");
    fs::remove_dir_all(env.root().join(workspace)).unwrap();
    assert_eq!(tool(&env), "by name\n");
}
