//! `metier mcp install`: the files of other agents, in a home of their own.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use insta::assert_snapshot;
use metier_testkit::{Outcome, Terminal, TestEnv};

use crate::{environment, run};

const CLIENTS: [&str; 10] = [
    "claude-code",
    "claude-desktop",
    "codex",
    "cursor",
    "vscode",
    "windsurf",
    "zed",
    "gemini",
    "opencode",
    "goose",
];

/// A text without the place of this build.
fn masked(env: &TestEnv, text: &str) -> String {
    text.replace(&*env.binary().to_string_lossy(), "[METIER]")
}

fn outcome(env: &TestEnv, line: &str) -> Outcome {
    let outcome = run(env, line);
    Outcome {
        code: outcome.code,
        stdout: masked(env, &outcome.stdout),
        stderr: masked(env, &outcome.stderr),
    }
}

fn file(env: &TestEnv, path: &str) -> String {
    let bytes = fs::read(env.root().join(path)).expect("the file is there");
    masked(env, &env.without_paths(&bytes))
}

#[test]
fn each_client_gets_its_own_file_in_its_own_words() {
    let mut seen = String::new();
    for client in CLIENTS {
        let env = environment();
        let installed = outcome(&env, &format!("mcp install {client} --yes"));
        assert_eq!(installed.code, 0, "{installed}");
        let path = installed.stdout.lines().next().expect("the file is named first").to_owned();
        let place = path.replace("[HOME]", "home");
        seen += &format!("== {client}: {path}\n{}\n", file(&env, &place));
        let again = outcome(&env, &format!("mcp install {client}"));
        assert!(again.code == 0 && again.stdout.starts_with("there already: "), "{again}");
        let removed = outcome(&env, &format!("mcp install {client} --remove --yes"));
        assert_eq!(removed.code, 0, "{removed}");
        assert!(!file(&env, &place).contains("metier"), "{}", file(&env, &place));
        let again = outcome(&env, &format!("mcp install {client} --remove"));
        assert!(again.code == 0 && again.stdout.starts_with("not there: "), "{again}");
    }
    assert_snapshot!(seen);
}

#[test]
fn what_is_written_is_what_a_client_starts_and_it_answers() {
    let env = environment();
    let folder = env.skill("project/more", "one", "Does one thing. Use when asked.");
    let line = "mcp install cursor --yes --skills-dir more --executor sandbox --agent writer \
                --mcp https://skills.invalid/mcp --skill one --no-default-sources";
    assert_eq!(outcome(&env, line).code, 0);
    let text = fs::read_to_string(env.home().join(".cursor/mcp.json")).expect("it is written");
    let document: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let entry = &document["mcpServers"]["metier"];
    let words: Vec<&str> =
        entry["args"].as_array().expect("a list").iter().filter_map(|it| it.as_str()).collect();
    let skills = folder.parent().expect("a folder").to_str().expect("text");
    let wanted = format!(
        "mcp --executor sandbox --skills-dir {skills} --mcp https://skills.invalid/mcp --skill one --agent writer \
         --no-default-sources"
    );
    assert_eq!(words.join(" "), wanted);
    let mut command = env.command(entry["command"].as_str().expect("a program"));
    command.args(words).current_dir(env.root());
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    let answer = env.finish(command, format!("{hello}\n"));
    assert!(answer.stdout.contains("\"id\":1"), "{answer}");
    assert!(answer.stdout.contains("\"result\""), "{answer}");
}

#[test]
fn the_change_is_shown_and_nothing_is_written_unasked() {
    let env = environment();
    let text = "{\n  // mine\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\",\n      \"env\": { \"KEY\": \"secret\" }\n    }\n  }\n}\n";
    env.write("home/.cursor/mcp.json", text);
    assert_snapshot!(outcome(&env, "mcp install cursor"), @r#"
    exit 2
    ----- stdout
    [HOME]/.cursor/mcp.json
    line 8:
    +     "metier": {
    +       "command": "[METIER]",
    +       "args": ["mcp"]
    +     }
    ----- stderr
    note: `[METIER]` is a build, and works as long as that folder is there
    error: a file of another program is not changed unasked
    hint: `--yes` agrees to it, `--print` only shows it
    "#);
    assert_eq!(file(&env, "home/.cursor/mcp.json"), text);
    assert_snapshot!(outcome(&env, "mcp install cursor --print"), @r#"
    exit 0
    ----- stdout
    {
      "mcpServers": {
        "metier": {
          "command": "[METIER]",
          "args": ["mcp"]
        }
      }
    }
    ----- stderr
    note: `[METIER]` is a build, and works as long as that folder is there
    for Cursor, in [HOME]/.cursor/mcp.json:
    "#);
    assert_eq!(file(&env, "home/.cursor/mcp.json"), text);
    assert_eq!(outcome(&env, "mcp install cursor --yes").code, 0);
    assert_snapshot!(file(&env, "home/.cursor/mcp.json"), @r#"
    {
      // mine
      "mcpServers": {
        "other": {
          "command": "x",
          "env": { "KEY": "secret" }
        },
        "metier": {
          "command": "[METIER]",
          "args": ["mcp"]
        }
      }
    }
    "#);
    assert_snapshot!(outcome(&env, "mcp install cursor --agent writer"), @r#"
    exit 2
    ----- stdout
    [HOME]/.cursor/mcp.json
    line 10:
    -       "args": ["mcp"]
    +       "args": ["mcp", "--agent", "writer"]
    ----- stderr
    note: `[METIER]` is a build, and works as long as that folder is there
    error: a file of another program is not changed unasked
    hint: `--yes` agrees to it, `--print` only shows it
    "#);
    assert_snapshot!(outcome(&env, "mcp install cursor --remove --print"), @r#"
    exit 0
    ----- stdout
    [HOME]/.cursor/mcp.json
    line 8:
    -     "metier": {
    -       "command": "[METIER]",
    -       "args": ["mcp"]
    -     }
    ----- stderr
    "#);
    assert_eq!(outcome(&env, "mcp install cursor --remove --yes").code, 0);
    assert_eq!(file(&env, "home/.cursor/mcp.json"), text);
}

#[test]
fn what_would_not_be_written_down_is_refused() {
    let env = environment();
    assert_snapshot!(outcome(&env, "mcp install cursor --yes --trust-project"), @"
    exit 2
    ----- stdout

    ----- stderr
    error: `--trust-project` is not written down: it would trust every project that the agent is used in
    hint: `metier trust` trusts this one
    ");
    assert_snapshot!(outcome(&env, "mcp install cursor --yes --skills-dir https://skills.invalid/a.zip"), @"
    exit 2
    ----- stdout

    ----- stderr
    error: `https://skills.invalid/a.zip` is no folder
    hint: `--skills-dir` takes folders; archives are named by the setting `skills.extra_dirs`; settings go into `[HOME]/.metier/config.toml`
    ");
    let http = "--http http://127.0.0.1:7777/mcp --token-env TOKEN";
    for line in [
        "mcp install cursor --yes --skills-dir nope".to_owned(),
        "mcp install cursor --yes --mcp ./server.py".to_owned(),
        "mcp install cursor --yes --mcp https://me:secret@skills.invalid/mcp".to_owned(),
        format!("mcp install cursor --yes {http} --agent writer"),
        format!("mcp install cursor --yes {http} --no-skills"),
        format!("mcp install cursor --yes {http} --executor sandbox"),
        format!("mcp install cursor --remove --yes {http}"),
        "mcp install cursor --remove --yes --skills-dir .".to_owned(),
        "mcp install cursor --list".to_owned(),
        "mcp install --list --remove --yes".to_owned(),
        "mcp install --list --agent writer".to_owned(),
        "mcp install cursor --yes --json".to_owned(),
        "mcp --session x install cursor --yes".to_owned(),
        "mcp --executor sandbox install cursor --yes".to_owned(),
    ] {
        let refused = outcome(&env, &line);
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{line}: {refused}");
    }
    assert!(!env.home().join(".cursor").exists());
}

#[test]
fn a_link_of_a_project_that_leads_out_of_it_is_not_followed() {
    let env = environment();
    env.write("project/.git/HEAD", "");
    let text = "{}\n";
    env.write("home/.cursor/mcp.json", text);
    symlink(env.home().join(".cursor"), env.project().join(".cursor")).expect("a link");
    symlink("../home/.cursor/mcp.json", env.project().join(".mcp.json")).expect("a link");
    assert_snapshot!(outcome(&env, "mcp install cursor --scope project --yes"), @"
    exit 1
    ----- stdout

    ----- stderr
    error: `[PROJECT]/.cursor/mcp.json` leads out of the project, to `[HOME]/.cursor/mcp.json`
    hint: put a file in place of the link, or leave out `--scope project`
    ");
    for line in ["claude-code --yes", "claude-code --print", "cursor --remove --yes"] {
        let refused = outcome(&env, &format!("mcp install --scope project {line}"));
        assert_eq!(refused.code, 1, "{refused}");
    }
    assert_eq!(file(&env, "home/.cursor/mcp.json"), text);
    env.write("project/shared/mcp.json", text);
    symlink("shared", env.project().join(".vscode")).expect("a link");
    assert_snapshot!(outcome(&env, "mcp install vscode --scope project --yes"), @r#"
    exit 0
    ----- stdout
    [PROJECT]/.vscode/mcp.json -> [PROJECT]/shared/mcp.json
    line 3:
    +     "metier": {
    +       "type": "stdio",
    +       "command": "[METIER]",
    +       "args": ["mcp"]
    +     }
    ----- stderr
    note: `[METIER]` is a build, and works as long as that folder is there
    written; VS Code uses it once it has been restarted
    "#);
}

#[test]
fn a_person_at_a_terminal_is_asked() {
    for (answer, code) in [("n", 1), ("y", 0)] {
        let env = environment();
        let mut command = env.command(env.binary());
        command.args(["mcp", "install", "zed"]);
        let mut terminal = Terminal::start(command, 120);
        terminal.wait_for("Write it? [y/N]");
        terminal.write(&format!("{answer}\n"));
        let (ended, shown, _) = terminal.finish();
        assert_eq!(ended, code, "{shown}");
        assert_eq!(env.home().join(".config/zed/settings.json").exists(), code == 0);
    }
}

#[test]
fn a_file_that_is_not_understood_is_left_alone_and_the_entry_shown() {
    let env = environment();
    let text = "{ \"servers\": [";
    env.write("home/.config/Code/User/mcp.json", text);
    assert_snapshot!(outcome(&env, "mcp install vscode --yes"), @r#"
    exit 1
    ----- stdout
    {
      "servers": {
        "metier": {
          "type": "stdio",
          "command": "[METIER]",
          "args": ["mcp"]
        }
      }
    }
    ----- stderr
    note: `[METIER]` is a build, and works as long as that folder is there
    error: `[HOME]/.config/Code/User/mcp.json` is not understood well enough to be changed, and was left as it is
    hint: add what is shown yourself
    "#);
    assert_eq!(file(&env, "home/.config/Code/User/mcp.json"), text);
    let removed = outcome(&env, "mcp install vscode --remove --yes");
    assert_eq!(removed.code, 1, "{removed}");
    assert_eq!(file(&env, "home/.config/Code/User/mcp.json"), text);
}

#[test]
fn a_link_stays_a_link_and_a_file_keeps_its_permissions() {
    let env = environment();
    let real = env.write("home/dotfiles/codex.toml", "model = 'x' # mine\n");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("it is ours");
    fs::create_dir(env.home().join(".codex")).expect("a folder");
    let link = env.home().join(".codex/config.toml");
    symlink("../dotfiles/codex.toml", &link).expect("a link");
    assert_eq!(outcome(&env, "mcp install codex --yes").code, 0);
    assert!(link.is_symlink());
    assert_snapshot!(file(&env, "home/dotfiles/codex.toml"), @r#"
    model = 'x' # mine

    [mcp_servers.metier]
    command = "[METIER]"
    args = ["mcp"]
    "#);
    let mode = |path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(real.as_path()), 0o640);
    fs::remove_file(&real).expect("it is ours");
    assert_eq!(outcome(&env, "mcp install codex --yes").code, 0);
    assert!(link.is_symlink() && real.is_file(), "a link to nothing leads to the new file");
    assert_eq!(mode(real.as_path()), 0o600, "a new file of a person is theirs alone");
    symlink("circle", env.home().join("circle")).expect("a link");
    fs::create_dir_all(env.home().join(".gemini")).expect("a folder");
    symlink("../circle", env.home().join(".gemini/settings.json")).expect("a link");
    assert_eq!(outcome(&env, "mcp install gemini --yes").code, 1);
}

#[test]
fn a_project_has_a_file_of_its_own_where_the_client_has_one() {
    let env = environment();
    env.write("project/.git/HEAD", "");
    env.write("project/sub/x", "");
    let at = |line: &str| {
        let mut command = env.command(env.binary());
        command.args(line.split(' ')).current_dir(env.project().join("sub"));
        env.finish(command, "")
    };
    assert_eq!(at("mcp install claude-code --scope project --yes").code, 0);
    let file = env.project().join(".mcp.json");
    let mode = fs::metadata(&file).expect("it is at the root").permissions().mode();
    assert_eq!(mode & 0o777, 0o644, "it is for everybody in the project");
    assert_snapshot!(at("mcp install goose --scope project --yes"), @"
    exit 2
    ----- stdout

    ----- stderr
    error: goose has no configuration for a project
    hint: leave out `--scope project`
    ");
}

#[test]
fn a_token_is_named_by_its_variable_or_refused() {
    let env = environment().with_variable("TOKEN", "s3cret");
    let line = "--http http://127.0.0.1:7777/mcp --token-env TOKEN --print";
    for client in CLIENTS {
        let shown = outcome(&env, &format!("mcp install {client} {line}"));
        assert!(!shown.to_string().contains("s3cret"), "{shown}");
    }
    assert_snapshot!(outcome(&env, &format!("mcp install codex {line}")), @r#"
    exit 0
    ----- stdout
    [mcp_servers.metier]
    url = "http://127.0.0.1:7777/mcp"
    bearer_token_env_var = "TOKEN"
    ----- stderr
    for Codex, in [HOME]/.codex/config.toml:
    "#);
    assert_snapshot!(outcome(&env, &format!("mcp install zed {line}")), @"
    exit 1
    ----- stdout

    ----- stderr
    error: Zed cannot be given a server that wants a token: it puts no variables into headers
    hint: without `--http` it starts the server itself, and needs none
    ");
    for wrong in [
        "--http http://127.0.0.1:7777/mcp",
        "--http http://user:pass@host/mcp --token-env TOKEN",
        "--http http://host/mcp?token=abc --token-env TOKEN",
        "--http ftp://host --token-env TOKEN",
        "--http http://host/mcp --token-env s3cret-token",
        "--name ../x",
        "--name \"",
    ] {
        assert_eq!(outcome(&env, &format!("mcp install codex --print {wrong}")).code, 2, "{wrong}");
    }
}

#[test]
fn files_of_opencode_are_found_in_both_shapes_and_with_comments() {
    let env = environment();
    let newer = "{\n  // mine\n  \"mcp\": {\n    \"servers\": {\n    },\n  },\n}\n";
    env.write("home/.config/opencode/opencode.jsonc", newer);
    assert_snapshot!(outcome(&env, "mcp install opencode --print"), @r#"
    exit 0
    ----- stdout
    {
      "mcp": {
        "servers": {
          "metier": {
            "type": "local",
            "command": ["[METIER]", "mcp"]
          }
        }
      }
    }
    ----- stderr
    note: `[METIER]` is a build, and works as long as that folder is there
    for opencode, in [HOME]/.config/opencode/opencode.jsonc:
    "#);
    assert_eq!(outcome(&env, "mcp install opencode --yes").code, 0);
    assert_snapshot!(file(&env, "home/.config/opencode/opencode.jsonc"), @r#"
    {
      // mine
      "mcp": {
        "servers": {
          "metier": {
            "type": "local",
            "command": ["[METIER]", "mcp"]
          }
        },
      },
    }
    "#);
    assert!(!env.home().join(".config/opencode/opencode.json").exists());
}

#[test]
fn clients_are_listed_with_what_they_know() {
    let env = environment();
    assert_eq!(outcome(&env, "mcp install goose --yes").code, 0);
    env.write("home/.gemini/settings.json", "{}");
    env.write("project/.cursor/mcp.json", "[");
    assert_snapshot!(outcome(&env, "mcp install --list"), @"
    exit 0
    ----- stdout
    CLIENT          SERVER      SCOPE    FILE
    claude-code     no file     user     [HOME]/.claude.json
    claude-code     no file     project  [PROJECT]/.mcp.json
    claude-desktop  no file     user     [HOME]/.config/Claude/claude_desktop_config.json
    codex           no file     user     [HOME]/.codex/config.toml
    codex           no file     project  [PROJECT]/.codex/config.toml
    cursor          no file     user     [HOME]/.cursor/mcp.json
    cursor          unreadable  project  [PROJECT]/.cursor/mcp.json
    vscode          no file     user     [HOME]/.config/Code/User/mcp.json
    vscode          no file     project  [PROJECT]/.vscode/mcp.json
    windsurf        no file     user     [HOME]/.codeium/windsurf/mcp_config.json
    zed             no file     user     [HOME]/.config/zed/settings.json
    gemini          not there   user     [HOME]/.gemini/settings.json
    gemini          no file     project  [PROJECT]/.gemini/settings.json
    opencode        no file     user     [HOME]/.config/opencode/opencode.json
    opencode        no file     project  [PROJECT]/opencode.json
    goose           installed   user     [HOME]/.config/goose/config.yaml
    ----- stderr
    ");
    let listed = outcome(&env, "mcp install --list --json");
    let rows: serde_json::Value = serde_json::from_str(&listed.stdout).expect("it is JSON");
    assert_eq!(rows.as_array().map(Vec::len), Some(16));
    assert_snapshot!(rows[15], @r#"{"client":"goose","server":"installed","scope":"user","file":"[HOME]/.config/goose/config.yaml"}"#);
    assert_eq!(outcome(&env, "mcp install").code, 2);
    assert_eq!(outcome(&env, "mcp install emacs").code, 2);
}
