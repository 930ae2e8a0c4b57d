//! `metier skills install-deps`: what is shown, who must agree, what is done, and what is refused.
//!
//! Package managers are small programs on the `PATH` of the test that write down how they were called
//! and bring a program, as the real ones would. Downloads come from a server on the loopback.

mod apart;
mod downloads;
mod waiting;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use insta::assert_snapshot;
use metier_testkit::{Outcome, Terminal, TestEnv};
use serde_json::Value;

use crate::{environment, json, own_tool_folder, write_skill};

/// What `tool` prints.
const TOOL: &str = "#!/bin/sh\necho \"tool says $1\"\n";

/// A skill `ship` that needs the program `tool`, and offers some ways to install it.
fn with_options(options: &str) -> TestEnv {
    let env = environment();
    let requires = "{requires: {bins: [tool]}";
    let header = format!(
        "name: ship\ndescription: Ships. Use when asked.\nmetadata: {{metier: {requires}, install: [{options}]}}}}"
    );
    write_skill(&env, "ship", &header);
    env
}

fn install(env: &TestEnv, rest: &[&str]) -> Outcome {
    let own = ["skills", "install-deps", "ship", "--no-default-sources", "--skills-dir", "skills"];
    tidy(env, env.run(own.iter().chain(rest)))
}

/// An outcome without the digest of the skill's folder.
fn tidy(env: &TestEnv, mut outcome: Outcome) -> Outcome {
    let folder = own_tool_folder(env, "ship");
    for text in [&mut outcome.stdout, &mut outcome.stderr] {
        *text = text.replace(&folder, "[SHIP]");
    }
    outcome
}

/// Where a program of a skill is linked.
fn link(env: &TestEnv, skill: &str, program: &str) -> PathBuf {
    let folder = env.home().join(".metier/tools").join(own_tool_folder(env, skill));
    metier_skill::install::tool_links(&folder).join(program)
}

fn explained(env: &TestEnv) -> Value {
    let words = "skills explain ship --json --no-default-sources --skills-dir skills";
    json(&env.run(words.split(' ')))
}

/// Runs the tool as a command of the skill, in the sandbox.
fn use_tool(env: &TestEnv) -> Outcome {
    let words =
        ["exec", "ship", "--session", "one", "--no-default-sources", "--skills-dir", "skills"];
    tidy(env, env.run(words.iter().chain(&["--quiet", "--", "tool hello; command -v tool"])))
}

/// Puts a package manager on the path: it writes down its arguments, its folder and some variables, and
/// then does something.
fn manager(env: &TestEnv, name: &str, then: &str) {
    let log = env.root().join("called").display().to_string();
    let text = format!(
        "#!/bin/sh\nPATH=$PATH:/usr/bin:/bin\n{{ echo {name} \"$@\"; echo \"in $(pwd)\"; env | \
         grep -E '^(GOBIN|UV_|NPM_|API_KEY|npm_config_)' | sort; }} >> {log}\n{then}\n"
    );
    let path = env.write(format!("bin/{name}"), text);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("its mode");
}

fn called(env: &TestEnv) -> String {
    let folder = own_tool_folder(env, "ship");
    let text = fs::read(env.root().join("called")).unwrap_or_default();
    env.without_paths(&text).replace(&folder, "[SHIP]")
}

/// What makes the program, in a folder that the shell knows.
fn bring(folder: &str) -> String {
    format!(
        "mkdir -p {folder} && printf '{}' > {folder}/tool && chmod +x {folder}/tool",
        TOOL.replace('\n', "\\n")
    )
}

#[test]
fn what_would_be_done_is_shown_and_nothing_is() {
    let env = with_options(
        "{kind: uv, package: 'tool[x]>=1', bins: [tool], label: The tool}, {kind: brew, formula: tool}",
    );
    manager(&env, "uv", &bring("$UV_TOOL_BIN_DIR"));
    assert_snapshot!(install(&env, &["--dry-run"]), @"
    exit 0
    ----- stdout
    ship needs tool
    uv-0  The tool
      $ UV_TOOL_BIN_DIR=[HOME]/.metier/tools/[SHIP]/uv-0/bin UV_TOOL_DIR=[HOME]/.metier/tools/[SHIP]/uv-0/tools uv tool install --no-build --python python3 'tool[x]>=1'
    ----- stderr
    ");
    assert_eq!(called(&env), "", "nothing was run");
    assert!(!env.home().join(".metier/tools").exists());
    let shown = json(&install(&env, &["--dry-run", "--json"]));
    assert_snapshot!(format!("{shown:#}"), @r#"
    {
      "version": 1,
      "name": "ship",
      "missing": {
        "bins": [
          "tool"
        ],
        "any_bins": [],
        "env": [],
        "config": [],
        "os": []
      },
      "options": [
        {
          "id": "uv-0",
          "label": "The tool",
          "kind": "uv",
          "bins": [
            "tool"
          ],
          "chosen": true,
          "obstacle": null,
          "commands": [
            {
              "arguments": [
                "uv",
                "tool",
                "install",
                "--no-build",
                "--python",
                "python3",
                "tool[x]>=1"
              ],
              "environment": {
                "UV_TOOL_BIN_DIR": "[HOME]/.metier/tools/[SHIP]/uv-0/bin",
                "UV_TOOL_DIR": "[HOME]/.metier/tools/[SHIP]/uv-0/tools"
              }
            }
          ]
        },
        {
          "id": "brew-1",
          "label": "tool (brew)",
          "kind": "brew",
          "bins": [],
          "chosen": false,
          "obstacle": "the program `brew` is not there",
          "commands": [
            {
              "arguments": [
                "brew",
                "install",
                "--formula",
                "tool"
              ],
              "environment": {}
            }
          ]
        }
      ],
      "refused": [],
      "unmet": [],
      "dry_run": true,
      "installed": [],
      "eligible": false,
      "still_missing": {
        "bins": [
          "tool"
        ],
        "any_bins": [],
        "env": [],
        "config": [],
        "os": []
      }
    }
    "#);
}

#[test]
fn nothing_is_installed_before_somebody_agreed() {
    let env = with_options("{kind: uv, package: tool, bins: [tool]}");
    manager(&env, "uv", &bring("$UV_TOOL_BIN_DIR"));
    for flags in [&[][..], &["--json"]] {
        let outcome = install(&env, flags);
        assert_eq!(outcome.code, 2, "{outcome}");
        assert!(
            outcome.stderr.contains("hint: `--yes` installs it; `--dry-run` only shows"),
            "{outcome}"
        );
    }
    assert_eq!(called(&env), "");
}

#[test]
fn a_person_at_a_terminal_is_asked_after_the_command_was_shown() {
    let env = with_options("{kind: uv, package: tool, bins: [tool]}");
    manager(&env, "uv", &bring("$UV_TOOL_BIN_DIR"));
    let start = || {
        let mut command = env.command(env.binary());
        command.args([
            "skills",
            "install-deps",
            "ship",
            "--no-default-sources",
            "--skills-dir",
            "skills",
        ]);
        Terminal::start(command, 200)
    };
    let mut terminal = start();
    terminal.wait_for("uv tool install --no-build --python python3 tool");
    terminal.wait_for("Install this? [y/N] ");
    terminal.write("\n");
    assert_eq!(terminal.finish().0, 1);
    assert_eq!(called(&env), "");
    let mut terminal = start();
    terminal.wait_for("Install this? [y/N] ");
    terminal.write("y\n");
    let (code, written, _) = terminal.finish();
    assert_eq!(code, 0, "{written}");
    assert!(written.contains("ship can be used"), "{written}");
}

#[test]
fn each_manager_is_called_with_its_arguments_in_a_folder_of_its_own() {
    let ways = [
        ("uv", "{kind: uv, package: tool, bins: [tool]}", "$UV_TOOL_BIN_DIR"),
        ("npm", "{kind: node, package: '@scope/tool@^1', bins: [tool]}", "$5/bin"),
        ("go", "{kind: go, module: 'example.com/tool@v1', bins: [tool]}", "$GOBIN"),
        ("cargo", "{kind: cargo, package: tool, bins: [tool]}", "$4/bin"),
    ];
    let mut calls = String::new();
    for (name, option, folder) in ways {
        let env = with_options(option)
            .with_variable("API_KEY", "not for managers")
            .with_variable("UV_INDEX_URL", "https://mirror.example.com")
            .with_variable("npm_config_registry", "https://mirror.example.com");
        manager(&env, name, &format!("echo progress; {}", bring(folder)));
        let outcome = install(&env, &["--yes"]);
        assert_eq!(outcome.code, 0, "{outcome}");
        assert_eq!(outcome.stdout.lines().last(), Some("ship can be used"), "{outcome}");
        assert!(outcome.stderr.contains("│ progress"), "{outcome}");
        calls.push_str(&called(&env));
        assert_eq!(explained(&env)["eligible"], true);
        let used = use_tool(&env);
        assert_eq!(
            used.stdout, "tool says hello\n[HOME]/.metier/tools/[SHIP]/.bin/tool\n",
            "{used}"
        );
    }
    assert_snapshot!(calls, @"
    uv tool install --no-build --python python3 tool
    in [HOME]/.metier/tools/[SHIP]
    UV_INDEX_URL=https://mirror.example.com
    UV_TOOL_BIN_DIR=[HOME]/.metier/tools/[SHIP]/uv-0/bin
    UV_TOOL_DIR=[HOME]/.metier/tools/[SHIP]/uv-0/tools
    npm install -g --ignore-scripts --prefix [HOME]/.metier/tools/[SHIP]/node-0 @scope/tool@^1
    in [HOME]/.metier/tools/[SHIP]
    npm_config_registry=https://mirror.example.com
    go install example.com/tool@v1
    in [HOME]/.metier/tools/[SHIP]
    GOBIN=[HOME]/.metier/tools/[SHIP]/go-0/bin
    cargo install --locked --root [HOME]/.metier/tools/[SHIP]/cargo-0 tool
    in [HOME]/.metier/tools/[SHIP]
    ");
}

#[test]
fn a_package_of_python_has_an_environment_of_its_own() {
    let env = with_options("{kind: pip, package: tool==1.0, bins: [tool]}");
    // Stands in for `python3 -m venv`, and then for the one that is in it.
    let python = "case \"$2\" in venv) mkdir -p $4/bin; cp \"$0\" $4/bin/python;; pip) ";
    manager(&env, "python3", &format!("{python}{};; esac", bring("$(dirname $0)")));
    let outcome = install(&env, &["--yes"]);
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_snapshot!(called(&env), @"
    python3 -m venv --clear [HOME]/.metier/tools/[SHIP]/pip-0
    in [HOME]/.metier/tools/[SHIP]
    python3 -m pip install --disable-pip-version-check --no-input --only-binary :all: tool==1.0
    in [HOME]/.metier/tools/[SHIP]
    ");
    assert_eq!(use_tool(&env).stdout, "tool says hello\n[HOME]/.metier/tools/[SHIP]/.bin/tool\n");
}

#[test]
fn a_manager_that_fails_or_brings_something_else_leaves_nothing() {
    let env = with_options("{kind: uv, package: tool, bins: [tool]}");
    manager(&env, "uv", "echo 'no such package' >&2; exit 3");
    assert_snapshot!(install(&env, &["--yes"]), @"
    exit 1
    ----- stdout
    ship needs tool
    uv-0  tool (uv)
      $ UV_TOOL_BIN_DIR=[HOME]/.metier/tools/[SHIP]/uv-0/bin UV_TOOL_DIR=[HOME]/.metier/tools/[SHIP]/uv-0/tools uv tool install --no-build --python python3 tool
    ----- stderr
    $ UV_TOOL_BIN_DIR=[HOME]/.metier/tools/[SHIP]/uv-0/bin UV_TOOL_DIR=[HOME]/.metier/tools/[SHIP]/uv-0/tools uv tool install --no-build --python python3 tool
    │ no such package
    error: `uv` failed with exit code 3
    hint: what it said stands above
    ");
    manager(&env, "uv", "mkdir -p $UV_TOOL_BIN_DIR; ln -s /bin/sh $UV_TOOL_BIN_DIR/tool");
    assert_snapshot!(install(&env, &["--yes"]), @"
    exit 1
    ----- stdout
    ship needs tool
    uv-0  tool (uv)
      $ UV_TOOL_BIN_DIR=[HOME]/.metier/tools/[SHIP]/uv-0/bin UV_TOOL_DIR=[HOME]/.metier/tools/[SHIP]/uv-0/tools uv tool install --no-build --python python3 tool
    ----- stderr
    $ UV_TOOL_BIN_DIR=[HOME]/.metier/tools/[SHIP]/uv-0/bin UV_TOOL_DIR=[HOME]/.metier/tools/[SHIP]/uv-0/tools uv tool install --no-build --python python3 tool
    error: `tool` is not a file of what was installed
    hint: the option did not bring what the skill says: try another, or ask the author of the skill
    ");
    manager(&env, "uv", "mkdir -p $UV_TOOL_BIN_DIR; cp /bin/sh $UV_TOOL_BIN_DIR/git");
    let outcome = install(&env, &["--yes"]);
    assert_eq!(outcome.code, 1, "{outcome}");
    assert!(!link(&env, "ship", "git").exists(), "only what was declared is linked");
    assert!(!link(&env, "ship", "tool").exists());
}

#[test]
fn what_a_manager_writes_does_nothing_to_the_terminal() {
    let env = with_options("{kind: uv, package: tool, bins: [tool]}");
    manager(
        &env,
        "uv",
        &format!("printf '\\033]0;title\\007\\033[2J\\n'; {}", bring("$UV_TOOL_BIN_DIR")),
    );
    let outcome = install(&env, &["--yes"]);
    assert!(
        !outcome.stderr.contains("\u{1b}]") && !outcome.stderr.contains("\u{1b}[2J"),
        "{outcome}"
    );
}

#[test]
fn a_hostile_option_is_named_and_never_run() {
    let env = with_options(
        "{kind: brew, formula: '--cask', id: evil}, {kind: uv, package: 'git+ssh://x/y'}, \
         {kind: download, url: 'file:///etc/passwd'}, {kind: download, url: 'https://x/y', targetDir: '../..'}",
    );
    for name in ["brew", "uv"] {
        manager(&env, name, "true");
    }
    assert_snapshot!(install(&env, &["--yes"]), @"
    exit 1
    ----- stdout
    ship needs tool
    refused: the option `evil`: `--cask` is not a target for `brew`
    refused: the option `#2`: `git+ssh://x/y` is not a target for `uv`
    refused: the option `#3`: `file:///etc/passwd` is not a target for `download`
    refused: the option `#4`: `../..` is not a folder below that of the skill's tools
    ----- stderr
    error: no install option brings tool
    hint: install it yourself, so that it is on the PATH
    ");
    assert_snapshot!(install(&env, &["--yes", "--option", "evil"]), @"
    exit 1
    ----- stdout

    ----- stderr
    error: the option `evil` is refused: `--cask` is not a target for `brew`
    hint: ask the author of the skill to correct it
    ");
    assert_eq!(called(&env), "");
    let told = explained(&env);
    assert_snapshot!(told["blocks"][0]["remedy"].as_str().unwrap(), @"install tool; the install option `evil` is refused: `--cask` is not a target for `brew`; the install option `#2` is refused: `git+ssh://x/y` is not a target for `uv`; the install option `#3` is refused: `file:///etc/passwd` is not a target for `download`; the install option `#4` is refused: `../..` is not a folder below that of the skill's tools");
    let problems: Vec<&str> =
        told["problems"].as_array().unwrap().iter().filter_map(|it| it["code"].as_str()).collect();
    assert_eq!(problems, ["M047"; 4]);
}

#[test]
fn an_option_is_chosen_by_its_id() {
    let env = with_options(
        "{kind: uv, package: tool, bins: [tool]}, {kind: cargo, package: tool, id: mine}",
    );
    manager(&env, "uv", &bring("$UV_TOOL_BIN_DIR"));
    manager(&env, "cargo", &bring("$4/bin"));
    assert_snapshot!(install(&env, &["--yes", "--option", "other"]), @"
    exit 2
    ----- stdout

    ----- stderr
    error: there is no option `other`
    hint: there is `uv-0`, `mine`
    ");
    assert_eq!(install(&env, &["--yes", "--option", "mine"]).code, 0);
    assert!(called(&env).starts_with("cargo install"), "{}", called(&env));
    let env = with_options("{kind: brew, formula: tool, bins: [tool]}");
    assert_snapshot!(install(&env, &["--yes"]), @"
    exit 1
    ----- stdout
    ship needs tool
    brew-0  tool (brew)
      $ brew install --formula tool
      not here: the program `brew` is not there
    ----- stderr
    error: no install option brings tool
    hint: what stands above cannot be used here; install it yourself
    ");
    assert_snapshot!(install(&env, &["--yes", "--option", "brew-0"]), @"
    exit 1
    ----- stdout

    ----- stderr
    error: the option `brew-0` cannot be used here: the program `brew` is not there
    hint: install `brew`
    ");
    let env = with_options(
        "{kind: brew, formula: tool}, {kind: uv, package: tool, os: [macos], id: theirs}, \
         {kind: cargo, package: tool}",
    );
    manager(&env, "cargo", &bring("$4/bin"));
    manager(&env, "uv", "true");
    assert_snapshot!(install(&env, &["--yes", "--option", "brew-0"]).stderr, @"
    error: the option `brew-0` cannot be used here: the program `brew` is not there
    hint: install `brew`, or use another option: `cargo-2`
    ");
    assert_snapshot!(install(&env, &["--yes", "--option", "theirs"]).stderr, @"
    error: the option `theirs` cannot be used here: it is for macos
    hint: another option may do: `cargo-2`
    ");
}

#[test]
fn nothing_is_installed_for_a_skill_that_is_not_trusted_or_switched_off() {
    let option = "{kind: uv, package: tool, bins: [tool]}";
    let env = with_options(option);
    manager(&env, "uv", &bring("$UV_TOOL_BIN_DIR"));
    fs::create_dir_all(env.project().join(".agents")).unwrap();
    fs::rename(env.project().join("skills"), env.project().join(".agents/skills")).unwrap();
    let outcome = env.run(["skills", "install-deps", "ship", "--yes"]);
    assert_snapshot!(outcome, @"
    exit 1
    ----- stdout

    ----- stderr
    error: nothing is installed for `ship`: the project is not trusted
    hint: look at its files, then run `metier trust`
    ");
    let env = with_options(option);
    manager(&env, "uv", &bring("$UV_TOOL_BIN_DIR"));
    env.write("home/.metier/config.toml", "skills.denied = ['ship']");
    assert_eq!(install(&env, &["--yes"]).code, 1);
    assert_eq!(called(&env), "");
}
