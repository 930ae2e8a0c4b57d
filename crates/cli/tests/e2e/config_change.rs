//! `config set`, `unset`, `edit` and `path`: changes of the person's own file.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use metier_testkit::TestEnv;

use crate::{compact, environment, run};

const FILE: &str = "home/.metier/config.toml";

fn text(env: &TestEnv) -> String {
    fs::read_to_string(env.root().join(FILE)).unwrap_or_default()
}

fn mode(env: &TestEnv) -> u32 {
    fs::metadata(env.root().join(FILE)).expect("a file").permissions().mode() & 0o777
}

#[test]
fn a_setting_is_set_and_removed_and_comments_stay() {
    let env = environment();
    env.write(FILE, "# mine\n[exec] # runs\ntimeout = 30 # short\n");
    assert_snapshot!(run(&env, "config set exec.timeout 60"), @"
    exit 0
    ----- stdout

    ----- stderr
    set exec.timeout in [HOME]/.metier/config.toml
    ");
    assert_snapshot!(run(&env, "config set skills.denied git-*,pdf"), @"
    exit 0
    ----- stdout

    ----- stderr
    set skills.denied in [HOME]/.metier/config.toml
    ");
    assert_snapshot!(text(&env), @r#"
    # mine
    [exec] # runs
    timeout = 60 # short

    [skills]
    denied = ["git-*", "pdf"]
    "#);
    assert_snapshot!(compact(&run(&env, "config unset skills.denied")), @"0 |  | removed skills.denied from [HOME]/.metier/config.toml");
    assert_snapshot!(compact(&run(&env, "config unset skills.denied")), @"0 |  | skills.denied is not set in [HOME]/.metier/config.toml");
    assert_snapshot!(run(&env, "config show"), @"
    exit 0
    ----- stdout
    # state: [HOME]/.metier
    exec.timeout = 60  # [HOME]/.metier/config.toml:3
    ----- stderr
    ");
}

#[test]
fn the_path_is_printed_alone() {
    assert_snapshot!(run(&environment(), "config path"), @"
    exit 0
    ----- stdout
    [HOME]/.metier/config.toml
    ----- stderr
    ");
}

#[test]
fn what_would_not_load_is_not_written() {
    let env = environment();
    env.write(FILE, "[exec]\ntimout = 30\n");
    assert_snapshot!(run(&env, "config set exec.memory_mb 60"), @"
    exit 2
    ----- stdout

    ----- stderr
    error: [HOME]/.metier/config.toml:2: there is no setting `exec.timout`
    hint: did you mean `exec.timeout`?
    ");
    assert_snapshot!(compact(&run(&env, "config set exec.timout 60")), @"2 |  | error: there is no setting `exec.timout` / hint: did you mean `exec.timeout`?");
    assert_snapshot!(compact(&run(&env, "config set exec.executor contaner")), @"2 |  | error: `exec.executor` is not `sandbox`, `host` or `container` / hint: did you mean `container`?");
    assert_eq!(text(&env), "[exec]\ntimout = 30\n");
    // That is how the mistake is corrected.
    assert_snapshot!(compact(&run(&env, "config unset exec.timout")), @"0 |  | removed exec.timout from [HOME]/.metier/config.toml");
    assert_eq!(text(&env), "[exec]\n");
}

#[test]
fn a_secret_is_read_from_standard_input_and_kept_for_its_owner_alone() {
    let env = environment();
    env.write(FILE, "");
    let path = env.root().join(FILE);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let mut command = env.command(env.binary());
    command.args(["config", "set", "skills.entries.weather.api_key", "-"]);
    let outcome = env.finish(command, "key-0123456789\n");
    assert_eq!(outcome.code, 0, "{outcome}");
    assert!(!outcome.to_string().contains("key-0123456789"), "{outcome}");
    assert_eq!(text(&env), "[skills.entries.weather]\napi_key = \"key-0123456789\"\n");
    assert_eq!(mode(&env), 0o600);
}

#[test]
fn an_editor_changes_a_copy_that_is_checked() {
    let env = environment();
    let program = env.home().join("editor");
    // People write an editor with its options.
    let env = env.with_variable("EDITOR", &format!("{} --wait", program.display()));
    let edited = |script: &str| {
        env.write("home/editor", format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        compact(&run(&env, "config edit"))
    };
    let good = "test \"$1\" = --wait && printf '[exec]\\ntimeout = 7\\n' > \"$2\"";
    assert_snapshot!(edited(good), @"0 |  | changed [HOME]/.metier/config.toml");
    assert_eq!(text(&env), "[exec]\ntimeout = 7\n");
    assert_snapshot!(edited("true"), @"0 |  | nothing was changed");
    assert_snapshot!(edited("echo 'x = 1' >> \"$2\""), @"2 |  | error: nothing was changed: [HOME]/.metier/config.toml:3: there is no setting `exec.x` / hint: `metier config show --all` lists them");
    assert_snapshot!(edited("exit 3"), @"1 |  | error: the editor `[HOME]/editor --wait` failed; nothing was changed / hint: set EDITOR to an editor that waits until you are done, such as `vi` or `code --wait`");
    assert_eq!(text(&env), "[exec]\ntimeout = 7\n");
}
