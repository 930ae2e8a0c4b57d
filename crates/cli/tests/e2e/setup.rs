//! `metier setup`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use insta::assert_snapshot;
use metier_testkit::{Terminal, TestEnv};

use crate::{environment, json, run};

/// The permissions of a file or folder.
fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

fn config(env: &TestEnv) -> String {
    env.without_paths(&fs::read(env.home().join(".metier/config.toml")).unwrap_or_default())
}

/// Only the skills of this test: bundled ones come and go.
fn without_bundled() -> TestEnv {
    let env = environment();
    env.write("home/.metier/config.toml", "# mine\nskills.allowed = ['keyed', 'tooled']\n");
    env
}

#[test]
fn the_folder_is_made_and_written_down_once() {
    let env = without_bundled();
    let first = env.run(["setup", "--workspace", "../home/agent"]);
    assert_snapshot!(first, @r#"
    exit 0
    ----- stdout
    made [HOME]/agent
    ----- stderr
    agents.defaults.workspace is [HOME]/agent now, in [HOME]/.metier/config.toml
    next:
      metier skills list  the 0 skills that are ready, and the others
      metier run "…"  a task, in your words
      metier chat  a conversation
      metier skills new my-skill --dir [HOME]/agent/skills  a skill of your own
    "#);
    assert_snapshot!(config(&env), @r#"
    # mine
    skills.allowed = ['keyed', 'tooled']

    [agents.defaults]
    workspace = "[HOME]/agent"
    "#);
    assert_eq!(mode(&env.home().join("agent")), 0o700);
    assert_eq!(mode(&env.home().join("agent/skills")), 0o700);
    let before = config(&env);
    let again = env.run(["setup", "--workspace", "../home/agent"]);
    assert_snapshot!(again.stdout, @"there already: [HOME]/agent");
    assert_eq!(config(&env), before);
    env.write("home/.metier/config.toml", before.replace("[HOME]", "~"));
    assert_eq!(env.run(["setup", "--workspace", "../home/agent"]).code, 0);
    assert!(config(&env).contains("\"~/agent\""), "what says the same stays as it is written");
    env.skill("home/agent/skills", "keyed", "Mine. Use when asked.");
    let listed = json(&run(&env, "skills list --json"));
    assert_eq!(listed["skills"][0]["source"], "workspace");
}

#[test]
fn a_folder_that_is_set_already_is_changed_only_when_somebody_agrees() {
    let env = without_bundled();
    assert_eq!(env.run(["setup", "--workspace", "one"]).code, 0);
    let before = config(&env);
    assert_snapshot!(env.run(["setup", "--workspace", "two"]), @r#"
    exit 2
    ----- stdout

    ----- stderr
    agents.defaults.workspace is "[PROJECT]/one" ([HOME]/.metier/config.toml:5)
    error: a setting that is there already is not changed unasked
    hint: `--yes` agrees to it
    "#);
    assert_eq!(config(&env), before);
    assert!(!env.project().join("two").exists());
    assert_eq!(env.run(["setup", "--workspace", "two", "--yes"]).code, 0);
    assert_snapshot!(config(&env), @r#"
    # mine
    skills.allowed = ['keyed', 'tooled']

    [agents.defaults]
    workspace = "[PROJECT]/two"
    "#);
}

#[test]
fn a_folder_that_cannot_be_made_is_not_written_down() {
    let env = without_bundled();
    env.write("project/file", "");
    let before = config(&env);
    let outcome = env.run(["setup", "--workspace", "file/agent"]);
    assert_eq!(outcome.code, 1, "{outcome}");
    assert!(outcome.stderr.contains("hint: name another folder"), "{outcome}");
    assert_eq!(config(&env), before);
}

#[test]
fn without_flags_and_without_a_terminal_nothing_is_written_down() {
    let env = without_bundled();
    let before = config(&env);
    assert_eq!(run(&env, "setup").code, 0);
    assert_eq!(config(&env), before);
    assert!(env.home().join(".metier/workspace/skills").is_dir());
}

#[test]
fn a_setting_is_added_to_a_table_in_one_line() {
    let env = environment();
    env.write("home/.metier/config.toml", "agents = { writer = { skills = [] } }\n");
    let outcome = env.run(["setup", "--workspace", "one"]);
    assert_eq!(outcome.code, 0, "{outcome}");
    let text = config(&env);
    assert!(text.starts_with("agents = { writer = { skills = [] } , defaults = {"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

fn with_keyed_skill() -> TestEnv {
    let env = without_bundled();
    let metadata = "{metier: {primaryEnv: KEYED_KEY, requires: {env: [KEYED_KEY]}}}";
    env.write(
        "home/.agents/skills/keyed/SKILL.md",
        format!(
            "---\nname: keyed\ndescription: Keyed. Use when asked.\nmetadata: {metadata}\n---\n"
        ),
    );
    let metadata =
        "{metier: {requires: {bins: [tool]}, install: [{kind: uv, package: tool, bins: [tool]}]}}";
    env.write(
        "home/.agents/skills/tooled/SKILL.md",
        format!(
            "---\nname: tooled\ndescription: Tooled. Use when asked.\nmetadata: {metadata}\n---\n"
        ),
    );
    let uv = env.write(
        "bin/uv",
        "#!/bin/sh\n/bin/mkdir -p $UV_TOOL_BIN_DIR; echo '#!/bin/sh' > $UV_TOOL_BIN_DIR/tool\n/bin/chmod +x $UV_TOOL_BIN_DIR/tool\n",
    );
    fs::set_permissions(uv, fs::Permissions::from_mode(0o755)).expect("its mode");
    env
}

#[test]
fn what_skills_miss_is_told_where_nobody_can_be_asked() {
    assert_snapshot!(run(&with_keyed_skill(), "setup").stderr, @r#"
    tooled needs tool: `metier skills install-deps tooled`
    keyed needs a key: set KEYED_KEY, or `skills.entries.keyed.api_key`
    next:
      metier skills list  the 0 skills that are ready, and the others
      metier run "…"  a task, in your words
      metier chat  a conversation
      metier skills new my-skill --dir [HOME]/.metier/workspace/skills  a skill of your own
    "#);
}

#[test]
fn a_person_is_asked_and_a_key_is_never_shown() {
    let env = with_keyed_skill();
    let mut command = env.command(env.binary());
    command.arg("setup");
    let mut terminal = Terminal::start(command, 200);
    terminal.wait_for("Folder of the agent [");
    terminal.write("~/agent\n");
    terminal.wait_for("tooled needs tool. See how to install it? [y/N] ");
    terminal.write("y\n");
    terminal.wait_for("uv tool install --no-build --python python3 tool");
    terminal.wait_for("Install this? [y/N] ");
    terminal.write("y\n");
    terminal.wait_for("Key for keyed (KEYED_KEY), not shown; empty for none: ");
    terminal.write("s3cret-value\n");
    let (code, written, _) = terminal.finish();
    assert_eq!(code, 0, "{written}");
    assert!(!written.contains("s3cret-value"), "{written}");
    assert_snapshot!(config(&env), @r#"
    # mine
    skills.allowed = ['keyed', 'tooled']

    [agents.defaults]
    workspace = "[HOME]/agent"

    [skills.entries.keyed]
    api_key = "s3cret-value"
    "#);
    assert_eq!(mode(&env.home().join(".metier/config.toml")), 0o600);
    assert!(env.home().join("agent/skills").is_dir());
    let listed = json(&run(&env, "skills list --json"));
    let ready = listed["skills"].as_array().unwrap().iter().filter(|it| it["eligible"] == true);
    assert_eq!(ready.count(), 2, "{listed:#}");
    let shown = run(&env, "config show").stdout;
    assert!(!shown.contains("s3cret-value") && shown.contains("****"), "{shown}");
}

#[test]
fn interrupting_the_question_for_a_key_keeps_nothing_and_shows_typing_again() {
    let env = with_keyed_skill();
    let mut command = env.command("/bin/sh");
    let binary = env.binary().display().to_string();
    command.args(["-c", &format!("{binary} setup; echo ended $?; /bin/stty -a")]);
    let mut terminal = Terminal::start(command, 200);
    terminal.wait_for("Folder of the agent [");
    terminal.write("\n");
    terminal.wait_for("See how to install it? [y/N] ");
    terminal.write("n\n");
    terminal.wait_for("empty for none: ");
    terminal.write("half\u{3}");
    terminal.wait_for("ended 130");
    let (_, written, _) = terminal.finish();
    assert!(!written.contains("half"), "{written}");
    assert!(!written.contains("-echo ") && !written.contains("-isig "), "{written}");
    assert!(!config(&env).contains("api_key"), "{}", config(&env));
}
